! SPDX-License-Identifier: LGPL-2.1-only
! Fortran's random numbers; see own_state.c. Compiled with -cpp; -DALONE.
program own_state
#ifndef ALONE
  use mpi
#endif
  implicit none
  integer :: rank, ierror, seeds, i
  integer, allocatable :: seed(:), taken(:)
  real(8) :: first, second, many(3), later(2)
  real :: narrow, old
  character(8) :: text

#ifdef ALONE
  call get_command_argument(1, text)
  read (text, *) rank
#else
  call mpi_init(ierror)
  call mpi_comm_rank(mpi_comm_world, rank, ierror)
#endif
  call random_seed(size=seeds)
  allocate (seed(seeds), taken(seeds))
  seed = [(17*i + rank/2, i=1, seeds)]
  call random_seed(put=seed)
  call sync()
  call random_number(first)
  call sync()
  call random_number(many)
  call sync()
  call random_seed(get=taken)
  call random_number(second)
  call sync()
  call random_seed(put=taken)
  call random_number(narrow)
  call sync()
  call random_number(later)
  print '(a,i0,a,9(1x,es23.16))', 'rank ', rank, ': random_number', first, many, second, later, real(narrow, 8)
  call random_init(.true., .false.)
  call sync()
  call random_number(first)
  print '(a,i0,a,es23.16)', 'rank ', rank, ': random_init ', first
  call sync()
  old = rand()
  call sync()
  print '(a,i0,a,es15.8,1x,i0)', 'rank ', rank, ': rand ', old, irand()
  call srand(rank + 5)
  call sync()
  old = rand()
  call sync()
  print '(a,i0,a,es15.8,1x,i0,1x,es15.8)', 'rank ', rank, ': srand ', old, irand(), rand(0)
#ifndef ALONE
  call mpi_finalize(ierror)
#endif
contains
  subroutine sync()
#ifndef ALONE
    call mpi_barrier(mpi_comm_world, ierror)
#endif
  end subroutine sync
end program own_state
