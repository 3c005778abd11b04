! SPDX-License-Identifier: LGPL-2.1-only
! Procedures of mpi_f08 with counts of the kind MPI_COUNT_KIND, which share their names with those of default integers:
! displacements of collectives and units of windows are of the kind MPI_ADDRESS_KIND. Prints a line for each group of
! calls: `right` and their number, or what is wrong. Two to eight ranks.
module large_operation
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
contains
  subroutine keep_greater(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    if (datatype /= MPI_INTEGER) return
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    inout = max(in, inout)
  end subroutine
end module

program large_counts_2008
  use large_operation
  implicit none
  integer, parameter :: K = MPI_COUNT_KIND, A = MPI_ADDRESS_KIND, MOST = 8
  integer :: rank, ranks, right, i, j, next, before, small
  logical :: good, flag
  type(MPI_Comm) :: world
  type(MPI_Status) :: status
  type(MPI_Request) :: request, requests(2)
  integer(K) :: n, size
  call MPI_Init()
  world = MPI_COMM_WORLD
  call MPI_Comm_rank(world, rank)
  call MPI_Comm_size(world, ranks)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  right = 0
  good = .true.
  call messages
  call statuses
  call collectives
  call vectors
  call non_blocking
  call persistent
  call neighbours
  call datatypes
  call packing
  call buffers
  call operations
  call windows
  call sections
  call profiled
  call MPI_Finalize()
contains
  subroutine check(is_right, what)
    logical, intent(in) :: is_right
    character(len=*), intent(in) :: what
    if (is_right) then
      right = right + 1
    else
      good = .false.
      print '(a,i0,2a)', 'rank ', rank, ': wrong: ', what
    end if
  end subroutine

  subroutine finish(group)
    character(len=*), intent(in) :: group
    if (rank == 0 .and. good) print '(2a,i0)', group, ': right ', right
    right = 0
  end subroutine

  ! Data that a rank sends in most tests: element i is 1000 times the rank, plus i.
  function data_of(whose, length) result(values)
    integer, intent(in) :: whose, length
    integer :: values(length), at
    values = [(1000 * whose + at, at = 1, length)]
  end function

  subroutine messages
    integer, asynchronous :: out(5), in(5)
    type(MPI_Message) :: message
    n = 5
    out = data_of(rank, 5)
    call MPI_Sendrecv(out, n, MPI_INTEGER, next, 1, in, n, MPI_INTEGER, before, 1, world, status)
    call check(all(in == data_of(before, 5)), 'MPI_Sendrecv')
    call MPI_Irecv(in, n, MPI_INTEGER, before, 2, world, requests(1))
    call MPI_Isend(out, n, MPI_INTEGER, next, 2, world, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(all(in == data_of(before, 5)), 'MPI_Isend, MPI_Irecv')
    in = out
    call MPI_Sendrecv_replace(in, n, MPI_INTEGER, next, 3, before, 3, world, status)
    call check(all(in == data_of(before, 5)), 'MPI_Sendrecv_replace')
    call MPI_Isendrecv(out, n, MPI_INTEGER, next, 4, in, n, MPI_INTEGER, before, 4, world, request)
    call MPI_Wait(request, status)
    call check(all(in == data_of(before, 5)), 'MPI_Isendrecv')
    if (rank == 0) then
      call MPI_Send(out, n, MPI_INTEGER, next, 5, world)
      call MPI_Ssend(out, n, MPI_INTEGER, next, 6, world)
      call MPI_Recv(in, n, MPI_INTEGER, before, 5, world, status)
      call check(all(in == data_of(before, 5)), 'MPI_Recv')
      call MPI_Mprobe(before, 6, world, message, status)
      call MPI_Mrecv(in, n, MPI_INTEGER, message, status)
    else
      call MPI_Recv(in, n, MPI_INTEGER, before, 5, world, status)
      call check(all(in == data_of(before, 5)), 'MPI_Recv')
      call MPI_Mprobe(before, 6, world, message, status)
      call MPI_Imrecv(in, n, MPI_INTEGER, message, request)
      call MPI_Wait(request, status)
      call MPI_Send(out, n, MPI_INTEGER, next, 5, world)
      call MPI_Ssend(out, n, MPI_INTEGER, next, 6, world)
    end if
    call check(all(in == data_of(before, 5)), 'MPI_Ssend, MPI_Mrecv')
    ! The kinds in one call are those of its own counts: the receiver's are small.
    call MPI_Issend(out, n, MPI_INTEGER, next, 7, world, request)
    call MPI_Recv(in, 5, MPI_INTEGER, before, 7, world, status)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(in == data_of(before, 5)), 'MPI_Issend')
    call finish('messages')
  end subroutine

  subroutine statuses
    integer, asynchronous :: out(6), in(6)
    type(MPI_Datatype) :: pair
    out = data_of(rank, 6)
    call MPI_Type_contiguous(2_K, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    call MPI_Isend(out, 4_K, MPI_INTEGER, next, 1, world, request)
    call MPI_Recv(in, 3_K, pair, before, 1, world, status)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Get_count(status, pair, n)
    call MPI_Get_count(status, pair, small)
    call check(n == 2 .and. small == 2, 'MPI_Get_count')
    call MPI_Get_elements(status, pair, n)
    call MPI_Get_elements(status, pair, small)
    call check(n == 4 .and. small == 4, 'MPI_Get_elements')
    call MPI_Status_set_elements(status, MPI_INTEGER, 5_K)
    call MPI_Get_elements(status, MPI_INTEGER, n)
    call check(n == 5, 'MPI_Status_set_elements')
    call MPI_Type_free(pair)
    call finish('statuses')
  end subroutine

  subroutine collectives
    integer :: own(2), all_data(2 * MOST), sums(2)
    n = 2
    own = data_of(0, 2)
    if (rank /= 0) own = 0
    call MPI_Bcast(own, n, MPI_INTEGER, 0, world)
    call check(all(own == data_of(0, 2)), 'MPI_Bcast')
    own = data_of(rank, 2)
    all_data = 0
    call MPI_Gather(own, n, MPI_INTEGER, all_data, n, MPI_INTEGER, 0, world)
    call check(rank /= 0 .or. is_of_all(all_data), 'MPI_Gather')
    if (rank == 0) own = 0
    call MPI_Scatter(all_data, n, MPI_INTEGER, own, n, MPI_INTEGER, 0, world)
    call check(all(own == data_of(rank, 2)), 'MPI_Scatter')
    call MPI_Allgather(own, n, MPI_INTEGER, all_data, n, MPI_INTEGER, world)
    call check(is_of_all(all_data), 'MPI_Allgather')
    all_data(:2 * ranks) = [(data_of(rank, 2) + 10 * i, i = 0, ranks - 1)]
    call MPI_Alltoall(MPI_IN_PLACE, n, MPI_INTEGER, all_data, n, MPI_INTEGER, world)
    call check(all(all_data(:2 * ranks) == [(data_of(i, 2) + 10 * rank, i = 0, ranks - 1)]), 'MPI_Alltoall')
    own = [rank, 1]
    call MPI_Allreduce(own, sums, n, MPI_INTEGER, MPI_SUM, world)
    call check(sums(1) == ranks * (ranks - 1) / 2 .and. sums(2) == ranks, 'MPI_Allreduce')
    sums = 0
    call MPI_Reduce(own, sums, n, MPI_INTEGER, MPI_SUM, 1, world)
    call check(rank /= 1 .or. sums(2) == ranks, 'MPI_Reduce')
    call MPI_Scan(own, sums, n, MPI_INTEGER, MPI_SUM, world)
    call check(sums(1) == rank * (rank + 1) / 2 .and. sums(2) == rank + 1, 'MPI_Scan')
    call MPI_Exscan(own, sums, n, MPI_INTEGER, MPI_SUM, world)
    call check(rank == 0 .or. sums(2) == rank, 'MPI_Exscan')
    all_data(:2 * ranks) = [(i, i = 1, 2 * ranks)]
    call MPI_Reduce_scatter_block(all_data, sums, n, MPI_INTEGER, MPI_SUM, world)
    call check(all(sums == ranks * [2 * rank + 1, 2 * rank + 2]), 'MPI_Reduce_scatter_block')
    sums = 1
    call MPI_Reduce_local(own, sums, n, MPI_INTEGER, MPI_SUM)
    call check(all(sums == own + 1), 'MPI_Reduce_local')
    call finish('collectives')
  end subroutine

  logical function is_of_all(values)
    integer, intent(in) :: values(:)
    is_of_all = all(values(:2 * ranks) == [(data_of(i, 2), i = 0, ranks - 1)])
  end function

  ! Rank r has r + 1 elements; one position stays free after each part.
  subroutine vectors
    integer :: own(MOST), all_data(100), values(MOST)
    integer(K) :: counts(MOST), other(MOST)
    integer(A) :: places(MOST), places_in_bytes(MOST), zeros(MOST)
    type(MPI_Datatype) :: types(MOST)
    counts = [(i, i = 1, MOST)]
    places(1) = 0
    do i = 2, MOST
      places(i) = places(i - 1) + counts(i - 1) + 1
    end do
    places_in_bytes = 4 * places
    zeros = 0
    types = MPI_INTEGER
    n = rank + 1
    own = 0
    own(:rank + 1) = data_of(rank, rank + 1)
    all_data = -1
    call MPI_Gatherv(own, n, MPI_INTEGER, all_data, counts, places, MPI_INTEGER, 0, world)
    if (rank == 0) call check(has_parts(all_data, places), 'MPI_Gatherv')
    values = 0
    call MPI_Scatterv(all_data, counts, places, MPI_INTEGER, values, n, MPI_INTEGER, 0, world)
    call check(all(values == own), 'MPI_Scatterv')
    all_data = -1
    call MPI_Allgatherv(own, n, MPI_INTEGER, all_data, counts, places, MPI_INTEGER, world)
    call check(has_parts(all_data, places), 'MPI_Allgatherv')
    other = n
    all_data = -1
    call MPI_Alltoallv(own, other, zeros, MPI_INTEGER, all_data, counts, places, MPI_INTEGER, world)
    call check(has_parts(all_data, places), 'MPI_Alltoallv')
    all_data = -1
    call MPI_Alltoallw(own, other, zeros, types, all_data, counts, places_in_bytes, types, world)
    call check(has_parts(all_data, places), 'MPI_Alltoallw')
    all_data = 1
    call MPI_Reduce_scatter(all_data, values, counts, MPI_INTEGER, MPI_SUM, world)
    call check(all(values(:rank + 1) == ranks), 'MPI_Reduce_scatter')
    all_data = -1
    call MPI_Iallgatherv(own, n, MPI_INTEGER, all_data, counts, places, MPI_INTEGER, world, request)
    counts = 0
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(has_parts(all_data, places), 'MPI_Iallgatherv')
    call finish('vectors')
  end subroutine

  logical function has_parts(values, places)
    integer, intent(in) :: values(:)
    integer(A), intent(in) :: places(:)
    has_parts = .true.
    do j = 0, ranks - 1
      has_parts = has_parts .and. all(values(places(j + 1) + 1:places(j + 1) + j + 1) == data_of(j, j + 1))
      has_parts = has_parts .and. values(places(j + 1) + j + 2) == -1
    end do
  end function

  subroutine non_blocking
    integer, asynchronous :: own(2), all_data(2 * MOST), sums(2)
    n = 2
    own = data_of(rank, 2)
    call MPI_Iallgather(own, n, MPI_INTEGER, all_data, n, MPI_INTEGER, world, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(is_of_all(all_data), 'MPI_Iallgather')
    own = 1
    call MPI_Iallreduce(own, sums, n, MPI_INTEGER, MPI_SUM, world, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(sums == ranks), 'MPI_Iallreduce')
    own = data_of(0, 2)
    call MPI_Ibcast(own, n, MPI_INTEGER, 0, world, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(own == data_of(0, 2)), 'MPI_Ibcast')
    call finish('non-blocking')
  end subroutine

  subroutine persistent
    integer, asynchronous :: out(3), in(3), sums(3)
    n = 3
    call MPI_Send_init(out, n, MPI_INTEGER, next, 1, world, requests(1))
    call MPI_Recv_init(in, n, MPI_INTEGER, before, 1, world, requests(2))
    call MPI_Allreduce_init(out, sums, n, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, request)
    do i = 1, 2
      out = data_of(rank, 3) + i
      call MPI_Startall(2, requests)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call check(all(in == data_of(before, 3) + i), 'MPI_Send_init, MPI_Recv_init')
      out = i
      call MPI_Start(request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call check(all(sums == i * ranks), 'MPI_Allreduce_init')
    end do
    call MPI_Request_free(request)
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
    call finish('persistent')
  end subroutine

  subroutine neighbours
    type(MPI_Comm) :: ring
    integer :: own(4), both(4)
    integer(K) :: counts(2)
    integer(A) :: places(2)
    type(MPI_Datatype) :: types(2)
    call MPI_Cart_create(world, 1, [ranks], [.true.], .false., ring)
    own = data_of(rank, 4)
    call MPI_Neighbor_allgather(own, 2_K, MPI_INTEGER, both, 2_K, MPI_INTEGER, ring)
    call check(all(both == [data_of(before, 2), data_of(next, 2)]), 'MPI_Neighbor_allgather')
    counts = 2
    places = [2_A, 0_A]
    call MPI_Neighbor_allgatherv(own, 2_K, MPI_INTEGER, both, counts, places, MPI_INTEGER, ring)
    call check(all(both == [data_of(next, 2), data_of(before, 2)]), 'MPI_Neighbor_allgatherv')
    types = MPI_INTEGER
    places = [0_A, 8_A]
    call MPI_Neighbor_alltoallw(own, counts, places, types, both, counts, places, types, ring)
    if (ranks > 2) then
      own = data_of(before, 4)
      call check(all(both(1:2) == own(3:4)), 'MPI_Neighbor_alltoallw')
    else
      call check(all(both(1:2) /= own(1:2)), 'MPI_Neighbor_alltoallw')
    end if
    call MPI_Comm_free(ring)
    call finish('neighbours')
  end subroutine

  subroutine datatypes
    type(MPI_Datatype) :: made, inner(2)
    integer(K) :: numbers(4), large(10)
    integer(A) :: lb, extent, addresses(4)
    integer :: combiner, integers(10)
    type(MPI_Datatype) :: types(2)
    call MPI_Type_vector(3_K, 2_K, 4_K, MPI_INTEGER, made)
    call MPI_Type_size(made, size)
    call MPI_Type_get_extent(made, lb, extent)
    call check(size == 24 .and. lb == 0 .and. extent == 40, 'MPI_Type_vector')
    call MPI_Type_free(made)
    call MPI_Type_create_hvector(3_K, 2_K, 20_K, MPI_INTEGER, made)
    call MPI_Type_get_extent(made, lb, extent)
    call check(extent == 48, 'MPI_Type_create_hvector')
    call MPI_Type_free(made)
    call MPI_Type_indexed(2_K, [1_K, 2_K], [0_K, 3_K], MPI_INTEGER, made)
    call MPI_Type_get_extent(made, lb, extent)
    call check(extent == 20, 'MPI_Type_indexed')
    call MPI_Type_free(made)
    call MPI_Type_create_hindexed(2_K, [1_K, 2_K], [0_K, 12_K], MPI_INTEGER, made)
    call MPI_Type_get_extent(made, lb, extent)
    call check(extent == 20, 'MPI_Type_create_hindexed')
    call MPI_Type_free(made)
    call MPI_Type_create_indexed_block(2_K, 2_K, [0_K, 3_K], MPI_INTEGER, made)
    call MPI_Type_get_extent(made, lb, extent)
    call check(extent == 20, 'MPI_Type_create_indexed_block')
    call MPI_Type_free(made)
    inner = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
    call MPI_Type_create_struct(2_K, [2_K, 1_K], [0_K, 8_K], inner, made)
    call MPI_Type_get_extent(made, lb, extent)
    call check(extent == 16, 'MPI_Type_create_struct')
    call MPI_Type_free(made)
    call MPI_Type_create_subarray(2, [4_K, 4_K], [2_K, 2_K], [1_K, 1_K], MPI_ORDER_FORTRAN, MPI_INTEGER, made)
    call MPI_Type_size(made, size)
    call check(size == 16, 'MPI_Type_create_subarray')
    call MPI_Type_free(made)
    ! Six thousand million integers, in the large-count envelope.
    call MPI_Type_contiguous(6000000000_K, MPI_INTEGER, made)
    call MPI_Type_size(made, size)
    call MPI_Type_get_extent(made, lb, extent)
    call check(size == 24000000000_K .and. extent == 24000000000_A, 'MPI_Type_contiguous')
    call MPI_Type_get_envelope(made, numbers(1), numbers(2), numbers(3), numbers(4), combiner)
    call check(combiner == MPI_COMBINER_CONTIGUOUS .and. numbers(4) == 1, 'MPI_Type_get_envelope')
    call MPI_Type_free(made)
    call MPI_Type_contiguous(7_K, MPI_INTEGER, made)
    call MPI_Type_get_envelope(made, numbers(1), numbers(2), numbers(3), numbers(4), combiner)
    call MPI_Type_get_contents(made, numbers(1), numbers(2), numbers(3), numbers(4), integers, addresses, large, types)
    call check(merge(large(1), int(integers(1), K), numbers(3) > 0) == 7 .and. types(1) == MPI_INTEGER, &
      'MPI_Type_get_contents')
    call MPI_Type_free(made)
    call finish('datatypes')
  end subroutine

  subroutine packing
    integer :: values(3), back(3)
    character :: packed(100)
    integer(K) :: position
    values = data_of(rank, 3)
    call MPI_Pack_size(3_K, MPI_INTEGER, world, size)
    position = 0
    call MPI_Pack(values, 3_K, MPI_INTEGER, packed, 100_K, position, world)
    call check(position <= size .and. position == 12, 'MPI_Pack')
    position = 0
    call MPI_Unpack(packed, 100_K, position, back, 3_K, MPI_INTEGER, world)
    call check(all(back == values) .and. position == 12, 'MPI_Unpack')
    call MPI_Pack_external_size('external32', 3_K, MPI_INTEGER, size)
    position = 0
    call MPI_Pack_external('external32', values, 3_K, MPI_INTEGER, packed, 100_K, position)
    call check(position == size .and. size == 12, 'MPI_Pack_external')
    position = 0
    back = 0
    call MPI_Unpack_external('external32', packed, 100_K, position, back, 3_K, MPI_INTEGER)
    call check(all(back == values), 'MPI_Unpack_external')
    call finish('packing')
  end subroutine

  subroutine buffers
    integer, asynchronous :: memory(1000), values(3)
    type(c_ptr) :: found
    call MPI_Buffer_attach(memory, 4000_K)
    values = data_of(rank, 3)
    call MPI_Bsend(values, 3_K, MPI_INTEGER, next, 1, world)
    call MPI_Recv(values, 3_K, MPI_INTEGER, before, 1, world, status)
    call MPI_Buffer_detach(found, size)
    call check(size == 4000 .and. all(values == data_of(before, 3)), 'MPI_Buffer_attach')
    call finish('buffers')
  end subroutine

  subroutine operations
    type(MPI_Op) :: op
    integer :: own(3), greatest(3)
    call MPI_Op_create_c(keep_greater, .true., op)
    own = [rank, -rank, 5]
    call MPI_Allreduce(own, greatest, 3_K, MPI_INTEGER, op, world)
    call check(all(greatest == [ranks - 1, 0, 5]), 'MPI_Op_create_c')
    call MPI_Allreduce(own, greatest, 3, MPI_INTEGER, op, world)
    call check(all(greatest == [ranks - 1, 0, 5]), 'MPI_Op_create_c with small counts')
    call MPI_Op_free(op)
    call finish('operations')
  end subroutine

  subroutine windows
    integer, asynchronous :: memory(4), values(4)
    type(MPI_Win) :: win
    integer(A) :: bytes, unit
    type(c_ptr) :: base
    memory = -1
    values = data_of(rank, 4)
    call MPI_Win_create(memory, 16_A, 4_A, MPI_INFO_NULL, world, win)
    call MPI_Win_fence(0, win)
    call MPI_Put(values, 2_K, MPI_INTEGER, next, 1_A, 2_K, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(all(memory == [-1, data_of(before, 2), -1]), 'MPI_Put')
    call MPI_Accumulate(values, 1_K, MPI_INTEGER, next, 3_A, 1_K, MPI_INTEGER, MPI_SUM, win)
    call MPI_Win_fence(0, win)
    call check(memory(4) == 1000 * before, 'MPI_Accumulate')
    call MPI_Get(values, 4_K, MPI_INTEGER, next, 0_A, 4_K, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(all(values == [-1, data_of(rank, 2), 1000 * rank]), 'MPI_Get')
    call MPI_Win_free(win)
    call MPI_Win_allocate_shared(40_A, 8_A, MPI_INFO_NULL, MPI_COMM_SELF, base, win)
    call MPI_Win_shared_query(win, 0, bytes, unit, base)
    call check(bytes == 40 .and. unit == 8, 'MPI_Win_allocate_shared')
    call MPI_Win_free(win)
    call finish('windows')
  end subroutine

  ! Buffers with gaps.
  subroutine sections
    integer, asynchronous :: out(3, 4), in(12)
    out = reshape(data_of(rank, 12), [3, 4])
    in = 0
    call MPI_Isend(out(2, :), 4_K, MPI_INTEGER, next, 1, world, request)
    call MPI_Recv(in(1:8:2), 4_K, MPI_INTEGER, before, 1, world, status)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(in(1:8:2) == 1000 * before + [2, 5, 8, 11]) .and. all(in(2:8:2) == 0), 'MPI_Recv')
    in = 0
    call MPI_Irecv(in(2:12:3), 4_K, MPI_INTEGER, before, 2, world, request)
    call MPI_Send(out(1, :), 4_K, MPI_INTEGER, next, 2, world)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(in(2:12:3) == 1000 * before + [1, 4, 7, 10]) .and. sum(in) == sum(in(2:12:3)), 'MPI_Irecv')
    call finish('sections')
  end subroutine

  subroutine profiled
    integer :: sums(1)
    call PMPI_Allreduce([1], sums, 1_K, MPI_INTEGER, MPI_SUM, world)
    call check(sums(1) == ranks, 'PMPI_Allreduce')
    call PMPI_Type_size(MPI_INTEGER, size)
    call PMPI_Type_size(MPI_INTEGER, small)
    call check(size == 4 .and. small == 4, 'PMPI_Type_size')
    call finish('profiled')
  end subroutine
end program
