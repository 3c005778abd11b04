! SPDX-License-Identifier: LGPL-2.1-only
! Names of objects without one, and of Fortran's predefined datatypes, padded with blanks; sums and operations of the
! program over Fortran's datatypes. Prints `right` per rank.
module checked_names
  use mpi_f08
  implicit none
  integer :: rank

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    print '(a,i0,2a)', 'WRONG: rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  subroutine named(type, its)
    type(MPI_Datatype), intent(in) :: type
    character(*), intent(in) :: its
    character(MPI_MAX_OBJECT_NAME) :: found
    integer :: many
    found = repeat('x', len(found))
    call MPI_Type_get_name(type, found, many)
    call check(found == its .and. many == len(its), its // ' is named ' // found)
  end subroutine

  subroutine add(in, inout, many, type)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: in, inout
    integer :: many
    type(MPI_Datatype) :: type
    integer, pointer :: from(:), to(:)
    call check(type == MPI_INTEGER, 'the datatype of an operation')
    call c_f_pointer(in, from, [many])
    call c_f_pointer(inout, to, [many])
    to = to + from
  end subroutine

end module

program object_names
  use mpi_f08
  use checked_names
  implicit none
  integer :: length, sum, size
  type(MPI_Win) :: window
  type(MPI_Datatype) :: type
  type(MPI_Op) :: operation
  integer, target :: base(4)
  character(MPI_MAX_OBJECT_NAME) :: name
  integer :: combiner, integers, addresses, types

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call MPI_Win_create(base, int(16, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, MPI_COMM_WORLD, window)
  name = 'left over'
  call MPI_Win_get_name(window, name, length)
  call check(name == '' .and. length == 0, 'a window')
  call MPI_Win_free(window)
  call MPI_Type_contiguous(3, MPI_INTEGER, type)
  name = 'left over'
  call MPI_Type_get_name(type, name, length)
  call check(name == '' .and. length == 0, 'a type')
  call MPI_Type_get_envelope(type, integers, addresses, types, combiner)
  call check(combiner == MPI_COMBINER_CONTIGUOUS, 'the envelope of a type')
  call MPI_Type_free(type)
  call named(MPI_INTEGER, 'MPI_INTEGER')
  call named(MPI_INTEGER8, 'MPI_INTEGER8')
  call named(MPI_DOUBLE_PRECISION, 'MPI_DOUBLE_PRECISION')
  call named(MPI_REAL, 'MPI_REAL')
  call named(MPI_COMPLEX, 'MPI_COMPLEX')
  call named(MPI_DOUBLE_COMPLEX, 'MPI_DOUBLE_COMPLEX')
  call named(MPI_LOGICAL, 'MPI_LOGICAL')
  call named(MPI_CHARACTER, 'MPI_CHARACTER')
  call named(MPI_2INTEGER, 'MPI_2INTEGER')
  call named(MPI_2DOUBLE_PRECISION, 'MPI_2DOUBLE_PRECISION')
  call named(MPI_AINT, 'MPI_AINT')
  call named(MPI_COUNT, 'MPI_COUNT')
  call named(MPI_INT, 'MPI_INT')
  call named(MPI_DOUBLE, 'MPI_DOUBLE')
  call named(MPI_BYTE, 'MPI_BYTE')
  call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check(sum == size * (size - 1) / 2, 'a sum')
  call MPI_Op_create(add, .true., operation)
  call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, operation, MPI_COMM_WORLD)
  call check(sum == size * (size - 1) / 2, 'an operation of the program')
  call MPI_Op_free(operation)
  print '(a)', 'right'
  call MPI_Finalize()
end program
