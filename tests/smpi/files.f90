! SPDX-License-Identifier: LGPL-2.1-only
! Files in Fortran 2008: blocking, non-blocking, split and shared accesses, views, hints.
program files
  use mpi_f08
  implicit none
  type(MPI_File) :: file
  type(MPI_Datatype) :: filetype, etype, seen
  type(MPI_Status) :: status
  type(MPI_Request) :: request
  type(MPI_Info) :: info
  type(MPI_Group) :: group
  integer :: rank, ranks, wrong, mode, number, i
  integer :: sent(4), found(4)
  logical :: flag
  integer(MPI_OFFSET_KIND) :: at, offset
  integer(MPI_ADDRESS_KIND) :: extent
  character(MPI_MAX_DATAREP_STRING) :: form
  character(32) :: value
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  wrong = 0
  call MPI_File_open(MPI_COMM_WORLD, "fortran", ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file)
  call MPI_File_get_amode(file, mode)
  call check(mode == ior(MPI_MODE_CREATE, MPI_MODE_RDWR))
  call MPI_File_preallocate(file, 1000_MPI_OFFSET_KIND)
  call MPI_File_get_size(file, at)
  call check(at == 1000)
  ! Each rank owns one number in every row of all ranks.
  call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, int(4 * ranks, MPI_ADDRESS_KIND), filetype)
  call MPI_Type_commit(filetype)
  call MPI_File_set_view(file, int(4 * rank, MPI_OFFSET_KIND), MPI_INTEGER, filetype, "native", MPI_INFO_NULL)
  call MPI_File_get_view(file, at, etype, seen, form)
  call check(at == 4 * rank .and. etype == MPI_INTEGER .and. form == "native")
  do i = 1, 4
    sent(i) = 10 * i + rank
  end do
  call MPI_File_write_all(file, sent, 4, MPI_INTEGER, status)
  call MPI_Get_count(status, MPI_INTEGER, number)
  call check(number == 4)
  call MPI_File_get_position(file, at)
  call check(at == 4)
  call MPI_File_get_byte_offset(file, 2_MPI_OFFSET_KIND, at)
  call check(at == 4 * rank + 8 * ranks)
  offset = 0
  found = 0
  call MPI_File_iread_at(file, offset, found, 4, MPI_INTEGER, request)
  call MPI_Wait(request, status)
  call check(all(found == sent))
  sent = sent + 1
  call MPI_File_seek(file, offset, MPI_SEEK_SET)
  call MPI_File_iwrite_all(file, sent, 4, MPI_INTEGER, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  found = 0
  call MPI_File_read_at_all_begin(file, offset, found, 4, MPI_INTEGER)
  call MPI_File_read_at_all_end(file, found, status)
  call check(all(found == sent))
  call MPI_File_sync(file)
  call MPI_File_set_view(file, offset, MPI_INTEGER, MPI_INTEGER, "native", MPI_INFO_NULL)
  found = 0
  call MPI_File_read_at(file, int(rank, MPI_OFFSET_KIND), found, 1, MPI_INTEGER, status)
  call check(found(1) == sent(1))
  call MPI_File_write_ordered(file, sent, 1, MPI_INTEGER, status)
  call MPI_File_get_position_shared(file, at)
  call check(at == ranks)
  call MPI_File_seek_shared(file, offset, MPI_SEEK_SET)
  call MPI_File_read_ordered_begin(file, found, 1, MPI_INTEGER)
  call MPI_File_read_ordered_end(file, found, status)
  call check(found(1) == sent(1))
  call MPI_File_get_info(file, info)
  call MPI_Info_get(info, "cb_buffer_size", 32, value, flag)
  call check(flag .and. value == "16777216")
  call MPI_Info_free(info)
  call MPI_File_get_group(file, group)
  call MPI_Group_size(group, number)
  call check(number == ranks)
  call MPI_File_get_type_extent(file, MPI_DOUBLE_PRECISION, extent)
  call check(extent == 8)
  call MPI_File_set_atomicity(file, .true.)
  call MPI_File_get_atomicity(file, flag)
  call check(flag)
  call MPI_File_close(file)
  call check(file == MPI_FILE_NULL)
  call MPI_File_open(MPI_COMM_WORLD, "nothing", MPI_MODE_RDONLY, MPI_INFO_NULL, file, number)
  call check(number == MPI_ERR_NO_SUCH_FILE)
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(I0, A)', wrong, " wrong"
  call MPI_Type_free(filetype)
  call MPI_Finalize()
contains
  subroutine check(right)
    logical, intent(in) :: right
    if (.not. right) wrong = wrong + 1
  end subroutine
end program
