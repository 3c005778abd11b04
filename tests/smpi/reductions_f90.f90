! SPDX-License-Identifier: LGPL-2.1-only
! Integer sums from Fortran 90: in place, from static and allocated arrays, on a subset of the ranks.
program reductions_f90
  use mpi
  implicit none
  integer, parameter :: large = 5000
  integer :: rank, ranks, half, half_rank, half_ranks, error, i, wrong
  integer :: scalar
  integer, save :: static(large) = 0
  integer, allocatable :: send(:), receive(:)
  double precision :: real_sum

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  wrong = 0

  call MPI_Allreduce(rank + 1, scalar, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (scalar /= ranks * (ranks + 1) / 2) wrong = wrong + 1

  allocate(send(large), receive(large))
  do i = 1, large
    send(i) = rank * i
    static(i) = rank + i
  end do
  call MPI_Allreduce(send, receive, large, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Allreduce(MPI_IN_PLACE, static, large, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  do i = 1, large
    if (receive(i) /= i * ranks * (ranks - 1) / 2) wrong = wrong + 1
    if (static(i) /= i * ranks + ranks * (ranks - 1) / 2) wrong = wrong + 1
  end do

  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, error)
  call MPI_Comm_rank(half, half_rank, error)
  call MPI_Comm_size(half, half_ranks, error)
  call MPI_Allreduce(half_rank, scalar, 1, MPI_INTEGER, MPI_SUM, half, error)
  if (scalar /= half_ranks * (half_ranks - 1) / 2) wrong = wrong + 1
  call MPI_Comm_free(half, error)

  call MPI_Allreduce(dble(rank) / 4, real_sum, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  if (real_sum /= dble(ranks * (ranks - 1) / 2) / 4) wrong = wrong + 1

  print '(a, i0, a, i0, a, i0, a)', 'rank ', rank, ' of ', ranks, ': ', wrong, ' wrong'
  call MPI_Finalize(error)
  if (wrong /= 0) stop 1
end program reductions_f90
