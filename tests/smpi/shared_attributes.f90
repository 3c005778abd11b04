! SPDX-License-Identifier: LGPL-2.1-only
! Attributes of communicators, datatypes and windows, set in one language and read in the other (MPI 4.1, 19.3.7).
! Prints a line for each group. One rank.

! MPI's C functions, whose handles are addresses.
module of_c
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    function c_comm(comm) bind(C, name='MPI_Comm_f2c') result(handle)
      import
      integer(c_int), value :: comm
      type(c_ptr) :: handle
    end function
    function c_type(datatype) bind(C, name='MPI_Type_f2c') result(handle)
      import
      integer(c_int), value :: datatype
      type(c_ptr) :: handle
    end function
    function c_win(win) bind(C, name='MPI_Win_f2c') result(handle)
      import
      integer(c_int), value :: win
      type(c_ptr) :: handle
    end function
    integer(c_int) function c_comm_set(handle, keyval, attribute) bind(C, name='MPI_Comm_set_attr')
      import
      type(c_ptr), value :: handle, attribute
      integer(c_int), value :: keyval
    end function
    integer(c_int) function c_comm_get(handle, keyval, attribute, flag) bind(C, name='MPI_Comm_get_attr')
      import
      type(c_ptr), value :: handle
      integer(c_int), value :: keyval
      type(c_ptr) :: attribute
      integer(c_int) :: flag
    end function
    integer(c_int) function c_type_set(handle, keyval, attribute) bind(C, name='MPI_Type_set_attr')
      import
      type(c_ptr), value :: handle, attribute
      integer(c_int), value :: keyval
    end function
    integer(c_int) function c_type_get(handle, keyval, attribute, flag) bind(C, name='MPI_Type_get_attr')
      import
      type(c_ptr), value :: handle
      integer(c_int), value :: keyval
      type(c_ptr) :: attribute
      integer(c_int) :: flag
    end function
    integer(c_int) function c_win_set(handle, keyval, attribute) bind(C, name='MPI_Win_set_attr')
      import
      type(c_ptr), value :: handle, attribute
      integer(c_int), value :: keyval
    end function
    integer(c_int) function c_win_get(handle, keyval, attribute, flag) bind(C, name='MPI_Win_get_attr')
      import
      type(c_ptr), value :: handle
      integer(c_int), value :: keyval
      type(c_ptr) :: attribute
      integer(c_int) :: flag
    end function
    integer(c_int) function c_keyval(copy, remove, keyval, state) bind(C, name='MPI_Comm_create_keyval')
      import
      type(c_funptr), value :: copy, remove
      integer(c_int) :: keyval
      type(c_ptr), value :: state
    end function
  end interface
contains
  ! A C callback: the copy is the address at which the attribute points.
  function copy_in_c(comm, keyval, state, old, fresh, flag) bind(C) result(error)
    type(c_ptr), value :: comm, state, old
    integer(c_int), value :: keyval
    type(c_ptr) :: fresh
    integer(c_int) :: flag, error
    integer(c_intptr_t), pointer :: number
    call c_f_pointer(old, number)
    fresh = transfer(transfer(old, number) + number, fresh)
    flag = 1
    error = 0
  end function

  function delete_in_c(comm, keyval, attribute, state) bind(C) result(error)
    type(c_ptr), value :: comm, attribute, state
    integer(c_int), value :: keyval
    integer(c_int) :: error
    error = 0
  end function
end module

module counted
  use mpi_f08
  implicit none
  integer :: copies = 0, deletions = 0
  integer(MPI_ADDRESS_KIND) :: last_deleted
