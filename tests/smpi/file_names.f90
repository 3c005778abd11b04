! SPDX-License-Identifier: LGPL-2.1-only
! MPI and Fortran's statements see one set of files. Prints "N wrong".
program file_names
  use mpi
  implicit none
  integer :: file, rank, code, unit, wrong, all, status(MPI_STATUS_SIZE), bytes
  logical :: there
  character(len=4) :: text

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  wrong = 0
  call MPI_File_open(MPI_COMM_WORLD, 'by-mpi', ior(MPI_MODE_CREATE, MPI_MODE_WRONLY), MPI_INFO_NULL, file, code)
  if (rank == 0) call MPI_File_write(file, 'word', 4, MPI_CHARACTER, status, code)
  call MPI_File_close(file, code)
  inquire(file='by-mpi', exist=there, size=bytes)
  if (.not. there .or. bytes /= 4) wrong = wrong + 1
  open(newunit=unit, file='by-mpi', status='old', access='stream', form='unformatted', action='read')
  read(unit) text
  close(unit)
  if (text /= 'word') wrong = wrong + 1
  call MPI_Barrier(MPI_COMM_WORLD, code)
  if (rank == 0) then
    open(newunit=unit, file='by-mpi', status='old')
    close(unit, status='delete')
    open(newunit=unit, file='by-fortran', status='new', access='stream', form='unformatted')
    write(unit) 'text'
    close(unit)
  end if
  call MPI_Barrier(MPI_COMM_WORLD, code)
  call MPI_File_open(MPI_COMM_WORLD, 'by-mpi', MPI_MODE_RDONLY, MPI_INFO_NULL, file, code)
  if (code == MPI_SUCCESS) wrong = wrong + 1
  text = ''
  call MPI_File_open(MPI_COMM_WORLD, 'by-fortran', ior(MPI_MODE_RDONLY, MPI_MODE_DELETE_ON_CLOSE), &
                     MPI_INFO_NULL, file, code)
  call MPI_File_read_all(file, text, 4, MPI_CHARACTER, status, code)
  call MPI_File_close(file, code)
  if (text /= 'text') wrong = wrong + 1
  inquire(file='by-fortran', exist=there)
  if (there) wrong = wrong + 1
  call MPI_Reduce(wrong, all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, code)
  if (rank == 0) print '(i0, a)', all, ' wrong'
  call MPI_Finalize(code)
end program
