! SPDX-License-Identifier: LGPL-2.1-only
! Functions that weft adds to SMPI, by the module mpi: polls of several requests, error codes, info objects and
! datatypes. Prints `right` per rank.
program added_functions
  use mpi
  implicit none
  integer :: code, own_class, own_code, found, length, parent, info, requests(2), place, type, bytes, count
  integer :: status(MPI_STATUS_SIZE), values(2)
  integer(kind=MPI_ADDRESS_KIND) :: size
  character(len=MPI_MAX_ERROR_STRING) :: text
  logical :: good, flag
  call MPI_Init(code)
  call MPI_Add_error_class(own_class, code)
  call MPI_Add_error_code(own_class, own_code, code)
  call MPI_Add_error_string(own_code, "it rains", code)
  call MPI_Error_class(own_code, found, code)
  call MPI_Error_string(own_code, text, length, code)
  good = own_class > MPI_ERR_LASTCODE .and. found == own_class .and. text(1:length) == "it rains"
  call MPI_Remove_error_string(own_code, code)
  call MPI_Remove_error_code(own_code, code)
  call MPI_Remove_error_class(own_class, code)
  call MPI_Comm_get_parent(parent, code)
  good = good .and. parent == MPI_COMM_NULL
  call MPI_Info_create_env(info, code)
  call MPI_Info_set(info, "weather", "rain", code)
  length = len(text)
  call MPI_Info_get_string(info, "weather", length, text, flag, code)
  good = good .and. flag .and. trim(text) == "rain"
  call MPI_Info_free(info, code)
  requests(1) = MPI_REQUEST_NULL
  call MPI_Irecv(values, 2, MPI_INTEGER, 0, 1, MPI_COMM_SELF, requests(2), code)
  call MPI_Request_get_status_any(2, requests, place, flag, status, code)
  good = good .and. .not. flag
  call MPI_Send((/ 3, 4 /), 2, MPI_INTEGER, 0, 1, MPI_COMM_SELF, code)
  flag = .false.
  do while (.not. flag)
    call MPI_Request_get_status_any(2, requests, place, flag, status, code)
  end do
  call MPI_Get_elements(status, MPI_INTEGER, count, code)
  good = good .and. place == 2 .and. count == 2
  call MPI_Request_get_status_all(2, requests, flag, MPI_STATUSES_IGNORE, code)
  good = good .and. flag
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, code)
  call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, type, code)
  call MPI_Type_size(type, bytes, code)
  call MPI_Pack_external_size("external32", 3, type, size, code)
  good = good .and. bytes == 8 .and. size == 24
  call MPI_Buffer_flush(code)
  if (good) then
    print '(a)', "right"
  else
    print '(a)', "wrong"
  end if
  call MPI_Finalize(code)
end program added_functions
