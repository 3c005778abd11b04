! SPDX-License-Identifier: LGPL-2.1-only
! Each rank uses Fortran's units like a process: a file read by all ranks, a unit with a different file per rank,
! unit 6 redirected by one rank, and a unit without OPEN.
program units
  use mpi
  implicit none
  integer :: error, rank, status, number, found
  character(20) :: name
  logical :: open_already
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  if (rank == 0) then
    open(unit=10, file='shared.in', status='replace', action='write')
    write(10, *) 42
    close(10)
  end if
  call mpi_barrier(mpi_comm_world, error)

  number = -1
  open(newunit=found, file='shared.in', status='old', action='read', iostat=status)
  if (status == 0) read(found, *) number
  call mpi_barrier(mpi_comm_world, error)
  print '(a,i2,a,i4,a,i3)', 'rank', rank, ' status', status, ' read', number
  close(found)

  write(name, '(a,i0)') 'own.', rank
  open(unit=20, file=trim(name))
  call mpi_barrier(mpi_comm_world, error)
  write(20, '(a,i0)') 'line of ', rank
  call mpi_barrier(mpi_comm_world, error)
  inquire(file=trim(name), number=number, opened=open_already)
  rewind(20)
  read(20, '(a)') name
  print '(a,i2,a,i3,l2,2a)', 'rank', rank, ' unit', number, open_already, ' ', trim(name)
  close(20)

  if (rank == 1) open(unit=6, file='redirected')
  print '(a,i0)', 'output of ', rank
  if (rank == 2) write(30, '(a)') 'unnamed'
  call mpi_barrier(mpi_comm_world, error)
  call mpi_finalize(error)
end program