contains
  subroutine copy_and_add(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = attribute_val_in + extra_state
    flag = .true.
    copies = copies + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete_and_count(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    deletions = deletions + 1
    last_deleted = attribute_val
    ierror = MPI_SUCCESS
  end subroutine
end module

program shared_attributes
  use of_c
  use counted
  implicit none
  interface
    subroutine MPI_Attr_put(comm, keyval, attribute, ierror)
      integer :: comm, keyval, attribute, ierror
    end subroutine
    subroutine MPI_Attr_get(comm, keyval, attribute, flag, ierror)
      integer :: comm, keyval, attribute, ierror
      logical :: flag
    end subroutine
  end interface
  integer(MPI_ADDRESS_KIND), parameter :: WIDE = -1234567890123_MPI_ADDRESS_KIND, TEN = 10
  integer(MPI_ADDRESS_KIND), target :: memory(4)
  integer(MPI_ADDRESS_KIND) :: value
  integer(MPI_ADDRESS_KIND), pointer :: seen
  integer(c_int), pointer :: seen_int
  type(MPI_Comm) :: comm, copy
  type(MPI_Datatype) :: made, twin
  type(MPI_Win) :: win
  type(c_ptr) :: attribute
  integer :: keyval, plain, c_made, of_types, of_windows, error, narrow, found
  logical :: flag
  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_create_keyval(copy_and_add, delete_and_count, keyval, TEN)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, plain, TEN)
  error = c_keyval(c_funloc(copy_in_c), c_funloc(delete_in_c), c_made, c_null_ptr)

  ! An address-sized integer of Fortran.
  call MPI_Comm_set_attr(comm, keyval, WIDE)
  error = c_comm_get(c_comm(comm%MPI_VAL), keyval, attribute, found)
  call c_f_pointer(attribute, seen)
  call MPI_Comm_get_attr(comm, keyval, value, flag)
  call MPI_Attr_get(comm%MPI_VAL, keyval, narrow, flag, error)
  call say('address integer', found == 1 .and. seen == WIDE .and. value == WIDE .and. &
    narrow == transfer(WIDE, narrow) .and. flag)

  ! An integer of Fortran, which is sign-extended.
  call MPI_Attr_put(comm%MPI_VAL, plain, -7, error)
  error = c_comm_get(c_comm(comm%MPI_VAL), plain, attribute, found)
  call c_f_pointer(attribute, seen_int)
  call MPI_Comm_get_attr(comm, plain, value, flag)
  call MPI_Attr_get(comm%MPI_VAL, plain, narrow, flag, error)
  call say('integer', found == 1 .and. seen_int == -7 .and. value == -7 .and. narrow == -7)

  ! Copies keep the kind of their original: C reads the address of an integer.
  call MPI_Comm_dup(comm, copy)
  error = c_comm_get(c_comm(copy%MPI_VAL), keyval, attribute, found)
  call c_f_pointer(attribute, seen)
  error = c_comm_get(c_comm(copy%MPI_VAL), plain, attribute, found)
  call c_f_pointer(attribute, seen_int)
  call MPI_Comm_get_attr(copy, keyval, value, flag)
  call say('copies', copies == 1 .and. seen == WIDE + TEN .and. value == WIDE + TEN .and. seen_int == -7)
  call MPI_Comm_free(copy)
  call say('deletions', deletions == 1 .and. last_deleted == WIDE + TEN)

  ! A pointer of C; overwriting deletes the integer.
  error = c_comm_set(c_comm(comm%MPI_VAL), keyval, c_loc(memory(2)))
  error = c_comm_set(c_comm(comm%MPI_VAL), plain, c_loc(memory(3)))
  call say('overwritten', deletions == 2 .and. last_deleted == WIDE)
  call MPI_Comm_get_attr(comm, keyval, value, flag)
  call MPI_Attr_get(comm%MPI_VAL, keyval, narrow, flag, error)
  call say('pointer', value == transfer(c_loc(memory(2)), value) .and. narrow == transfer(value, narrow))
  call MPI_Comm_dup(comm, copy)
  error = c_comm_get(c_comm(copy%MPI_VAL), plain, attribute, found)
  call say('copied pointer', c_associated(attribute, c_loc(memory(3))))
  call MPI_Comm_get_attr(copy, keyval, value, flag)
  call say('copied by Fortran', value == transfer(c_loc(memory(2)), value) + TEN)
  call MPI_Comm_free(copy)

  ! A C keyval with an integer of Fortran: its callback gets the address of the integer.
  call MPI_Comm_set_attr(comm, c_made, TEN)
  error = c_comm_get(c_comm(comm%MPI_VAL), c_made, attribute, found)
  call MPI_Comm_dup(comm, copy)
  call MPI_Comm_get_attr(copy, c_made, value, flag)
  call say('callback of C', value == transfer(attribute, value) + TEN)
  call MPI_Comm_free(copy)
  call MPI_Comm_delete_attr(comm, c_made)
  call MPI_Comm_get_attr(comm, c_made, value, flag)
  call say('deleted', .not. flag)

  ! Datatypes.
  call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, of_types, TEN)
  call MPI_Type_contiguous(2, MPI_INTEGER, made)
  call MPI_Type_set_attr(made, of_types, WIDE)
  call MPI_Type_dup(made, twin)
  error = c_type_get(c_type(twin%MPI_VAL), of_types, attribute, found)
  call c_f_pointer(attribute, seen)
  call MPI_Type_get_attr(twin, of_types, value, flag)
  error = c_type_set(c_type(made%MPI_VAL), of_types, c_loc(memory(1)))
  call say('datatypes', seen == WIDE .and. value == WIDE)
  call MPI_Type_get_attr(made, of_types, value, flag)
  call say('pointer of a datatype', value == transfer(c_loc(memory(1)), value))
  call MPI_Type_free(made)
  call MPI_Type_free(twin)

  ! Windows.
  call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, of_windows, TEN)
  call MPI_Win_create(memory, 32_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, comm, win)
  call MPI_Win_set_attr(win, of_windows, WIDE)
  error = c_win_get(c_win(win%MPI_VAL), of_windows, attribute, found)
  call c_f_pointer(attribute, seen)
  call MPI_Win_get_attr(win, of_windows, value, flag)
  call say('windows', seen == WIDE .and. value == WIDE)
  error = c_win_set(c_win(win%MPI_VAL), of_windows, c_loc(memory(4)))
  call MPI_Win_get_attr(win, of_windows, value, flag)
  call say('pointer of a window', value == transfer(c_loc(memory(4)), value))

  ! Predefined attributes are integers, except for a window's base, which is an address.
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
  error = c_comm_get(c_comm(MPI_COMM_WORLD%MPI_VAL), MPI_TAG_UB, attribute, found)
  call c_f_pointer(attribute, seen_int)
  call MPI_Attr_get(MPI_COMM_WORLD%MPI_VAL, MPI_TAG_UB, narrow, flag, error)
  call say('greatest tag', value == seen_int .and. narrow == seen_int .and. value >= 32767)
  call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag)
  call say('base', value == transfer(c_loc(memory), value))
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag)
  call say('size', value == 32)
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag)
  call say('unit', value == 8)
  call MPI_Win_free(win)
  call MPI_Comm_free(comm)
  call MPI_Finalize()
contains
  subroutine say(what, good)
    character(len=*), intent(in) :: what
    logical, intent(in) :: good
    print '(a)', what // ': ' // trim(merge('right', 'wrong', good))
  end subroutine
end program
