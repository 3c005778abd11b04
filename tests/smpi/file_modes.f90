! SPDX-License-Identifier: LGPL-2.1-only
! Files by the module mpi: explicit, individual, collective, shared and non-blocking accesses through a view. Prints
! `right` per rank.
program file_modes
  use mpi
  implicit none
  integer :: code, rank, ranks, file, filetype, part, request, i, counted, status(MPI_STATUS_SIZE)
  integer :: sent(4), got(4)
  integer(MPI_OFFSET_KIND) :: offset, length
  integer(MPI_ADDRESS_KIND) :: extent
  logical :: good = .true.
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  sent = (/ (100 * rank + i, i = 1, 4) /)
  call MPI_File_open(MPI_COMM_WORLD, 'modes', ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file, code)
  ! Two integers of each rank in turn.
  call MPI_Type_contiguous(2, MPI_INTEGER, part, code)
  extent = 8 * ranks
  call MPI_Type_create_resized(part, 0_MPI_ADDRESS_KIND, extent, filetype, code)
  call MPI_Type_commit(filetype, code)
  offset = 8 * rank
  call MPI_File_set_view(file, offset, MPI_INTEGER, filetype, 'native', MPI_INFO_NULL, code)
  call MPI_File_write_all(file, sent, 2, MPI_INTEGER, status, code)
  call MPI_Get_count(status, MPI_INTEGER, counted, code)
  good = good .and. counted == 2
  offset = 2
  call MPI_File_iwrite_at(file, offset, sent(3:4), 2, MPI_INTEGER, request, code)
  call MPI_Wait(request, status, code)
  call MPI_File_sync(file, code)
  call MPI_Barrier(MPI_COMM_WORLD, code)
  call MPI_File_sync(file, code)
  ! The next rank's integers.
  offset = 8 * mod(rank + 1, ranks)
  call MPI_File_set_view(file, offset, MPI_INTEGER, filetype, 'native', MPI_INFO_NULL, code)
  call MPI_File_read_at_all(file, 0_MPI_OFFSET_KIND, got, 4, MPI_INTEGER, status, code)
  good = good .and. all(got == (/ (100 * mod(rank + 1, ranks) + i, i = 1, 4) /))
  call MPI_File_get_size(file, length, code)
  good = good .and. length == 16 * ranks
  ! The shared pointer, in rank order, after all other data.
  call MPI_File_set_view(file, length, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, code)
  call MPI_File_write_ordered(file, rank, 1, MPI_INTEGER, status, code)
  call MPI_File_sync(file, code)
  call MPI_Barrier(MPI_COMM_WORLD, code)
  call MPI_File_sync(file, code)
  offset = ranks - 1
  call MPI_File_read_at(file, offset, got, 1, MPI_INTEGER, status, code)
  good = good .and. got(1) == ranks - 1
  call MPI_File_close(file, code)
  call MPI_Type_free(filetype, code)
  call MPI_Type_free(part, code)
  if (good) then
    print '(a)', 'right'
  else
    print '(a)', 'wrong'
  end if
  call MPI_Finalize(code)
end program file_modes
