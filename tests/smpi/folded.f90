! SPDX-License-Identifier: LGPL-2.1-only
! Bytes that a rank's arrays of 4 MiB take, by the statement that allocates them, as in folded.cpp.
program folded
  use mpi_f08
  implicit none
  integer, parameter :: elements = 524288
  real(8), allocatable, save :: plain(:), zeroed(:), assigned(:), sourced(:)
  real(8), pointer :: pointed(:)
  integer :: rank, ranks, stage
  integer(8) :: before
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  do stage = 1, 5
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) before = bytes()
    call MPI_Barrier(MPI_COMM_WORLD)
    select case (stage)
    case (1)
      allocate (plain(elements))
      plain = 1
    case (2)
      allocate (zeroed(elements))
      zeroed = 0
    case (3)
      assigned = [plain, plain(:0)]
    case (4)
      allocate (sourced, source=plain)
    case (5)
      allocate (pointed(elements))
      pointed = 2
    end select
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) print '(a,1x,i0)', word(stage), (bytes() - before) / ranks
  end do
  if (any(plain(::512) /= plain(1))) print *, 'WRONG'
  deallocate (plain, zeroed, assigned, sourced, pointed)
  call MPI_Finalize()
contains
  function word(number)
    integer, intent(in) :: number
    character(len=:), allocatable :: word
    character(len=9), parameter :: words(5) = ['allocate ', 'zero     ', 'assign   ', 'source   ', 'pointer  ']
    word = trim(words(number))
  end function

  function bytes()
    integer(8) :: bytes, part
    character(len=80) :: line
    integer :: unit, status
    open (newunit=unit, file='/proc/self/smaps_rollup', action='read')
    bytes = 0
    do
      read (unit, '(a)', iostat=status) line
      if (status /= 0) exit
      if (line(:9) /= 'Pss_Anon:' .and. line(:10) /= 'Pss_Shmem:') cycle
      read (line(11:index(line, 'kB') - 1), *) part
      bytes = bytes + part * 1024
    end do
    close (unit)
  end function
end program
