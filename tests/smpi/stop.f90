! SPDX-License-Identifier: LGPL-2.1-only
! Ends by STOP after MPI_FINALIZE ("stop"), by CALL EXIT ("exit"), by STOP 3 before ("early"), by ERROR STOP ("error").
program ends
  use mpi
  implicit none
  integer :: error, rank, sums
  character(10) :: how
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  call get_command_argument(1, how)
  call mpi_allreduce(rank, sums, 1, mpi_integer, mpi_sum, mpi_comm_world, error)
  if (rank == 0) print *, 'sum', sums
  if (how == 'early' .and. rank == 1) stop 3
  if (how == 'error' .and. rank == 1) error stop 'no convergence'
  call mpi_barrier(mpi_comm_world, error)
  call mpi_finalize(error)
  if (how == 'exit') call exit(0)
  if (how == 'late') call exit(4)
  stop
end program
