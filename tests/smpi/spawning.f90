! SPDX-License-Identifier: LGPL-2.1-only
! MPI_Comm_spawn and MPI_Comm_spawn_multiple in Fortran: spawned ranks check their arguments and answer.
program spawning
  use mpi_f08
  implicit none
  type(MPI_Comm) :: parent, inter
  integer :: rank, remote, code, number, words
  integer :: codes(3)
  character(len=20) :: argv(3), argvs(2, 3), commands(2), word
  character(len=500) :: self
  call MPI_Init()
  call MPI_Comm_get_parent(parent)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  words = command_argument_count()
  if (parent == MPI_COMM_NULL) then
    call get_command_argument(0, self)
    argv = [character(len=20) :: 'one', 'two words', ' ']
    call MPI_Comm_spawn(trim(self), argv, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, codes(1:2))
    if (any(codes(1:2) /= MPI_SUCCESS)) print *, 'wrong codes'
    call add(2 * 2)
    commands = './spawning'
    argvs(1, :) = [character(len=20) :: 'first', ' ', ' ']
    argvs(2, :) = [character(len=20) :: 'a', 'b', ' ']
    call MPI_Comm_spawn_multiple(2, commands, argvs, [1, 2], [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_WORLD, &
                                 inter, MPI_ERRCODES_IGNORE)
    call add(1 + 2 * 2)
    call MPI_Comm_spawn(trim(self), MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE)
    call add(0)
    call get_command_argument(1, word)
    if (words /= 1 .or. word /= 'parent') print *, 'wrong arguments of the parent'
    print '(a)', 'parent is done'
  else
    inter = parent
    if (words == 2) then
      call get_command_argument(2, word)
      if (word /= 'two words' .and. word /= 'b') print *, 'wrong arguments'
    end if
    call MPI_Reduce(words, code, 1, MPI_INTEGER, MPI_SUM, 0, parent)
    call MPI_Comm_disconnect(inter)
  end if
  call MPI_Finalize()
contains
  subroutine add(expected)
    integer, intent(in) :: expected
    call MPI_Reduce(number, code, 1, MPI_INTEGER, MPI_SUM, merge(MPI_ROOT, MPI_PROC_NULL, rank == 0), inter)
    call MPI_Comm_remote_size(inter, remote)
    if (rank == 0 .and. code /= expected) print *, 'wrong sum', code, 'of', remote
    call MPI_Comm_disconnect(inter)
  end subroutine add
end program spawning
