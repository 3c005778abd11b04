! SPDX-License-Identifier: LGPL-2.1-only
! One source whose procedures use the module mpi_f08, the module mpi and mpif.h. Each passes the variables that stand
! for constants; prints a line for each interface.
program three_interfaces
  use mpi_f08, only: MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Comm_size, MPI_COMM_WORLD
  implicit none
  integer :: rank, ranks
  logical :: is_right
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  is_right = .true.
  call by_mpi_f08()
  call report('mpi_f08')
  call by_mpi()
  call report('mpi')
  call by_mpif_h()
  call report('mpif.h')
  call MPI_Finalize()
contains
  subroutine expect(holds)
    logical, intent(in) :: holds
    is_right = is_right .and. holds
  end subroutine

  subroutine report(interface)
    character(*), intent(in) :: interface
    if (rank == 0) print '(a)', interface // merge(': right', ': wrong', is_right)
  end subroutine

  subroutine by_mpi_f08()
    use mpi_f08
    integer(MPI_OFFSET_KIND) :: unmoved
    integer :: total, right(1), left(1), inwards, outwards
    logical :: is_weighted
    type(MPI_Comm) :: ring
    total = 1
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    right = mod(rank + 1, total)
    left = mod(rank + total - 1, total)
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, right(1), 7, inwards, 1, MPI_INTEGER, left(1), 7, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE)
    call expect(total == ranks .and. inwards == left(1))
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, left, MPI_UNWEIGHTED, 1, right, MPI_UNWEIGHTED, &
      MPI_INFO_NULL, .false., ring)
    call MPI_Dist_graph_neighbors_count(ring, inwards, outwards, is_weighted)
    call expect(inwards == 1 .and. outwards == 1 .and. .not. is_weighted)
    call MPI_Comm_free(ring)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, left, MPI_WEIGHTS_EMPTY, 0, right, MPI_WEIGHTS_EMPTY, &
      MPI_INFO_NULL, .false., ring)
    call MPI_Dist_graph_neighbors_count(ring, inwards, outwards, is_weighted)
    call expect(inwards == 0 .and. outwards == 0 .and. is_weighted)
    call MPI_Comm_free(ring)
    unmoved = MPI_DISPLACEMENT_CURRENT
    call expect(kind(MPI_DISPLACEMENT_CURRENT) == kind(unmoved) .and. unmoved < 0)
  end subroutine

  subroutine by_mpi()
    use mpi
    integer(MPI_OFFSET_KIND) :: unmoved
    integer :: total, right(1), left(1), inwards, outwards, code
    logical :: is_weighted
    integer :: ring
    total = 1
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    right = mod(rank + 1, total)
    left = mod(rank + total - 1, total)
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, right(1), 7, inwards, 1, MPI_INTEGER, left(1), 7, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE, code)
    call expect(total == ranks .and. inwards == left(1))
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, left, MPI_UNWEIGHTED, 1, right, MPI_UNWEIGHTED, &
      MPI_INFO_NULL, .false., ring, code)
    call MPI_Dist_graph_neighbors_count(ring, inwards, outwards, is_weighted, code)
    call expect(inwards == 1 .and. outwards == 1 .and. .not. is_weighted)
    call MPI_Comm_free(ring, code)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, left, MPI_WEIGHTS_EMPTY, 0, right, MPI_WEIGHTS_EMPTY, &
      MPI_INFO_NULL, .false., ring, code)
    call MPI_Dist_graph_neighbors_count(ring, inwards, outwards, is_weighted, code)
    call expect(inwards == 0 .and. outwards == 0 .and. is_weighted)
    call MPI_Comm_free(ring, code)
    unmoved = MPI_DISPLACEMENT_CURRENT
    call expect(kind(MPI_DISPLACEMENT_CURRENT) == kind(unmoved) .and. unmoved < 0)
  end subroutine

  subroutine by_mpif_h()
    implicit none
    include 'mpif.h'
    integer(MPI_OFFSET_KIND) :: unmoved
    integer :: total, right(1), left(1), inwards, outwards, code
    logical :: is_weighted
    integer :: ring
    total = 1
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    right = mod(rank + 1, total)
    left = mod(rank + total - 1, total)
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, right(1), 7, inwards, 1, MPI_INTEGER, left(1), 7, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE, code)
    call expect(total == ranks .and. inwards == left(1))
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, left, MPI_UNWEIGHTED, 1, right, MPI_UNWEIGHTED, &
      MPI_INFO_NULL, .false., ring, code)
    call MPI_Dist_graph_neighbors_count(ring, inwards, outwards, is_weighted, code)
    call expect(inwards == 1 .and. outwards == 1 .and. .not. is_weighted)
    call MPI_Comm_free(ring, code)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, left, MPI_WEIGHTS_EMPTY, 0, right, MPI_WEIGHTS_EMPTY, &
      MPI_INFO_NULL, .false., ring, code)
    call MPI_Dist_graph_neighbors_count(ring, inwards, outwards, is_weighted, code)
    call expect(inwards == 0 .and. outwards == 0 .and. is_weighted)
    call MPI_Comm_free(ring, code)
    unmoved = MPI_DISPLACEMENT_CURRENT
    call expect(kind(MPI_DISPLACEMENT_CURRENT) == kind(unmoved) .and. unmoved < 0)
  end subroutine
end program
