! SPDX-License-Identifier: LGPL-2.1-only
! Prints the name of the machine as gfortran's HOSTNM returns it, and MPI's; whether process numbers differ.
program simulated_machine
  use mpi
  implicit none
  integer :: ierror, rank, length, status
  integer :: numbers(2)
  character(MPI_MAX_PROCESSOR_NAME) :: processor
  character(64) :: name

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Get_processor_name(processor, length, ierror)
  status = hostnm(name)
  call MPI_Allgather(getpid(), 1, MPI_INTEGER, numbers, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  write (*, '(a, i0, 5a, i0, a, l1)') 'rank ', rank, ': ', trim(name), ' ', processor(:length), ' ', status, ' ', &
      numbers(1) /= numbers(2)
  call MPI_Finalize(ierror)
end program simulated_machine
