! SPDX-License-Identifier: LGPL-2.1-only
! Calls only functions of libgfortran that libweft.so replaces, so that linkers leave libgfortran out.
program only_open
  use mpi
  implicit none
  integer :: error
  call mpi_init(error)
  open(10, file='written.txt')
  close(10)
  open(10, file='no-such-input', status='old')
  call mpi_finalize(error)
end program
