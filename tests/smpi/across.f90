! SPDX-License-Identifier: LGPL-2.1-only
! Intercommunicators of leaders and of a session's groups, and their collectives, by the module mpi. Prints `right` per
! rank; two to twelve ranks.
program across_mpi
  use mpi
  implicit none
  integer :: code, half, across, session, world, low, high
  integer :: rank, ranks, below, side, own, others, first, place, range(3, 1)
  logical :: good = .true.
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  below = (ranks + 1) / 2
  side = merge(0, 1, rank < below)
  own = merge(below, ranks - below, side == 0)
  others = ranks - own
  first = merge(below, 0, side == 0)
  place = merge(rank, rank - below, side == 0)
  call MPI_Comm_split(MPI_COMM_WORLD, side, rank, half, code)
  call MPI_Intercomm_create(half, own - 1, MPI_COMM_WORLD, merge(ranks - 1, below - 1, side == 0), 3, across, code)
  call check(across)
  call MPI_Comm_free(across, code)
  call MPI_Comm_free(half, code)
  ! The same calls on a session's groups.
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session, code)
  call MPI_Group_from_session_pset(session, 'mpi://WORLD', world, code)
  range = reshape((/ 0, below - 1, 1 /), (/ 3, 1 /))
  call MPI_Group_range_incl(world, 1, range, low, code)
  call MPI_Group_range_excl(world, 1, range, high, code)
  if (side == 0) then
    call MPI_Intercomm_create_from_groups(low, 0, high, 0, 'across', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, across, code)
  else
    call MPI_Intercomm_create_from_groups(high, 0, low, 0, 'across', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, across, code)
  end if
  call check(across)
  call MPI_Comm_free(across, code)
  call MPI_Group_free(low, code)
  call MPI_Group_free(high, code)
  call MPI_Group_free(world, code)
  call MPI_Session_finalize(session, code)
  if (good) then
    print '(a)', 'right'
  else
    print '(a)', 'wrong'
  end if
  call MPI_Finalize(code)
contains
  ! All collectives: a rank's data is its number in MPI_COMM_WORLD, or that times ten plus the receiver's index.
  subroutine check(comm)
    integer, intent(in) :: comm
    integer :: request
    integer :: counts(16), places(16), sent(16), got(16), total, root, i
    logical :: inter
    total = sum((/ (first + i, i = 0, others - 1) /))
    counts = 1
    places = (/ (i, i = 0, 15) /)
    sent = (/ (10 * rank + i, i = 0, 15) /)
    call MPI_Comm_test_inter(comm, inter, code)
    good = good .and. inter
    call MPI_Barrier(comm, code)
    ! The root is the last rank of the second group.
    root = merge(others - 1, merge(MPI_ROOT, MPI_PROC_NULL, place == own - 1), side == 0)
    got = -1
    if (root == MPI_ROOT) got(1) = rank
    call MPI_Bcast(got, 1, MPI_INTEGER, root, comm, code)
    if (side == 0) good = good .and. got(1) == ranks - 1
    got = -1
    call MPI_Gather(rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, root, comm, code)
    if (root == MPI_ROOT) good = good .and. all(got(:others) == (/ (i, i = 0, others - 1) /))
    call MPI_Gatherv(rank, 1, MPI_INTEGER, got, counts, places, MPI_INTEGER, root, comm, code)
    if (root == MPI_ROOT) good = good .and. all(got(:others) == (/ (i, i = 0, others - 1) /))
    call MPI_Scatter(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, root, comm, code)
    if (side == 0) good = good .and. got(1) == 10 * (ranks - 1) + place
    call MPI_Scatterv(sent, counts, places, MPI_INTEGER, got, 1, MPI_INTEGER, root, comm, code)
    if (side == 0) good = good .and. got(1) == 10 * (ranks - 1) + place
    call MPI_Allgather(rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, comm, code)
    good = good .and. all(got(:others) == (/ (first + i, i = 0, others - 1) /))
    call MPI_Allgatherv(rank, 1, MPI_INTEGER, got, counts, places, MPI_INTEGER, comm, code)
    good = good .and. all(got(:others) == (/ (first + i, i = 0, others - 1) /))
    call MPI_Alltoall(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, comm, code)
    good = good .and. all(got(:others) == (/ (10 * (first + i) + place, i = 0, others - 1) /))
    call MPI_Alltoallv(sent, counts, places, MPI_INTEGER, got, counts, places, MPI_INTEGER, comm, code)
    good = good .and. all(got(:others) == (/ (10 * (first + i) + place, i = 0, others - 1) /))
    got = -1
    call MPI_Reduce(rank, got, 1, MPI_INTEGER, MPI_SUM, root, comm, code)
    if (root == MPI_ROOT) good = good .and. got(1) == total
    call MPI_Allreduce(rank, got, 1, MPI_INTEGER, MPI_SUM, comm, code)
    good = good .and. got(1) == total
    got = -1
    call MPI_Iallreduce(rank, got, 1, MPI_INTEGER, MPI_SUM, comm, request, code)
    call MPI_Wait(request, MPI_STATUS_IGNORE, code)
    good = good .and. got(1) == total
    call MPI_Allreduce_init(rank, got, 1, MPI_INTEGER, MPI_SUM, comm, MPI_INFO_NULL, request, code)
    do i = 1, 2
      got = -1
      call MPI_Start(request, code)
      call MPI_Wait(request, MPI_STATUS_IGNORE, code)
      good = good .and. got(1) == total
    end do
    call MPI_Request_free(request, code)
    ! The first rank of each group gets the remainder of as many elements as there are ranks.
    counts = 1
    counts(1) = ranks - own + 1
    call MPI_Reduce_scatter(sent, got, counts, MPI_INTEGER, MPI_SUM, comm, code)
    i = merge(0, ranks - own + place, place == 0)
    good = good .and. got(1) == 10 * total + i * others
  end subroutine check
end program across_mpi
