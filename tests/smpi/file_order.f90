! SPDX-License-Identifier: LGPL-2.1-only
! Every rank opens a file; the first one computes and writes.
program file_order
  use mpi
  implicit none
  integer :: rank, code, each
  double precision, volatile :: total
  character(len=8) :: text

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  open(unit=10, file='result', status='replace')
  if (rank == 0) then
    total = 0
    do each = 1, 30000000
      total = total + 1d0 / each
    end do
    write(10, '(a)') 'computed'
    flush(10)
  end if
  call MPI_Barrier(MPI_COMM_WORLD, code)
  close(10)
  if (rank == 0) then
    text = 'nothing'
    open(unit=11, file='result', status='old', iostat=code)
    if (code == 0) read(11, '(a)', iostat=code) text
    print '(a)', text
  end if
  call MPI_Finalize(code)
end program
