! SPDX-License-Identifier: LGPL-2.1-only
! Fortran's numeric requests: two ranks exchange messages, and complete them by each of MPI's functions
! (except MPI_TESTANY, which in SMPI does not reset the number, like MPI_REQUEST_FREE).
program requests
  use mpi
  implicit none
  integer, parameter :: ways = 6, many = 8
  integer :: rank, error, way, i, number, at(many), have, ended
  integer :: all(2 * many), sent(many), got(many), statuses(MPI_STATUS_SIZE, 2 * many)
  logical :: flag
  call MPI_INIT(error)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
  do way = 1, ways
    do i = 1, many
      sent(i) = 100 * way + i
      got(i) = 0
      if (way == ways) then
        call MPI_RECV_INIT(got(i), 1, MPI_INTEGER, 1 - rank, i, MPI_COMM_WORLD, all(i), error)
        call MPI_SEND_INIT(sent(i), 1, MPI_INTEGER, 1 - rank, i, MPI_COMM_WORLD, all(many + i), error)
      else
        call MPI_IRECV(got(i), 1, MPI_INTEGER, 1 - rank, i, MPI_COMM_WORLD, all(i), error)
      end if
    end do
    if (way == ways) then
      call MPI_STARTALL(2 * many, all, error)
    else
      do i = 1, many
        call MPI_ISEND(sent(i), 1, MPI_INTEGER, 1 - rank, i, MPI_COMM_WORLD, all(many + i), error)
      end do
    end if
    ended = 0
    do while (ended < 2 * many)
      select case (way)
      case (1)
        call MPI_WAIT(all(ended + 1), statuses(:, 1), error)
        ended = ended + 1
      case (2)
        call MPI_WAITANY(2 * many, all, number, statuses(:, 1), error)
        ended = ended + 1
      case (3)
        call MPI_TEST(all(ended + 1), flag, statuses(:, 1), error)
        if (flag) ended = ended + 1
      case (4)
        call MPI_WAITSOME(many, all, have, at, statuses, error)
        if (have == MPI_UNDEFINED) then
          call MPI_WAITALL(many, all(many + 1), statuses, error)
          have = many
        end if
        ended = ended + have
      case default
        call MPI_WAITALL(2 * many, all, statuses, error)
        ended = 2 * many
      end select
    end do
    if (way == ways) then
      do i = 1, 2 * many
        call MPI_REQUEST_FREE(all(i), error)
      end do
    end if
    if (way /= ways .and. any(all /= MPI_REQUEST_NULL)) call MPI_ABORT(MPI_COMM_WORLD, way, error)
    if (any(got /= sent)) call MPI_ABORT(MPI_COMM_WORLD, 10 + way, error)
  end do
  if (rank == 0) print '(a)', 'right'
  call MPI_FINALIZE(error)
end program requests
