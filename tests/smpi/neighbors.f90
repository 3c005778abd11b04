! SPDX-License-Identifier: LGPL-2.1-only
! Functions that weft adds to SMPI, by the module mpi: topologies, neighbourhood collectives, persistent
! collectives and matched probes. Prints `right` per rank.
program neighbors
  use mpi
  implicit none
  integer :: code, rank, ranks, ring, graph, kind, degree_in, degree_out, left, right, request, message, status(MPI_STATUS_SIZE)
  integer :: sent(2), got(2), total, peers(2), weights(2)
  logical :: periodic(1), weighted, good
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  periodic(1) = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, (/ ranks /), periodic, .false., ring, code)
  call MPI_Topo_test(ring, kind, code)
  good = kind == MPI_CART
  left  = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  sent = (/ 10 * rank, 10 * rank + 1 /)
  call MPI_Neighbor_alltoall(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, code)
  good = good .and. got(1) == 10 * left + 1 .and. got(2) == 10 * right
  got = 0
  call MPI_Ineighbor_alltoall(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, request, code)
  call MPI_Wait(request, MPI_STATUS_IGNORE, code)
  good = good .and. got(1) == 10 * left + 1 .and. got(2) == 10 * right .and. request == MPI_REQUEST_NULL
  peers = (/ left, right /)
  weights = (/ 3, 4 /)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, peers, weights, 2, peers, weights, MPI_INFO_NULL, .false., graph, code)
  call MPI_Dist_graph_neighbors_count(graph, degree_in, degree_out, weighted, code)
  good = good .and. degree_in == 2 .and. degree_out == 2 .and. weighted
  call MPI_Topo_test(graph, kind, code)
  good = good .and. kind == MPI_DIST_GRAPH
  call MPI_Allreduce_init(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request, code)
  call MPI_Start(request, code)
  call MPI_Wait(request, MPI_STATUS_IGNORE, code)
  good = good .and. total == ranks * (ranks - 1) / 2 .and. request /= MPI_REQUEST_NULL
  call MPI_Request_free(request, code)
  call MPI_Isend(sent, 2, MPI_INTEGER, right, 5, MPI_COMM_WORLD, request, code)
  call MPI_Mprobe(left, 5, MPI_COMM_WORLD, message, status, code)
  call MPI_Mrecv(got, 2, MPI_INTEGER, message, status, code)
  call MPI_Wait(request, MPI_STATUS_IGNORE, code)
  good = good .and. got(1) == 10 * left .and. status(MPI_TAG) == 5
  call MPI_Comm_free(graph, code)
  call MPI_Comm_free(ring, code)
  if (good) then
    print '(a)', 'right'
  else
    print '(a)', 'wrong'
  end if
  call MPI_Finalize(code)
end program neighbors
