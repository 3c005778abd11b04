! SPDX-License-Identifier: LGPL-2.1-only
! Sessions from Fortran, without MPI_Init: process sets, a communicator, buffers, error handlers. Prints `right` per rank.
module handlers
  use mpi_f08
  implicit none
  type(MPI_Session) :: session
  integer :: codes = 0
contains
  subroutine handle(which, code)
    type(MPI_Session) :: which
    integer :: code
    codes = merge(code, -1, which == session)
  end subroutine handle
end module handlers

program sessions
  use mpi_f08
  use handlers
  implicit none
  type(MPI_Group) :: group
  type(MPI_Comm) :: comm
  type(MPI_Info) :: info
  type(MPI_Errhandler) :: handler
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  character(len=MPI_MAX_PSET_NAME_LEN) :: name
  character(len=8) :: value
  integer :: sets, set, length, rank, size, total, numbers(4), got(4)
  integer, asynchronous :: memory(64)
  logical :: good, flag, found

  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session)
  good = session /= MPI_SESSION_NULL
  call MPI_Session_get_num_psets(session, MPI_INFO_NULL, sets)
  found = .false.
  do set = 0, sets - 1
    length = 0
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, set, length, name)
    good = good .and. length > 0 .and. length <= len(name)
    length = len(name)
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, set, length, name)
    found = found .or. name == "mpi://WORLD"
  end do
  good = good .and. found
  call MPI_Session_get_pset_info(session, "mpi://SELF", info)
  length = len(value)
  call MPI_Info_get_string(info, "mpi_size", length, value, flag)
  good = good .and. flag .and. value == "1"
  call MPI_Info_free(info)

  call MPI_Group_from_session_pset(session, "mpi://WORLD", group)
  call MPI_Comm_create_from_group(group, "weft.fortran", MPI_INFO_NULL, MPI_ERRORS_RETURN, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, size)
  call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, comm)
  good = good .and. total == size

  call MPI_Comm_attach_buffer(comm, memory, 256)
  numbers = [1, 2, 3, 4]
  call MPI_Bsend(numbers, 4, MPI_INTEGER, rank, 1, comm)
  call MPI_Recv(got, 4, MPI_INTEGER, rank, 1, comm, status)
  good = good .and. all(got == numbers)
  call MPI_Comm_flush_buffer(comm)
  call MPI_Comm_iflush_buffer(comm, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call detach()

  call MPI_Session_create_errhandler(handle, handler)
  call MPI_Session_set_errhandler(session, handler)
  call MPI_Session_call_errhandler(session, MPI_ERR_OTHER)
  good = good .and. codes == MPI_ERR_OTHER
  call MPI_Errhandler_free(handler)
  call MPI_Group_free(group)
  call MPI_Comm_free(comm)
  call MPI_Session_finalize(session)
  good = good .and. session == MPI_SESSION_NULL
  print '(a)', merge("right", "wrong", good)

contains
  subroutine detach()
    use, intrinsic :: iso_c_binding, only: c_ptr, c_associated
    type(c_ptr) :: address
    integer :: bytes
    call MPI_Comm_detach_buffer(comm, address, bytes)
    good = good .and. c_associated(address) .and. bytes == 256
  end subroutine detach
end program sessions
