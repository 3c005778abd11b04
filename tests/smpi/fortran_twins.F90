! SPDX-License-Identifier: LGPL-2.1-only
! The same calls with the module mpi_f08 (-DF08) and with the module mpi: results and times are equal.
#ifdef F08
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define STATUS(name) type(MPI_Status) :: name
#define SOURCE(name) name%MPI_SOURCE
#define CODE
#else
#define COMM integer
#define REQUEST integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define SOURCE(name) name(MPI_SOURCE)
#define CODE , code
#endif
program fortran_twins
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: rank, ranks, code, i, next, previous, count
  integer :: words(1000), sums(1000)
  real(8), allocatable :: block(:, :), column(:)
  REQUEST :: requests(2)
  COMM :: half
  STATUS(status)
  double precision :: start
  character(len=MPI_MAX_OBJECT_NAME) :: name
  integer :: unused
  code = 0
#ifdef F08
  call MPI_Init()
#else
  call MPI_Init(code)
#endif
  call MPI_Comm_rank(MPI_COMM_WORLD, rank CODE)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks CODE)
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  start = MPI_Wtime()
  words = [(rank * i, i = 1, 1000)]
  do i = 1, 1000, 333
    call MPI_Allreduce(words, sums, i, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD CODE)
  end do
  print '(a,2i9)', 'Allreduce', sums(1), sums(1000)
  allocate(block(50, 20), column(20))
  block = rank
  call MPI_Sendrecv(block(:, 3), 50, MPI_REAL8, next, 0, block(:, 4), 50, MPI_REAL8, previous, 0, MPI_COMM_WORLD, &
    status CODE)
  call MPI_Get_count(status, MPI_REAL8, count CODE)
  print '(a,3i9,f9.2)', 'Sendrecv', rank, SOURCE(status) - previous, count, sum(block(:, 4)) - 50 * previous
  call MPI_Irecv(column, 20, MPI_REAL8, previous, 1, MPI_COMM_WORLD, requests(1) CODE)
  call MPI_Isend(block, 20, MPI_REAL8, next, 1, MPI_COMM_WORLD, requests(2) CODE)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE CODE)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), 0, half CODE)
  call MPI_Comm_set_name(half, 'half' CODE)
  call MPI_Comm_get_name(half, name, count CODE)
  call MPI_Iallreduce(MPI_IN_PLACE, words, 1000, MPI_INTEGER, MPI_MAX, half, requests(1) CODE)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE CODE)
  print '(2a,2i9,f9.2)', trim(name), ':', count, words(1000), sum(column) - 20 * previous
  call MPI_Bcast(words, 1000, MPI_INTEGER, 1, MPI_COMM_WORLD CODE)
  call MPI_Barrier(MPI_COMM_WORLD CODE)
  print '(a,i9,es24.16)', 'time', words(2), MPI_Wtime() - start
  unused = code
#ifdef F08
  call MPI_Finalize()
#else
  call MPI_Finalize(code)
#endif
end program fortran_twins
