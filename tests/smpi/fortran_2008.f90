! SPDX-License-Identifier: LGPL-2.1-only
! Procedures of the module mpi_f08, group by group; rank 0 prints how many of a group's checks hold on all ranks.
! Any even number of ranks from 4 on.
module checks
  use mpi_f08
  implicit none
  integer :: rank, ranks, done, right
  integer :: copies = 0, deletions = 0, handled = 0, windows_handled = 0, calls = 0
contains
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    done = done + 1
    if (holds) then
      right = right + 1
    else
      print '(a,i0,2a)', 'rank ', rank, ': wrong: ', what
    end if
  end subroutine

  subroutine finish(group)
    character(len=*), intent(in) :: group
    integer :: sums(2)
    call MPI_Reduce([done, right], sums, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
    if (rank == 0) print '(3a,1x,i0)', group, ': ', merge('right', 'wrong', sums(1) == sums(2)), sums(1) / ranks
    done = 0
    right = 0
  end subroutine
end module checks

module callbacks
  use checks
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
contains
  ! a op b: the composition of x -> a(1) x + a(2), which does not commute.
  subroutine compose(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:, :), b(:, :)
    integer :: i, bytes
    call MPI_Type_size(datatype, bytes)
    if (bytes /= 8) return
    call c_f_pointer(invec, a, [2, len])
    call c_f_pointer(inoutvec, b, [2, len])
    do i = 1, len
      b(:, i) = [a(1, i) * b(1, i), a(1, i) * b(2, i) + a(2, i)]
    end do
  end subroutine

  subroutine largest(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    real(8), pointer :: a(:), b(:)
    if (datatype /= MPI_REAL8) return
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = max(a, b)
    calls = calls + 1
  end subroutine

  subroutine copy_comm(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    copies = copies + 1
    flag = oldcomm /= MPI_COMM_NULL .and. comm_keyval /= MPI_KEYVAL_INVALID
    attribute_val_out = attribute_val_in + extra_state
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete_comm(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    if (comm_keyval /= MPI_KEYVAL_INVALID .and. extra_state == 5 .and. attribute_val > 0) deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete_type(datatype, type_keyval, attribute_val, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer :: type_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    if (attribute_val == 2_MPI_ADDRESS_KIND**40 .and. extra_state == 7) deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine handle_comm(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code, class
    call MPI_Error_class(error_code, class)
    if (comm == MPI_COMM_WORLD .and. class == MPI_ERR_RANK) handled = handled + 1
  end subroutine

  subroutine handle_win(win, error_code)
    type(MPI_Win) :: win
    integer :: error_code
    if (win /= MPI_WIN_NULL .and. error_code == MPI_ERR_OTHER) windows_handled = windows_handled + 1
  end subroutine

  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    status%MPI_SOURCE = int(extra_state)
    status%MPI_TAG = 17
    call MPI_Status_set_elements(status, MPI_INTEGER, 3)
    call MPI_Status_set_cancelled(status, .false.)
    calls = calls + 10
    ierror = MPI_SUCCESS
  end subroutine

  subroutine release(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    if (extra_state == 99) calls = calls + 1
    extra_state = extra_state + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine withdraw(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    if (extra_state == 99 .and. .not. complete) calls = calls + 100
    ierror = MPI_SUCCESS
  end subroutine
end module callbacks

program fortran_2008
  use callbacks
  implicit none
  integer :: provided, error
  logical :: flag
  call MPI_Initialized(flag)
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  done = 0
  right = 0
  call check(.not. flag .and. error == MPI_SUCCESS .and. provided >= MPI_THREAD_SINGLE, 'MPI_Init_thread')
  call environment
  call point_to_point
  call sections
  call collectives
  call non_blocking_collectives
  call communicators
  call datatypes
  call operations
  call attributes
  call windows
  call topologies
  call neighbours
  call matched_probes
  call persistent_requests
  call infos
  call error_handlers
  call generalized_requests
  call MPI_Finalize(error)
  call MPI_Finalized(flag)
  if (rank == 0) print '(a,2l2)', 'ended:', error == MPI_SUCCESS, flag
contains

  subroutine environment
    integer :: version, subversion, length
    character(len=MPI_MAX_PROCESSOR_NAME) :: name
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library
    character(len=MPI_MAX_ERROR_STRING) :: text
    double precision :: start
    call MPI_Get_version(version, subversion)
    call check(version == MPI_VERSION .and. subversion == MPI_SUBVERSION, 'MPI_Get_version')
    call MPI_Get_processor_name(name, length)
    call check(length == len_trim(name) .and. length > 0, 'MPI_Get_processor_name')
    call MPI_Get_library_version(library, length)
    call check(length >= len_trim(library), 'MPI_Get_library_version')
    call MPI_Error_string(MPI_ERR_TRUNCATE, text, length)
    call check(index(text, 'MPI_ERR_TRUNCATE') > 0 .and. text(length + 1:) == ' ', 'MPI_Error_string')
    call MPI_Is_thread_main(flag)
    start = MPI_Wtime()
    call check(flag .and. start <= MPI_Wtime() .and. MPI_Wtick() > 0, 'MPI_Wtime')
    call check(MPI_SUBARRAYS_SUPPORTED .and. MPI_ASYNC_PROTECTS_NONBLOCKING, 'constants')
    call MPI_Pcontrol(1)
    call finish('environment')
  end subroutine

  subroutine point_to_point
    integer :: next, previous, i, count, place, places(3)
    integer :: mine(4), theirs(4), many(3)
    type(MPI_Status) :: status, statuses(3)
    type(MPI_Request) :: request, requests(3)
    type(MPI_Comm) :: world
    integer :: plain(MPI_STATUS_SIZE)
    integer, asynchronous :: kept(4)
    character(len=8) :: word
    complex(8) :: wave
    next = mod(rank + 1, ranks)
    previous = mod(rank + ranks - 1, ranks)
    mine = [(10 * rank + i, i = 1, 4)]
    world = MPI_COMM_WORLD
    if (mod(rank, 2) == 0) then
      call MPI_Send(mine, 4, MPI_INTEGER, next, 1, world)
      call MPI_Recv(theirs, 4, MPI_INTEGER, previous, 1, world, status)
    else
      call MPI_Recv(theirs, 4, MPI_INTEGER, previous, MPI_ANY_TAG, world, status)
      call MPI_Ssend(mine, 4, MPI_INTEGER, next, 1, world, error)
    end if
    call MPI_Get_count(status, MPI_INTEGER, count)
    call check(all(theirs == [(10 * previous + i, i = 1, 4)]) .and. status%MPI_SOURCE == previous .and. &
      status%MPI_TAG == 1 .and. count == 4, 'MPI_Send')
    call MPI_Get_count(status, MPI_REAL8, count)
    call check(count == 2, 'MPI_Get_count')
    call MPI_Status_f082f(status, plain)
    call check(plain(MPI_SOURCE) == previous .and. plain(MPI_TAG) == 1, 'MPI_Status_f082f')
    plain(MPI_TAG) = 5
    call MPI_Status_f2f08(plain, status)
    call check(status%MPI_TAG == 5, 'MPI_Status_f2f08')
    call MPI_Sendrecv(mine(2), 2, MPI_INTEGER, next, 2, theirs, 2, MPI_INTEGER, previous, 2, world, MPI_STATUS_IGNORE)
    call check(all(theirs(1:2) == [(10 * previous + i, i = 2, 3)]), 'MPI_Sendrecv')
    theirs = mine
    call MPI_Sendrecv_replace(theirs, 4, MPI_INTEGER, next, 3, previous, 3, world, status)
    call check(all(theirs == [(10 * previous + i, i = 1, 4)]), 'MPI_Sendrecv_replace')
    word = 'rank ' // achar(iachar('0') + mod(rank, 10))
    call MPI_Sendrecv_replace(word, 8, MPI_CHARACTER, next, 3, previous, 3, world, status)
    call check(word == 'rank ' // achar(iachar('0') + mod(previous, 10)), 'characters')
    wave = cmplx(rank, -rank, 8)
    call MPI_Sendrecv_replace(wave, 1, MPI_DOUBLE_COMPLEX, next, 3, previous, 3, world, status)
    call check(wave == cmplx(previous, -previous, 8), 'complex numbers')
    call MPI_Irecv(kept, 4, MPI_INTEGER, previous, 4, world, request)
    call MPI_Isend(mine, 4, MPI_INTEGER, next, 4, world, requests(1))
    call MPI_Wait(request, status)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(kept)
    call check(all(kept == [(10 * previous + i, i = 1, 4)]) .and. request == MPI_REQUEST_NULL, 'MPI_Isend')
    do i = 1, 3
      call MPI_Irecv(many(i), 1, MPI_INTEGER, previous, 10 + i, world, requests(i))
    end do
    do i = 3, 1, -1
      call MPI_Send(100 * rank + i, 1, MPI_INTEGER, next, 10 + i, world)
    end do
    call MPI_Waitany(3, requests, place, status)
    call check(place >= 1 .and. place <= 3 .and. status%MPI_TAG == 10 + place .and. &
      requests(max(1, place)) == MPI_REQUEST_NULL, 'MPI_Waitany')
    call MPI_Waitsome(3, requests, count, places, statuses)
    call check(count >= 1 .and. all(places(1:count) >= 1), 'MPI_Waitsome')
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)
    call check(all(many == [(100 * previous + i, i = 1, 3)]), 'MPI_Waitall')
    call MPI_Waitany(3, requests, place, status)
    call check(place == MPI_UNDEFINED, 'MPI_Waitany without requests')
    call MPI_Testall(3, requests, flag, statuses)
    call check(flag, 'MPI_Testall')
    call MPI_Test(request, flag, status)
    call check(flag, 'MPI_Test')
    call MPI_Send_init(mine, 4, MPI_INTEGER, next, 6, world, requests(1))
    call MPI_Recv_init(theirs, 4, MPI_INTEGER, previous, 6, world, requests(2))
    do i = 1, 2
      theirs = 0
      call MPI_Startall(2, requests)
      call MPI_Waitall(2, requests, statuses)
    end do
    call check(theirs(4) == 10 * previous + 4 .and. statuses(2)%MPI_SOURCE == previous, 'MPI_Send_init')
    call check(requests(1) /= MPI_REQUEST_NULL, 'persistent requests')
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
    call check(requests(1) == MPI_REQUEST_NULL .and. requests(2) == MPI_REQUEST_NULL, 'MPI_Request_free')
    call MPI_Isend(mine, 4, MPI_INTEGER, next, 7, world, request)
    call MPI_Probe(previous, 7, world, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call MPI_Iprobe(previous, 7, world, flag, MPI_STATUS_IGNORE)
    call MPI_Recv(theirs, 4, MPI_INTEGER, previous, 7, world, MPI_STATUS_IGNORE)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(count == 4 .and. flag, 'MPI_Probe')
    call MPI_Recv(theirs, 4, MPI_INTEGER, MPI_PROC_NULL, 7, world, status)
    call check(status%MPI_SOURCE == MPI_PROC_NULL, 'MPI_PROC_NULL')
    call finish('point to point')
  end subroutine

  ! Array sections, whose memory has gaps.
  subroutine sections
    type :: point
      integer :: number
      real(8) :: x
    end type
    integer :: next, previous, i
    integer :: a(6, 4), b(6, 4), c(12)
    real(8) :: xs(5)
    type(point) :: points(5)
    type(MPI_Request) :: requests(2)
    next = mod(rank + 1, ranks)
    previous = mod(rank + ranks - 1, ranks)
    a = reshape([(1000 * rank + i, i = 1, 24)], [6, 4])
    b = -1
    call MPI_Sendrecv(a(1:6:2, :), 12, MPI_INTEGER, next, 1, b(2:6:2, :), 12, MPI_INTEGER, previous, 1, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(b(2:6:2, :) == a(1:6:2, :) + 1000 * (previous - rank)) .and. all(b(1:6:2, :) == -1), 'MPI_Sendrecv')
    b = -1
    call MPI_Irecv(b(3, :), 4, MPI_INTEGER, previous, 2, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(a(2, 4:1:-1), 4, MPI_INTEGER, next, 2, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(all(b(3, :) == a(2, 4:1:-1) + 1000 * (previous - rank)) .and. count(b == -1) == 20, 'MPI_Isend of a row')
    b = -1
    call MPI_Irecv(b(2:5:3, 1:4:2), 4, MPI_INTEGER, previous, 3, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(a(1:2, 2:3), 4, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(all(b(2:5:3, 1:4:2) == a(1:2, 2:3) + 1000 * (previous - rank)) .and. count(b == -1) == 20, &
      'MPI_Isend of a block')
    points = [(point(i, rank + i / 8d0), i = 1, 5)]
    call MPI_Irecv(xs(5:1:-1), 5, MPI_REAL8, previous, 4, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(points%x, 5, MPI_REAL8, next, 4, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(all(xs == [(previous + i / 8d0, i = 5, 1, -1)]), 'MPI_Isend of a component')
    call MPI_Allreduce(a(1, :), b(1, :), 4, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call check(all(b(1, :) == a(1, :) + 1000 * (ranks - 1 - rank)), 'MPI_Allreduce of a row')
    b = rank
    call MPI_Ibcast(b(4, :), 4, MPI_INTEGER, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call check(all(b(4, :) == 1) .and. all(b(3, :) == rank), 'MPI_Ibcast of a row')
    c = 0
    call assumed_size(c, previous, next)
    call check(all(c(2:8:2) == previous) .and. c(1) == 0, 'assumed size')
    call finish('sections')
  end subroutine

  subroutine assumed_size(array, previous, next)
    integer, intent(inout) :: array(*)
    integer, intent(in) :: previous, next
    call MPI_Sendrecv([rank, rank, rank, rank], 4, MPI_INTEGER, next, 1, array(2:8:2), 4, MPI_INTEGER, previous, 1, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv_replace(array, 1, MPI_INTEGER, rank, 1, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end subroutine

  subroutine collectives
    integer :: i, one, some(4), all_of(ranks), counts(ranks), places(ranks), from(ranks), to(ranks)
    integer :: triangle(ranks * (ranks + 1) / 2)
    type(MPI_Datatype) :: types(ranks)
    call MPI_Barrier(MPI_COMM_WORLD)
    some = merge([1, 2, 3, 4], [0, 0, 0, 0], rank == 2)
    call MPI_Bcast(some, 4, MPI_INTEGER, 2, MPI_COMM_WORLD)
    call check(all(some == [1, 2, 3, 4]), 'MPI_Bcast')
    all_of = -1
    call MPI_Gather(rank * rank, 1, MPI_INTEGER, all_of, 1, MPI_INTEGER, 1, MPI_COMM_WORLD)
    call check(all(all_of == merge([(i * i, i = 0, ranks - 1)], -1, rank == 1)), 'MPI_Gather')
    if (rank == 1) then
      call MPI_Scatter(all_of, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, 1, MPI_COMM_WORLD)
      one = 1
    else
      call MPI_Scatter(all_of, 1, MPI_INTEGER, one, 1, MPI_INTEGER, 1, MPI_COMM_WORLD)
    end if
    call check(one == rank * rank, 'MPI_Scatter')
    all_of(rank + 1) = rank + 7
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_of, 1, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(all_of == [(i + 7, i = 0, ranks - 1)]), 'MPI_Allgather')
    counts = [(i, i = 1, ranks)]
    places = [(i * (i - 1) / 2, i = 1, ranks)]
    all_of = rank
    call MPI_Allgatherv(all_of, rank + 1, MPI_INTEGER, triangle, counts, places, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all([(triangle(i * (i + 1) / 2) == i - 1, i = 1, ranks)]), 'MPI_Allgatherv')
    triangle = merge(triangle, -1, rank == 0)
    call MPI_Scatterv(triangle, counts, places, MPI_INTEGER, from, rank + 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call check(all(from(1:rank + 1) == rank), 'MPI_Scatterv')
    call MPI_Gatherv(from, rank + 1, MPI_INTEGER, triangle, counts, places, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call check(rank /= 0 .or. triangle(size(triangle)) == ranks - 1, 'MPI_Gatherv')
    from = [(100 * rank + i, i = 0, ranks - 1)]
    call MPI_Alltoall(from, 1, MPI_INTEGER, to, 1, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(to == [(100 * i + rank, i = 0, ranks - 1)]), 'MPI_Alltoall')
    counts = 1
    places = [(i, i = 0, ranks - 1)]
    to = -1
    call MPI_Alltoallv(from, counts, places, MPI_INTEGER, to, counts, places, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(to == [(100 * i + rank, i = 0, ranks - 1)]), 'MPI_Alltoallv')
    types = MPI_INTEGER
    to = -1
    call MPI_Alltoallw(from, counts, 4 * places, types, to, counts, 4 * places, types, MPI_COMM_WORLD)
    call check(all(to == [(100 * i + rank, i = 0, ranks - 1)]), 'MPI_Alltoallw')
    call MPI_Reduce(rank, one, 1, MPI_INTEGER, MPI_SUM, 3, MPI_COMM_WORLD)
    call check(rank /= 3 .or. one == ranks * (ranks - 1) / 2, 'MPI_Reduce')
    one = rank
    call MPI_Allreduce(MPI_IN_PLACE, one, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call check(one == ranks - 1, 'MPI_Allreduce')
    call MPI_Reduce_scatter_block(from, one, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(one == ranks * rank + 100 * (ranks * (ranks - 1) / 2), 'MPI_Reduce_scatter_block')
    call MPI_Reduce_scatter(from, one, counts, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD)
    call check(one == rank, 'MPI_Reduce_scatter')
    call MPI_Scan(1, one, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(one == rank + 1, 'MPI_Scan')
    one = 0
    call MPI_Exscan(2, one, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(one == 2 * rank, 'MPI_Exscan')
    one = 3
    call MPI_Reduce_local(4, one, 1, MPI_INTEGER, MPI_PROD)
    call check(one == 12, 'MPI_Reduce_local')
    call finish('collectives')
  end subroutine

  subroutine non_blocking_collectives
    integer :: i
    integer, asynchronous :: a(4), b(4), all_of(ranks), from(ranks), to(ranks), counts(ranks), places(ranks), one
    integer, asynchronous :: table(2, 2 * ranks)
    type(MPI_Request) :: requests(4)
    a = rank
    b = merge(9, 0, rank == 0)
    counts = 1
    places = [(ranks - i, i = 1, ranks)]
    from = [(100 * rank + i, i = 0, ranks - 1)]
    call MPI_Iallreduce(MPI_IN_PLACE, a, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1))
    call MPI_Ibcast(b, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(2))
    call MPI_Iallgatherv(rank, 1, MPI_INTEGER, all_of, counts, places, MPI_INTEGER, MPI_COMM_WORLD, requests(3))
    call MPI_Ialltoall(from, 1, MPI_INTEGER, to, 1, MPI_INTEGER, MPI_COMM_WORLD, requests(4))
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    call check(all(a == ranks * (ranks - 1) / 2), 'MPI_Iallreduce')
    call check(all(b == 9), 'MPI_Ibcast')
    call check(all(all_of == [(i, i = ranks - 1, 0, -1)]), 'MPI_Iallgatherv')
    call check(all(to == [(100 * i + rank, i = 0, ranks - 1)]), 'MPI_Ialltoall')
    table = -1
    call MPI_Iallgather([rank, -rank], 2, MPI_INTEGER, table(2, :), 2, MPI_INTEGER, MPI_COMM_WORLD, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call check(all(table(2, :) == [(i / 2 * merge(1, -1, modulo(i, 2) == 0), i = 0, 2 * ranks - 1)]) .and. &
               all(table(1, :) == -1), 'MPI_Iallgather into a section')
    call MPI_Ireduce(a, b, 4, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, requests(1))
    call MPI_Iscan(2, one, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(2))
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(3))
    call MPI_Igather(rank, 1, MPI_INTEGER, all_of, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(4))
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    call check(rank /= 0 .or. all(b == ranks * a), 'MPI_Ireduce')
    call check(one == 2 * (rank + 1), 'MPI_Iscan')
    call check(rank /= 0 .or. all(all_of == [(i, i = 0, ranks - 1)]), 'MPI_Igather')
    call MPI_Iscatter(all_of, 1, MPI_INTEGER, one, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(1))
    call MPI_Ireduce_scatter_block(from, a, 1, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(one == rank .and. a(1) == rank, 'MPI_Iscatter')
    call finish('non-blocking collectives')
  end subroutine

  subroutine communicators
    type(MPI_Comm) :: half, copy, other, none
    type(MPI_Group) :: world, odd, even, both, common
    integer :: i, result, mine, its, there(ranks / 2), ranges(3, 1), length
    character(len=MPI_MAX_OBJECT_NAME) :: name
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half)
    call MPI_Comm_rank(half, mine)
    call MPI_Comm_size(half, its)
    call check(its == ranks / 2 .and. mine == (ranks - 1 - rank) / 2, 'MPI_Comm_split')
    call MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, none)
    call check(none == MPI_COMM_NULL .and. .not. none /= MPI_COMM_NULL, 'MPI_COMM_NULL')
    call MPI_Comm_dup(half, copy)
    call MPI_Comm_compare(half, copy, result)
    call check(result == MPI_CONGRUENT .and. copy /= half, 'MPI_Comm_dup')
    call MPI_Comm_set_name(copy, 'half of the world  ')
    call MPI_Comm_get_name(copy, name, length)
    call check(name == 'half of the world' .and. length == 17, 'MPI_Comm_set_name')
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, other)
    call MPI_Comm_size(other, its)
    call check(its >= 1, 'MPI_Comm_split_type')
    call MPI_Comm_free(other)
    call MPI_Comm_test_inter(half, flag)
    call check(.not. flag .and. other == MPI_COMM_NULL, 'MPI_Comm_free')
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, ranks - 1 - mod(rank, 2), 9, other)
    call MPI_Comm_test_inter(other, flag)
    call MPI_Comm_remote_size(other, its)
    call MPI_Comm_remote_group(other, common)
    call MPI_Group_size(common, length)
    call check(flag .and. its == ranks / 2 .and. length == its, 'MPI_Intercomm_create')
    call MPI_Group_free(common)
    call MPI_Intercomm_merge(other, mod(rank, 2) == 1, none)
    call MPI_Comm_rank(none, mine)
    call MPI_Comm_size(none, its)
    call check(its == ranks .and. mine / (ranks / 2) == mod(rank, 2), 'MPI_Intercomm_merge')
    call MPI_Comm_free(none)
    call MPI_Comm_free(other)
    call MPI_Comm_group(MPI_COMM_WORLD, world)
    ranges(:, 1) = [1, ranks - 1, 2]
    call MPI_Group_range_incl(world, 1, ranges, odd)
    call MPI_Group_excl(world, ranks / 2, [(2 * i - 1, i = 1, ranks / 2)], even)
    call MPI_Group_union(even, odd, both)
    call MPI_Group_compare(both, world, result)
    call check(result == MPI_SIMILAR, 'MPI_Group_union')
    call MPI_Group_intersection(even, odd, common)
    call MPI_Group_size(common, its)
    call check(its == 0, 'MPI_Group_intersection')
    call MPI_Group_rank(odd, mine)
    call check(mine == merge(rank / 2, MPI_UNDEFINED, mod(rank, 2) == 1), 'MPI_Group_rank')
    call MPI_Group_translate_ranks(odd, ranks / 2, [(i, i = 0, ranks / 2 - 1)], world, there)
    call check(all(there == [(2 * i + 1, i = 0, ranks / 2 - 1)]), 'MPI_Group_translate_ranks')
    call MPI_Comm_create(MPI_COMM_WORLD, odd, other)
    call check((other == MPI_COMM_NULL) .eqv. mod(rank, 2) == 0, 'MPI_Comm_create')
    if (other /= MPI_COMM_NULL) call MPI_Comm_free(other)
    call MPI_Group_free(odd)
    call MPI_Group_free(even)
    call check(odd == MPI_GROUP_NULL, 'MPI_Group_free')
    call MPI_Allreduce(1, its, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF)
    call check(its == 1, 'MPI_COMM_SELF')
    call check(MPI_Comm(half%MPI_VAL) == half, 'MPI_VAL')
    call MPI_Comm_free(copy)
    call MPI_Comm_free(half)
    call finish('communicators')
  end subroutine

  subroutine datatypes
    type :: particle
      integer :: kind
      real(8) :: place(2)
    end type
    type(particle) :: one, array(3)
    type(MPI_Datatype) :: type, column, parts(2), resized, real, both(2), no_parts(1)
    integer(MPI_ADDRESS_KIND) :: base, places(2), lower, extent
    integer :: bytes, position, i, integers, addresses, types, combiner, length, constants(3), bits, sub(8)
    integer(MPI_ADDRESS_KIND) :: no_addresses(1)
    character(len=100) :: packed
    character(len=MPI_MAX_OBJECT_NAME) :: name
    integer :: matrix(4, 3)
    integer(8) :: big
    call MPI_Get_address(one, base)
    call MPI_Get_address(one%kind, places(1))
    call MPI_Get_address(one%place, places(2))
    places = [(MPI_Aint_diff(places(i), base), i = 1, 2)]
    call MPI_Type_create_struct(2, [1, 2], places, [MPI_INTEGER, MPI_REAL8], type)
    call MPI_Type_create_resized(type, 0_MPI_ADDRESS_KIND, int(storage_size(one) / 8, MPI_ADDRESS_KIND), resized)
    call MPI_Type_commit(resized)
    call MPI_Type_size(resized, bytes)
    call MPI_Type_get_extent(resized, lower, extent)
    call check(bytes == 20 .and. lower == 0 .and. extent == 24, 'MPI_Type_create_struct')
    array = [(particle(merge(i, 0, rank == 0), merge([1d0, 2d0], [0d0, 0d0], rank == 0) * i), i = 1, 3)]
    call MPI_Bcast(array, 3, resized, 0, MPI_COMM_WORLD)
    call check(all(array%kind == [1, 2, 3]) .and. all(array%place(2) == [2, 4, 6]), 'MPI_Bcast of structures')
    call MPI_Type_vector(3, 1, 4, MPI_INTEGER, column)
    call MPI_Type_commit(column)
    matrix = 0
    if (rank == 1) matrix(2, :) = [7, 8, 9]
    call MPI_Bcast(matrix(2, 1), 1, column, 1, MPI_COMM_WORLD)
    call check(all(matrix(2, :) == [7, 8, 9]) .and. sum(matrix) == 24, 'MPI_Type_vector')
    call MPI_Type_get_envelope(column, integers, addresses, types, combiner)
    call check(combiner == MPI_COMBINER_VECTOR .and. integers == 3 .and. addresses == 0 .and. types == 1, &
      'MPI_Type_get_envelope')
    call MPI_Type_get_contents(column, 3, 0, 1, constants, no_addresses, parts)
    call check(all(constants == [3, 1, 4]) .and. parts(1) == MPI_INTEGER, 'MPI_Type_get_contents')
    call MPI_Type_set_name(column, 'column')
    call MPI_Type_get_name(column, name, length)
    call check(name == 'column' .and. length == 6, 'MPI_Type_set_name')
    call MPI_Type_free(column)
    call check(column == MPI_DATATYPE_NULL, 'MPI_Type_free')
    call MPI_Type_create_subarray(2, [4, 3], [2, 2], [1, 1], MPI_ORDER_FORTRAN, MPI_INTEGER, column)
    call MPI_Type_size(column, bytes)
    call check(bytes == 16, 'MPI_Type_create_subarray')
    call MPI_Type_free(column)
    call MPI_Type_indexed(2, [1, 2], [3, 0], MPI_INTEGER, column)
    call MPI_Type_size_x(column, big)
    call check(big == 12, 'MPI_Type_indexed')
    position = 0
    call MPI_Pack([1, 2, 3], 3, MPI_INTEGER, packed, 100, position, MPI_COMM_WORLD)
    call MPI_Pack(2.5d0, 1, MPI_REAL8, packed, 100, position, MPI_COMM_WORLD)
    call MPI_Pack_size(3, MPI_INTEGER, MPI_COMM_WORLD, bytes)
    call check(position == 20 .and. bytes >= 12, 'MPI_Pack')
    position = 12
    call MPI_Unpack(packed, 100, position, one%place, 1, MPI_REAL8, MPI_COMM_WORLD)
    call check(one%place(1) == 2.5d0, 'MPI_Unpack')
    call MPI_Sizeof(one%place, bytes)
    call MPI_Sizeof(position, bits)
    call check(bytes == 8 .and. bits == 4, 'MPI_Sizeof')
    call MPI_Type_size(MPI_UNSIGNED_LONG, bytes)
    call MPI_Type_size(MPI_SHORT, bits)
    call check(bytes == 8 .and. bits == 2 .and. MPI_SHORT /= MPI_UNSIGNED_LONG, 'datatypes of C')
    call MPI_Type_contiguous(3, MPI_SHORT, type)
    call MPI_Type_get_name(type, name, length)
    call check(name == '' .and. length == 0, 'a datatype without a name')
    call MPI_Type_get_contents(type, 1, 0, 1, constants, no_addresses, parts)
    call check(parts(1) == MPI_SHORT, 'contents of C')
    call MPI_Type_create_subarray(2, [4, 3], [2, 2], [1, 0], MPI_ORDER_FORTRAN, MPI_INTEGER, column)
    call MPI_Type_get_contents(column, 8, 0, 2, sub, no_addresses, both)
    call check(all(sub == [2, 4, 3, 2, 2, 1, 0, MPI_ORDER_FORTRAN]) .and. both(1) == MPI_INTEGER, 'a subarray')
    call MPI_Type_create_f90_real(12, 100, real)
    call MPI_Type_get_envelope(real, integers, addresses, types, combiner)
    call MPI_Type_get_contents(real, 2, 0, 0, constants, no_addresses, no_parts)
    call check(combiner == MPI_COMBINER_F90_REAL .and. integers == 2 .and. all(constants(:2) == [12, 100]), &
      'MPI_COMBINER_F90_REAL')
    call finish('datatypes')
  end subroutine

  subroutine operations
    type(MPI_Op) :: op, maximum
    type(MPI_Datatype) :: pair
    integer :: f(2), g(2), expected(2), i, least(2), found(2)
    real(8) :: x(3), y(3)
    type(MPI_Request) :: request
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    call MPI_Op_create(compose, .false., op)
    call MPI_Op_commutative(op, flag)
    call check(.not. flag, 'MPI_Op_commutative')
    f = [1 + mod(rank, 2), rank]
    call MPI_Allreduce(f, g, 1, pair, op, MPI_COMM_WORLD)
    expected = [1, 0]
    do i = ranks - 1, 0, -1
      expected = [(1 + mod(i, 2)) * expected(1), (1 + mod(i, 2)) * expected(2) + i]
    end do
    call check(all(g == expected), 'an operation of the user')
    call MPI_Op_create(largest, .true., maximum)
    x = [rank, -rank, 1]
    call MPI_Iallreduce(x, y, 3, MPI_REAL8, maximum, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(y == [ranks - 1, 0, 1]), 'MPI_Iallreduce with an operation of the user')
    call MPI_Op_free(op)
    call MPI_Op_free(maximum)
    call check(op == MPI_OP_NULL, 'MPI_Op_free')
    least = [mod(rank + 2, ranks), rank]
    call MPI_Allreduce(least, found, 1, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD)
    call check(all(found == [0, ranks - 2]), 'MPI_MINLOC')
    call finish('operations')
  end subroutine

  subroutine attributes
    integer :: key, type_key, other
    integer(MPI_ADDRESS_KIND) :: value
    type(MPI_Comm) :: copy, plain
    type(MPI_Datatype) :: type, second
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
    call check(flag .and. value >= 32767, 'MPI_TAG_UB')
    call MPI_Comm_create_keyval(copy_comm, delete_comm, key, 5_MPI_ADDRESS_KIND)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag)
    call check(.not. flag, 'MPI_Comm_get_attr')
    call MPI_Comm_dup(MPI_COMM_WORLD, plain)
    call MPI_Comm_set_attr(plain, key, 2_MPI_ADDRESS_KIND**33)
    call MPI_Comm_dup(plain, copy)
    call MPI_Comm_get_attr(copy, key, value, flag)
    call check(flag .and. value == 2_MPI_ADDRESS_KIND**33 + 5 .and. copies == 1, 'a copied attribute')
    call MPI_Comm_delete_attr(plain, key)
    call MPI_Comm_free(copy)
    call check(deletions == 2, 'deleted attributes')
    call MPI_Comm_free_keyval(key)
    call check(key == MPI_KEYVAL_INVALID, 'MPI_Comm_free_keyval')
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, other, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(plain, key, -3_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(plain, other, -4_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(plain, copy)
    call MPI_Comm_get_attr(copy, key, value, flag)
    call check(flag .and. value == -3, 'MPI_COMM_DUP_FN')
    call MPI_Comm_get_attr(copy, other, value, flag)
    call check(.not. flag, 'MPI_COMM_NULL_COPY_FN')
    call MPI_Comm_free(copy)
    call MPI_Comm_free(plain)
    deletions = 0
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, delete_type, type_key, 7_MPI_ADDRESS_KIND)
    call MPI_Type_contiguous(2, MPI_REAL, type)
    call MPI_Type_set_attr(type, type_key, 2_MPI_ADDRESS_KIND**40)
    call MPI_Type_dup(type, second)
    call MPI_Type_get_attr(second, type_key, value, flag)
    call check(flag .and. value == 2_MPI_ADDRESS_KIND**40, 'MPI_Type_get_attr')
    call MPI_Type_free(type)
    call MPI_Type_free(second)
    call check(deletions == 2, 'deleted attributes of datatypes')
    call finish('attributes')
  end subroutine

  subroutine windows
    type(MPI_Win) :: win
    type(c_ptr) :: memory
    type(MPI_Group) :: world, neighbours, others
    integer, asynchronous :: exposed(8), got(8), one, old
    integer, pointer :: allocated(:)
    integer(MPI_ADDRESS_KIND) :: bytes
    integer :: next, previous, i
    type(MPI_Request) :: request
    next = mod(rank + 1, ranks)
    previous = mod(rank + ranks - 1, ranks)
    exposed = rank
    bytes = 32
    call MPI_Win_create(exposed, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, bytes, flag)
    call check(flag .and. bytes == 32, 'MPI_Win_get_attr')
    call MPI_Win_fence(0, win)
    call MPI_Put([rank, rank + 1], 2, MPI_INTEGER, next, 2_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(all(exposed(3:4) == [previous, previous + 1]) .and. exposed(1) == rank, 'MPI_Put')
    call MPI_Get(got, 4, MPI_INTEGER, next, 0_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(all(got(1:4) == [next, next, rank, rank + 1]), 'MPI_Get')
    got = -1
    call MPI_Get(got(1:8:2), 4, MPI_INTEGER, next, 0_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(all(got(1:8:2) == [next, next, rank, rank + 1]) .and. all(got(2:8:2) == -1), 'MPI_Get into a section')
    call MPI_Accumulate(rank, 1, MPI_INTEGER, 0, 7_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, win)
    call MPI_Win_fence(0, win)
    call check(rank /= 0 .or. exposed(8) == ranks * (ranks - 1) / 2, 'MPI_Accumulate')
    call MPI_Comm_group(MPI_COMM_WORLD, world)
    call MPI_Group_incl(world, 1, [previous], neighbours)
    call MPI_Group_incl(world, 1, [next], others)
    call MPI_Win_post(neighbours, 0, win)
    call MPI_Win_start(others, 0, win)
    call MPI_Put(10 * rank, 1, MPI_INTEGER, next, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
    call MPI_Win_complete(win)
    call MPI_Win_wait(win)
    call check(exposed(1) == 10 * previous, 'MPI_Win_post')
    call MPI_Win_free(win)
    call check(win == MPI_WIN_NULL, 'MPI_Win_free')
    bytes = 16
    call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, memory, win)
    call c_f_pointer(memory, allocated, [4])
    allocated = 0
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win)
    one = 1
    call MPI_Fetch_and_op(one, old, MPI_INTEGER, 0, 1_MPI_ADDRESS_KIND, MPI_SUM, win)
    call MPI_Win_unlock(0, win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call check(old >= 0 .and. old < ranks, 'MPI_Fetch_and_op')
    call MPI_Win_lock_all(0, win)
    call MPI_Rput(rank + 50, 1, MPI_INTEGER, next, 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Win_flush_all(win)
    call MPI_Win_unlock_all(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call check(allocated(3) == previous + 50 .and. (rank /= 0 .or. allocated(2) == ranks), 'MPI_Rput')
    call MPI_Win_free(win)
    call MPI_Alloc_mem(64_MPI_ADDRESS_KIND, MPI_INFO_NULL, memory)
    call c_f_pointer(memory, allocated, [16])
    allocated = [(i, i = 1, 16)]
    call check(sum(allocated) == 136, 'MPI_Alloc_mem')
    call MPI_Free_mem(allocated)
    call finish('windows')
  end subroutine

  subroutine topologies
    type(MPI_Comm) :: grid, row
    integer :: dims(2), coords(2), back(2), below, above, its, dimensions
    logical :: periods(2)
    dims = 0
    call MPI_Dims_create(ranks, 2, dims)
    call check(product(dims) == ranks, 'MPI_Dims_create')
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., grid)
    call MPI_Cart_coords(grid, rank, 2, coords)
    call MPI_Cart_rank(grid, coords, its)
    call check(its == rank, 'MPI_Cart_rank')
    call MPI_Cart_get(grid, 2, back, periods, coords)
    call check(all(back == dims) .and. periods(1) .and. .not. periods(2), 'MPI_Cart_get')
    call MPI_Cartdim_get(grid, dimensions)
    call MPI_Cart_shift(grid, 1, 1, below, above)
    call check(dimensions == 2 .and. (coords(2) > 0 .or. below == MPI_PROC_NULL), 'MPI_Cart_shift')
    call MPI_Cart_sub(grid, [.false., .true.], row)
    call MPI_Comm_size(row, its)
    call check(its == dims(2), 'MPI_Cart_sub')
    call finish('topologies')
  end subroutine

  ! Functions that weft adds to SMPI, on a ring in which each rank has a left and a right neighbour.
  subroutine neighbours
    type(MPI_Comm) :: ring, graph, copy
    type(MPI_Request) :: request
    integer :: left, right_side, kind, in, out, i, sent(2), got(2), counts(2), places(2)
    integer :: peers(2), weights(2), sources(2), source_weights(2)
    integer(MPI_ADDRESS_KIND) :: bytes(2)
    type(MPI_Datatype) :: types(2)
    integer :: wide(2, 4)
    logical :: weighted
    left = modulo(rank - 1, ranks)
    right_side = modulo(rank + 1, ranks)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring)
    call MPI_Topo_test(ring, kind)
    call check(kind == MPI_CART, 'MPI_Topo_test')
    sent = [10 * rank, 10 * rank + 1]
    call MPI_Neighbor_alltoall(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring)
    call check(all(got == [10 * left + 1, 10 * right_side]), 'MPI_Neighbor_alltoall')
    call MPI_Ineighbor_allgather(sent(2:), 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(got == [10 * left + 1, 10 * right_side + 1]), 'MPI_Ineighbor_allgather')
    wide = -1
    wide(1, :) = [(100 * rank + i, i = 1, 4)]
    call MPI_Ineighbor_allgather(wide(1, 2:3), 2, MPI_INTEGER, wide(2, :), 2, MPI_INTEGER, ring, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(wide(2, :) == [100 * left + 2, 100 * left + 3, 100 * right_side + 2, 100 * right_side + 3]), &
               'MPI_Ineighbor_allgather of sections')
    counts = 1
    places = [1, 0]
    call MPI_Neighbor_alltoallv(sent, counts, places, MPI_INTEGER, got, counts, places, MPI_INTEGER, ring)
    call check(all(got == [10 * right_side + 1, 10 * left]), 'MPI_Neighbor_alltoallv')
    bytes = [4, 0]
    types = MPI_INTEGER
    call MPI_Ineighbor_alltoallw(sent, counts, bytes, types, got, counts, bytes, types, ring, request)
    types = MPI_DATATYPE_NULL
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(got == [10 * right_side + 1, 10 * left]), 'MPI_Ineighbor_alltoallw')
    peers = [left, right_side]
    weights = [3, 4]
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, peers, weights, 2, peers, weights, MPI_INFO_NULL, &
                                        .false., graph)
    call MPI_Dist_graph_neighbors_count(graph, in, out, weighted)
    call check(in == 2 .and. out == 2 .and. weighted, 'MPI_Dist_graph_neighbors_count')
    call MPI_Dist_graph_neighbors(graph, 2, sources, source_weights, 2, peers, weights)
    call check(all(sources == [left, right_side]) .and. all(source_weights == [3, 4]), 'MPI_Dist_graph_neighbors')
    call MPI_Comm_free(graph)
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], [right_side], MPI_UNWEIGHTED, MPI_INFO_NULL, &
                               .false., graph)
    call MPI_Dist_graph_neighbors_count(graph, in, out, weighted)
    call check(in == 1 .and. out == 1 .and. .not. weighted, 'MPI_Dist_graph_create')
    call MPI_Comm_free(graph)
    call MPI_Graph_create(MPI_COMM_WORLD, ranks, [(2 * i, i = 1, ranks)], &
                          [(modulo(i / 2 + merge(-1, 1, modulo(i, 2) == 0), ranks), i = 0, 2 * ranks - 1)], .false., graph)
    call MPI_Graph_neighbors_count(graph, rank, in)
    call MPI_Graph_neighbors(graph, rank, 2, peers)
    call check(in == 2 .and. all(peers == [left, right_side]), 'MPI_Graph_neighbors')
    call MPI_Graphdims_get(graph, in, out)
    call check(in == ranks .and. out == 2 * ranks, 'MPI_Graphdims_get')
    call MPI_Comm_idup(graph, copy, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Topo_test(copy, kind)
    call check(kind == MPI_GRAPH, 'MPI_Comm_idup')
    call MPI_Comm_free(copy)
    call MPI_Comm_free(graph)
    call MPI_Comm_free(ring)
    call finish('neighbours')
  end subroutine

  subroutine matched_probes
    type(MPI_Message) :: first, second
    type(MPI_Status) :: status
    type(MPI_Request) :: sends(2), request
    integer :: left, sent(3), got(3)
    left = modulo(rank - 1, ranks)
    sent = rank + [1, 2, 3]
    call MPI_Isend(sent, 1, MPI_INTEGER, modulo(rank + 1, ranks), 5, MPI_COMM_WORLD, sends(1))
    call MPI_Isend(sent, 3, MPI_INTEGER, modulo(rank + 1, ranks), 5, MPI_COMM_WORLD, sends(2))
    call MPI_Mprobe(left, 5, MPI_COMM_WORLD, first, status)
    flag = .false.
    do while (.not. flag)
      call MPI_Improbe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, flag, second, status)
    end do
    call check(first /= MPI_MESSAGE_NULL .and. first /= second .and. status%MPI_SOURCE == left, 'MPI_Improbe')
    got = 0
    call MPI_Mrecv(got, 3, MPI_INTEGER, second, status)
    call check(all(got == left + [1, 2, 3]) .and. second == MPI_MESSAGE_NULL, 'MPI_Mrecv')
    got = 0
    call MPI_Imrecv(got, 3, MPI_INTEGER, first, request)
    call MPI_Wait(request, status)
    call check(got(1) == left + 1 .and. got(2) == 0 .and. first == MPI_MESSAGE_NULL, 'MPI_Imrecv')
    call MPI_Waitall(2, sends, MPI_STATUSES_IGNORE)
    call MPI_Mprobe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, first, status)
    call check(first == MPI_MESSAGE_NO_PROC .and. status%MPI_SOURCE == MPI_PROC_NULL, 'MPI_Mprobe of MPI_PROC_NULL')
    call MPI_Mrecv(got, 3, MPI_INTEGER, first, status)
    call check(first == MPI_MESSAGE_NULL, 'MPI_Mrecv of MPI_MESSAGE_NO_PROC')
    call finish('matched probes')
  end subroutine

  subroutine persistent_requests
    type(MPI_Request) :: sum, parts(2), all_to_all
    type(MPI_Datatype) :: pair
    type(MPI_Datatype), allocatable :: types(:)
    integer, allocatable :: counts(:), bytes(:), sent(:), got(:)
    integer :: round, total, i, from(4), to(4)
    allocate (counts(ranks), bytes(ranks), types(ranks), sent(2 * ranks), got(2 * ranks))
    call MPI_Allreduce_init(round, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, sum)
    call MPI_Psend_init(from, 2, 2_MPI_COUNT_KIND, MPI_INTEGER, modulo(rank + 1, ranks), 8, MPI_COMM_WORLD, &
                        MPI_INFO_NULL, parts(1))
    call MPI_Precv_init(to, 4, 1_MPI_COUNT_KIND, MPI_INTEGER, modulo(rank - 1, ranks), 8, MPI_COMM_WORLD, &
                        MPI_INFO_NULL, parts(2))
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    counts = 1
    bytes = [(8 * i, i = 0, ranks - 1)]
    types = pair
    call MPI_Alltoallw_init(sent, counts, bytes, types, got, counts, bytes, types, MPI_COMM_WORLD, MPI_INFO_NULL, all_to_all)
    call MPI_Type_free(pair)
    types = MPI_DATATYPE_NULL
    do round = 1, 2
      call MPI_Start(sum)
      call MPI_Wait(sum, MPI_STATUS_IGNORE)
      call check(total == round * ranks .and. sum /= MPI_REQUEST_NULL, 'MPI_Allreduce_init')
      sent = [(1000 * round + 10 * rank + i / 2, i = 0, 2 * ranks - 1)]
      call MPI_Start(all_to_all)
      call MPI_Wait(all_to_all, MPI_STATUS_IGNORE)
      call check(all(got == [(1000 * round + 10 * (i / 2) + rank, i = 0, 2 * ranks - 1)]), 'MPI_Alltoallw_init')
      from = round + 10 * rank + [1, 2, 3, 4]
      call MPI_Startall(2, parts)
      call MPI_Pready_list(1, [1], parts(1))
      flag = .false.
      do while (.not. flag)
        call MPI_Parrived(parts(2), 2, flag)
      end do
      call check(to(3) == round + 10 * modulo(rank - 1, ranks) + 3, 'MPI_Parrived')
      call MPI_Pready(0, parts(1))
      call MPI_Waitall(2, parts, MPI_STATUSES_IGNORE)
      call check(all(to == round + 10 * modulo(rank - 1, ranks) + [1, 2, 3, 4]), 'MPI_Pready')
    end do
    call MPI_Request_free(sum)
    call MPI_Request_free(all_to_all)
    call MPI_Request_free(parts(1))
    call MPI_Request_free(parts(2))
    call finish('persistent requests')
  end subroutine

  subroutine infos
    type(MPI_Info) :: info, copy
    integer :: keys, length
    character(len=20) :: value
    character(len=MPI_MAX_INFO_KEY) :: key
    call MPI_Info_create(info)
    call MPI_Info_set(info, ' colour ', ' deep blue ')
    call MPI_Info_get(info, 'colour', 19, value, flag)
    call check(flag .and. value == 'deep blue', 'MPI_Info_get')
    value = 'unchanged'
    call MPI_Info_get(info, 'size', 19, value, flag)
    call check(.not. flag .and. value == 'unchanged', 'MPI_Info_get of an unknown key')
    call MPI_Info_get_valuelen(info, 'colour', length, flag)
    call check(flag .and. length == 9, 'MPI_Info_get_valuelen')
    call MPI_Info_dup(info, copy)
    call MPI_Info_get_nkeys(copy, keys)
    call MPI_Info_get_nthkey(copy, 0, key)
    call check(keys == 1 .and. key == 'colour', 'MPI_Info_get_nthkey')
    call MPI_Info_delete(copy, 'colour')
    call MPI_Info_get_nkeys(copy, keys)
    call MPI_Info_free(copy)
    call check(keys == 0 .and. copy == MPI_INFO_NULL, 'MPI_Info_free')
    call finish('infos')
  end subroutine

  subroutine error_handlers
    type(MPI_Errhandler) :: mine, window, before, now
    type(MPI_Win) :: win
    integer :: class
    integer, asynchronous :: memory(2)
    call MPI_Comm_get_errhandler(MPI_COMM_WORLD, before)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Send(1, 1, MPI_INTEGER, ranks + 3, 0, MPI_COMM_WORLD, error)
    call MPI_Error_class(error, class)
    call check(class == MPI_ERR_RANK, 'MPI_ERRORS_RETURN')
    call MPI_Comm_create_errhandler(handle_comm, mine)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine)
    call MPI_Send(1, 1, MPI_INTEGER, ranks + 3, 0, MPI_COMM_WORLD)
    call check(handled == 1, 'MPI_Comm_create_errhandler')
    call MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_RANK)
    call check(handled == 2, 'MPI_Comm_call_errhandler')
    call MPI_Comm_get_errhandler(MPI_COMM_WORLD, now)
    call check(now == mine, 'MPI_Comm_get_errhandler')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, before)
    call MPI_Errhandler_free(mine)
    call check(mine == MPI_ERRHANDLER_NULL, 'MPI_Errhandler_free')
    call MPI_Win_create(memory, 8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_create_errhandler(handle_win, window)
    call MPI_Win_set_errhandler(win, window)
    call MPI_Win_call_errhandler(win, MPI_ERR_OTHER)
    call check(windows_handled == 1, 'MPI_Win_create_errhandler')
    call MPI_Win_free(win)
    call finish('error handlers')
  end subroutine

  subroutine generalized_requests
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer(MPI_ADDRESS_KIND), asynchronous :: state
    calls = 0
    state = 99
    call MPI_Grequest_start(query, release, withdraw, state, request)
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status)
    call check(request == MPI_REQUEST_NULL .and. calls == 11 .and. state == 100, 'MPI_Grequest_start')
    call finish('generalized requests')
  end subroutine
end program fortran_2008
