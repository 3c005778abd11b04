// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI's communicators (src/smpi/include/smpi_comm.hpp). */
#pragma once

#include <smpi/smpi.h>

namespace simgrid::smpi {

class Comm {
public:
  int id() const; ///< the same on all members, never reused; MPI_UNDEFINED while SMPI is creating the communicator
  int rank() const;
  int size() const;
  bool is_smp_comm() const; ///< created by SMPI for its own algorithms, or for MPI_Comm_split_type without LD_PRELOAD
  MPI_Group group();
  void ref();
  static void unref(MPI_Comm comm);
  MPI_Comm get_leaders_comm() const;
  MPI_Comm get_intra_comm() const;
  bool is_uniform() const;
  /* Interposed in binding/ranks/world_placeholder.cpp, as is unref(). */
  static void destroy(MPI_Comm comm);
  static MPI_Comm f2c(int number);
  MPI_Errhandler errhandler(); ///< adds a reference, which Errhandler::unref() drops
  void set_errhandler(MPI_Errhandler handler);
  MPI_Info info();
  void set_info(MPI_Info info);
  void add_rma_win(MPI_Win window);
  void remove_rma_win(MPI_Win window);
  void finish_rma_calls() const;
  void init_smp(); ///< discovers which ranks share a host; interposed in binding/ranks/hosts_of_ranks.cpp
  /* Interposed in binding/entries/communicator_making.cpp. */
  MPI_Comm split(int color, int key);
  int dup(MPI_Comm* made);
  /* Interposed in binding/tuning/message_numbers.cpp. */
  unsigned get_sent_messages_count(int sender, int receiver, int tag);
  void increment_sent_messages_count(int sender, int receiver, int tag);
  unsigned get_received_messages_count(int sender, int receiver, int tag);
  void increment_received_messages_count(int sender, int receiver, int tag);
};

} // namespace simgrid::smpi
