! SPDX-License-Identifier: LGPL-2.1-only
! Run-time errors of libgfortran in rank 0, which end it: `input_errors KIND`; "caught ..." handles them.
module records
  implicit none
  type :: point
    integer :: x = 7
  contains
    procedure :: write_point
    generic :: write(formatted) => write_point
  end type
contains
  subroutine write_point(object, unit, iotype, list, status, message)
    class(point), intent(in) :: object
    integer, intent(in) :: unit, list(:)
    character(*), intent(in) :: iotype
    integer, intent(out) :: status
    character(*), intent(inout) :: message
    write(unit, '(a, i0)', iostat=status, iomsg=message) 'point ', object%x
  end subroutine

  integer function stopping()
    stop 3
  end function

  integer function printing()
    print *, 'inner'
    printing = 1
  end function
end module

program input_errors
  use mpi
  use records
  implicit none
  integer :: error, rank, number, unit
  character(20) :: kind
  character(100) :: message
  type(point) :: object
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  call get_command_argument(1, kind)
  if (rank == 0) call fail
  call mpi_barrier(mpi_comm_world, error)
  call mpi_finalize(error)
contains
  subroutine fail
    if (kind /= 'missing' .and. kind /= 'caught') then
      open(10, file='input.txt')
      write(10, '(a)') 'abc'
      rewind(10)
    end if
    select case (kind)
    case ('missing')
      open(11, file='no-such-input', status='old')
    case ('new')
      open(11, file='exists.txt', status='new')
    case ('integer')
      read(10, *) number
    case ('end')
      read(10, '(a)') message
      read(10, '(a)') message
    case ('format')
      message = '(i5'
      write(10, message) number
    case ('type')
      write(10, '(i5)') 'text'
    case ('readonly')
      open(11, file='exists.txt', action='read')
      write(11, *) 1
    case ('record')
      open(11, file='direct.dat', access='direct', recl=4, form='unformatted')
      read(11, rec=5) number
    case ('backspace')
      open(11, file='stream.dat', access='direct', recl=4, form='unformatted')
      backspace(11)
    case ('close')
      message = 'nonsense'
      close(10, status=message)
    case ('newunit')
      open(newunit=unit, file='exists.txt', action='read')
      read(unit, *) number
    case ('internal')
      message = 'abc'
      read(message, *) number
    case ('stop')
      write(10, *) stopping()
    case ('recursive')
      print *, printing()
    case ('derived')
      print *, object
      write(10, *) object
    case ('caught')
      open(11, file='no-such-input', status='old', iostat=error, iomsg=message)
      print *, trim(message)
      open(11, file='no-such-input', status='old', err=1)
      print *, 'wrong'
1     open(12, file='exists.txt')
      do
        read(12, *, end=2, err=3) number
3       print *, 'bad'
      end do
2     print *, 'end'
      open(13, file='no-such-input', status='old', iostat=error)
      print *, error
    end select
  end subroutine
end program
