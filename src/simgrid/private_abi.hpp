/* Symbols that libsimgrid exports without an installed header. Nothing else in weft names such symbols.
 *
 * They were read in SimGrid 4.1's src/smpi/include: smpi_coll.hpp, smpi_comm.hpp, smpi_group.hpp, smpi_op.hpp. Only
 * members that are not virtual are declared, so that these incomplete classes say nothing about layout. What SMPI does
 * without saying so stands here too.
 */
#pragma once

#include <simgrid/version.h>
#include <smpi/smpi.h>

#include <string>
#include <vector>

static_assert(SIMGRID_VERSION >= 40000 && SIMGRID_VERSION < 50000,
              "weft knows the private symbols of SimGrid 4; check this header against another version's sources");

namespace simgrid::smpi {

struct s_mpi_coll_description_t { // NOLINT(readability-identifier-naming): SMPI's name
  std::string name;
  std::string description;
  void* coll;
};

namespace colls {
/** The registry of SMPI's algorithms for one collective; an entry added before the selection can be selected. */
std::vector<s_mpi_coll_description_t>* get_smpi_coll_descriptions(const std::string& collective);
} // namespace colls

/** What SMPI adds to every message (src/smpi/mpi/smpi_request.cpp): "tag+dest+communicator", in bytes. */
constexpr double MESSAGE_ENVELOPE = 16;

class Group {
public:
  aid_t actor(int rank) const;
};

class Comm {
public:
  int id() const; ///< the same at all members, never reused; MPI_UNDEFINED while SMPI is still making it
  int rank() const;
  int size() const;
  MPI_Group group();
};

class Op {
public:
  /** inout = in op inout, element by element. */
  void apply(const void* in, void* inout, const int* count, MPI_Datatype datatype) const;
};

} // namespace simgrid::smpi
