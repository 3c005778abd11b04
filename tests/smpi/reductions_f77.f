c SPDX-License-Identifier: LGPL-2.1-only
C     Integer sums from FORTRAN 77: from a common block, in place, of a
C     scalar; the largest with MPI_MAX.
      program redf77
      implicit none
      include 'mpif.h'
      integer large
      parameter (large = 3000)
      integer rank, ranks, error, i, wrong, scalar
      integer send(large), receiv(large)
      common /arrays/ send, receiv

      call MPI_INIT(error)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, error)
      wrong = 0
      do 10 i = 1, large
        send(i) = rank + i
   10 continue
      call MPI_ALLREDUCE(send, receiv, large, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, error)
      do 20 i = 1, large
        if (receiv(i) .ne. i * ranks + ranks * (ranks - 1) / 2) then
          wrong = wrong + 1
        end if
   20 continue
      call MPI_ALLREDUCE(MPI_IN_PLACE, send, large, MPI_INTEGER,
     &                   MPI_SUM, MPI_COMM_WORLD, error)
      do 30 i = 1, large
        if (send(i) .ne. receiv(i)) wrong = wrong + 1
   30 continue
      call MPI_ALLREDUCE(rank, scalar, 1, MPI_INTEGER, MPI_MAX,
     &                   MPI_COMM_WORLD, error)
      if (scalar .ne. ranks - 1) wrong = wrong + 1
      write (*, '(a, i3, a, i3, a, i6, a)') 'rank', rank, ' of', ranks,
     &      ':', wrong, ' wrong'
      call MPI_FINALIZE(error)
      if (wrong .ne. 0) stop 1
      end
