! SPDX-License-Identifier: LGPL-2.1-only
! The same as message_forms.c, for MPI's procedures in Fortran that complete requests: rank 0 sends, rank 1 receives.
program message_forms
  use mpi_f08
  implicit none
  integer, parameter :: most = 100000, others = 3, message = 1, end_tag = 2, apart = 200
  character(len=16), parameter :: ways(11) = [character(len=16) :: 'Recv', 'Wait', 'Waitall', 'Waitany', 'Waitsome', &
    'Test', 'Testall', 'Testany', 'Testsome', 'Probe', 'Iprobe']
  character :: bytes(most)
  integer :: rank, ranks, way, size, late, i, last(others)
  type(MPI_Request) :: list(1 + others)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  if (rank > 1) then
    call poll_until_the_end()
  else
    do i = 1, others
      call MPI_Irecv(last(i), 1, MPI_INTEGER, 1 - rank, end_tag, MPI_COMM_WORLD, list(1 + i))
    end do
    do size = 8, most, most - 8
      do late = 0, 1
        do way = 1, 11
          call one('Send', trim(ways(way)))
          if (way > 1 .and. way < 10) call one('Isend', trim(ways(way)))
        end do
      end do
    end do
    do i = 1, others
      call MPI_Send(rank, 1, MPI_INTEGER, 1 - rank, end_tag, MPI_COMM_WORLD)
    end do
    call MPI_Waitall(others, list(2:), MPI_STATUSES_IGNORE)
    do i = 2, ranks - 1
      if (rank == 0) call MPI_Send(rank, 1, MPI_INTEGER, i, end_tag, MPI_COMM_WORLD)
    end do
  end if
  call MPI_Finalize()
contains
  subroutine complete(form)
    character(len=*), intent(in) :: form
    integer :: index, ended, which(1 + others)
    logical :: flag
    flag = .false.
    ended = 0
    select case (form)
    case ('Wait')
      call MPI_Wait(list(1), MPI_STATUS_IGNORE)
    case ('Waitall')
      call MPI_Waitall(1, list, MPI_STATUSES_IGNORE)
    case ('Waitany')
      call MPI_Waitany(1 + others, list, index, MPI_STATUS_IGNORE)
    case ('Waitsome')
      call MPI_Waitsome(1 + others, list, ended, which, MPI_STATUSES_IGNORE)
    case ('Test')
      do while (.not. flag)
        call MPI_Test(list(1), flag, MPI_STATUS_IGNORE)
      end do
    case ('Testall')
      do while (.not. flag)
        call MPI_Testall(1, list, flag, MPI_STATUSES_IGNORE)
      end do
    case ('Testany')
      do while (.not. flag)
        call MPI_Testany(1 + others, list, index, flag, MPI_STATUS_IGNORE)
      end do
    case ('Testsome')
      do while (ended == 0)
        call MPI_Testsome(1 + others, list, ended, which, MPI_STATUSES_IGNORE)
      end do
    end select
  end subroutine complete

  subroutine receive(form)
    character(len=*), intent(in) :: form
    logical :: flag
    flag = .false.
    select case (form)
    case ('Probe')
      call MPI_Probe(0, message, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    case ('Iprobe')
      do while (.not. flag)
        call MPI_Iprobe(0, message, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE)
      end do
    case default
      if (form /= 'Recv') then
        call MPI_Irecv(bytes, size, MPI_CHARACTER, 0, message, MPI_COMM_WORLD, list(1))
        call complete(form)
        return
      end if
    end select
    call MPI_Recv(bytes, size, MPI_CHARACTER, 0, message, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end subroutine receive

  subroutine one(form, receipt)
    character(len=*), intent(in) :: form, receipt
    character(len=16) :: completion
    integer :: empty(1)
    double precision :: start
    interface
      integer(c_int) function usleep(time) bind(c, name='smpi_usleep')
        use iso_c_binding
        integer(c_int32_t), value :: time
      end function usleep
    end interface
    completion = 'Wait'
    if (form == 'Isend') completion = receipt
    call MPI_Sendrecv(empty, 0, MPI_INTEGER, 1 - rank, 0, empty, 0, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE)
    if (rank == late) i = usleep(apart)
    start = MPI_Wtime()
    if (rank == 1) then
      call receive(receipt)
    else if (form == 'Send') then
      call MPI_Send(bytes, size, MPI_CHARACTER, 1, message, MPI_COMM_WORLD)
    else
      call MPI_Isend(bytes, size, MPI_CHARACTER, 1, message, MPI_COMM_WORLD, list(1))
      call complete(receipt)
    end if
    print '(A,1X,A,A,A,1X,A,1X,I0,1X,A,2(1X,F0.12))', merge('sent    ', 'received', rank == 0), form, '/', &
      trim(completion), receipt, size, merge('late ', 'early', late == 1), start, MPI_Wtime()
  end subroutine one

  subroutine poll_until_the_end()
    integer :: end_data
    logical :: flag
    type(MPI_Request) :: request
    call MPI_Irecv(end_data, 1, MPI_INTEGER, 0, end_tag, MPI_COMM_WORLD, request)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(request, flag, MPI_STATUS_IGNORE)
    end do
  end subroutine poll_until_the_end
end program message_forms
