! SPDX-License-Identifier: LGPL-2.1-only
! Prints how far gfortran's clocks move while each rank sleeps: the first 1000 s, the second 2000 s.
program simulated_clocks
  use mpi
  use, intrinsic :: iso_fortran_env, only: int16, int32, int64
  implicit none
  integer :: ierror, rank, i
  integer(int32) :: count_4(2), rate_4
  integer(int64) :: count_8(2), rate_8
  integer(int16) :: count_2
  integer :: date(8, 2), other(2), mclocks(2)
  real :: cpu(2), rate_real, of_etime(2), etimes(2), of_dtime(2), dtimes(2), seconds(2)
  double precision :: cpu_8(2), wtime(2)
  character(10) :: text

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  do i = 1, 2
    call system_clock(count_4(i), rate_4)
    call system_clock(count_8(i), rate_8)
    call system_clock(count_2, rate_real)
    call cpu_time(cpu(i))
    call cpu_time(cpu_8(i))
    call date_and_time(time=text, values=date(:, i))
    call etime(of_etime, etimes(i))
    dtimes(i) = dtime(of_dtime)
    call second(seconds(i))
    other(i) = time()
    mclocks(i) = mclock()
    wtime(i) = MPI_Wtime()
    if (i == 1) call sleep(1000 * (rank + 1))
  end do
  write (*, '(a, i0, 12(a, i0))') 'rank ', rank, ': count_4 ', (count_4(2) - count_4(1)) / rate_4, ' count_8 ', &
      (count_8(2) - count_8(1)) / rate_8, ' cpu ', nint(cpu(2) - cpu(1)), ' cpu_8 ', nint(cpu_8(2) - cpu_8(1)), &
      ' date ', minutes(2) - minutes(1), ' etime ', nint(etimes(2) - etimes(1)), ' dtime ', nint(dtimes(2)), &
      ' second ', nint(seconds(2) - seconds(1)), ' time ', other(2) - other(1), ' mclock ', &
      (mclocks(2) - mclocks(1)) / 1000000, ' wtime ', nint(wtime(2) - wtime(1))
  call MPI_Finalize(ierror)

contains
  integer function minutes(i)
    integer, intent(in) :: i
    minutes = date(3, i) * 1440 + date(5, i) * 60 + date(6, i)
  end function minutes
end program simulated_clocks
