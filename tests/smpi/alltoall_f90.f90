! SPDX-License-Identifier: LGPL-2.1-only
! Alltoall from Fortran 90: between arrays, in place, with columns of a matrix, and non-blocking.
program alltoall_f90
  use mpi
  implicit none
  integer, parameter :: block = 3, columns = 2
  integer :: rank, ranks, error, from, i, wrong, row, request
  integer(kind=MPI_ADDRESS_KIND) :: extent
  integer, allocatable :: send(:, :), receive(:, :), matrix(:, :), rows(:, :)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  allocate(send(block, 0:ranks - 1), receive(block, 0:ranks - 1))
  allocate(matrix(0:ranks - 1, columns), rows(columns, 0:ranks - 1))
  wrong = 0

  do from = 0, ranks - 1
    do i = 1, block
      send(i, from) = value(rank, from, i)
    end do
  end do
  call MPI_Alltoall(send, block, MPI_INTEGER, receive, block, MPI_INTEGER, MPI_COMM_WORLD, error)
  call check()
  receive = -1
  call MPI_Ialltoall(send, block, MPI_INTEGER, receive, block, MPI_INTEGER, MPI_COMM_WORLD, request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call check()
  receive = send
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, receive, block, MPI_INTEGER, MPI_COMM_WORLD, error)
  call check()

  ! Each rank gets a row of the matrix, and stores it as a column.
  do from = 0, ranks - 1
    do i = 1, columns
      matrix(from, i) = value(rank, from, i)
    end do
  end do
  call MPI_Type_vector(columns, 1, ranks, MPI_INTEGER, request, error)
  extent = storage_size(rank) / 8
  call MPI_Type_create_resized(request, 0_MPI_ADDRESS_KIND, extent, row, error)
  call MPI_Type_commit(row, error)
  call MPI_Alltoall(matrix, 1, row, rows, columns, MPI_INTEGER, MPI_COMM_WORLD, error)
  do from = 0, ranks - 1
    do i = 1, columns
      if (rows(i, from) /= value(from, rank, i)) wrong = wrong + 1
    end do
  end do

  print '(a, i0, a, i0, a, i0, a)', 'rank ', rank, ' of ', ranks, ': ', wrong, ' wrong'
  call MPI_Finalize(error)

contains

  integer function value(giver, getter, at)
    integer, intent(in) :: giver, getter, at
    value = 10000 * giver + 100 * getter + at
  end function value

  subroutine check()
    do from = 0, ranks - 1
      do i = 1, block
        if (receive(i, from) /= value(from, rank, i)) wrong = wrong + 1
      end do
    end do
  end subroutine check

end program alltoall_f90
