// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI's requests (src/smpi/include/smpi_request.hpp), and the flags by which weft marks them. */
#pragma once

#include <simgrid/forward.h>
#include <smpi/smpi.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace simgrid::smpi {

/** Fields of a Request; checked in binding/run/request.cpp. */
struct RequestLayout {
  void* virtual_table;
  int f2c_id;
  bool deleted;
  std::string call_location;
  void* buffer;
  void* old_buffer;
  MPI_Datatype type;
  std::size_t size;
  aid_t source;
  aid_t destination;
  int tag;
  aid_t real_source;
  int real_tag;
  bool truncated;
  bool unmatched_types;
  std::size_t real_size;
  MPI_Comm comm;
  kernel::activity::ActivityImplPtr action; ///< activity for which SMPI waits and tests
  unsigned flags;
  bool detached;
  MPI_Request detached_sender; ///< receives: the sender's request; null unless a detached message has arrived
  int references;
  std::vector<unsigned> message_numbers;
  MPI_Op op;
  void* generalized;
  std::vector<MPI_Request> parts; ///< requests of a non-blocking collective
  s4u::Host* source_host;         ///< receives with MPI_ANY_SOURCE: host of the matched sender
};
/** Request flags: created but not started (MPI_REQ_PREPARED); complete (MPI_REQ_FINISHED). */
constexpr unsigned PREPARED_FLAG = 0x80;
constexpr unsigned FINISHED_FLAG = 0x100;
/** Request flags: persistent; not persistent; send; receive; non-blocking, synchronous and buffered send; one-sided;
 * generalized request, and its completion; matched; cancelled; non-blocking collective (MPI_REQ_PERSISTENT,
 * MPI_REQ_NON_PERSISTENT, MPI_REQ_SEND, MPI_REQ_RECV, MPI_REQ_ISEND, MPI_REQ_SSEND, MPI_REQ_BSEND, MPI_REQ_RMA,
 * MPI_REQ_GENERALIZED, MPI_REQ_COMPLETE, MPI_REQ_MATCHED, MPI_REQ_CANCELLED, MPI_REQ_NBC). */
constexpr unsigned PERSISTENT_FLAG             = 0x1;
constexpr unsigned NON_PERSISTENT_FLAG         = 0x2;
constexpr unsigned SEND_FLAG                   = 0x4;
constexpr unsigned RECEIVE_FLAG                = 0x8;
constexpr unsigned NONBLOCKING_SEND_FLAG       = 0x20;
constexpr unsigned SYNCHRONOUS_FLAG            = 0x40;
constexpr unsigned BUFFERED_FLAG               = 0x2000;
constexpr unsigned ONE_SIDED_FLAG              = 0x200;
constexpr unsigned GENERALIZED_FLAG            = 0x800;
constexpr unsigned COMPLETE_FLAG               = 0x1000;
constexpr unsigned MATCHED_FLAG                = 0x4000;
constexpr unsigned CANCELLED_FLAG              = 0x8000;
constexpr unsigned NONBLOCKING_COLLECTIVE_FLAG = 0x10000;
/** weft's own request flags, which SMPI ignores: reports its completion to a list (request_list.hpp); composed of other
 * requests (entries/requests/composed.hpp); for several sends (pooled_requests.hpp); reused request; message of
 * binding/point_to_point; data packed into a contiguous copy; a rank sleeps until it completes; complete; failed. */
constexpr unsigned LISTED_FLAG   = 0x800000;
constexpr unsigned COMPOSED_FLAG = 0x1000000;
constexpr unsigned SHARED_FLAG   = 0x2000000;
constexpr unsigned POOLED_FLAG   = 0x4000000;
constexpr unsigned OWN_FLAG      = 0x8000000;
constexpr unsigned PACKED_FLAG   = 0x10000000;
constexpr unsigned AWAITED_FLAG  = 0x20000000;
constexpr unsigned ENDED_FLAG    = 0x40000000;
constexpr unsigned FAILED_FLAG   = 0x80000000;
/** Returns the fields of a request that is not MPI_REQUEST_NULL. */
inline const RequestLayout& layout_of(MPI_Request request)
{
  return *reinterpret_cast<const RequestLayout*>(request);
}
/** Returns the fields of such a request for modification. */
inline RequestLayout& fields_of(MPI_Request request)
{
  return *reinterpret_cast<RequestLayout*>(request);
}
/** Throws unless a new request had the fields that RequestLayout expects. */
inline void require_layout(bool is_expected)
{
  if (not is_expected)
    throw std::logic_error("the layout of MPI requests in this SimGrid is unknown to weft; use SimGrid 4.1");
}
/** Returns whether weft's transport carries a request's message. */
inline bool is_own(MPI_Request request)
{
  return (layout_of(request).flags & OWN_FLAG) != 0;
}
/** Returns whether weft's transport carries a request's message and the message is pending. */
inline bool is_own_and_pending(MPI_Request request)
{
  return (layout_of(request).flags & (OWN_FLAG | ENDED_FLAG)) == OWN_FLAG;
}
/** Returns whether a request has been started and its completion has not been observed. */
inline bool is_active(MPI_Request request)
{
  return request != MPI_REQUEST_NULL && (layout_of(request).flags & (PREPARED_FLAG | FINISHED_FLAG)) == 0;
}
/** Returns whether a request sends or receives data of a one-sided call. */
inline bool is_one_sided(const RequestLayout& request)
{
  return (request.flags & ONE_SIDED_FLAG) != 0;
}
/** Flags of a request that represents a non-blocking collective. */
constexpr unsigned NONBLOCKING_COLLECTIVE_FLAGS = PERSISTENT_FLAG | NONBLOCKING_COLLECTIVE_FLAG;

class Request {
public:
  /* Interposed in binding/point_to_point/waits.cpp, as is test(). */
  static int wait(MPI_Request* request, MPI_Status* status);
  /** Waits for one of the requests and returns its index. */
  static int waitany(int count, MPI_Request* requests, MPI_Status* status);
  static int waitall(int count, MPI_Request* requests, MPI_Status* statuses);
  void init_buffer(int count);                                       ///< packs the data of a derived type
  static bool match_types(MPI_Datatype sent, MPI_Datatype received); ///< warns of a mismatch
  /** Drops a reference; the last one frees the request and sets MPI_REQUEST_NULL. Interposed in
   * binding/point_to_point/pooled_requests.cpp. */
  static void unref(MPI_Request* request);
  /** Sends and receives without checks: SMPI's own messages have negative tags. Interposed in
   * binding/entries/requests/self_messages.cpp. */
  static void sendrecv(const void* sent, int send_count, MPI_Datatype send_type, int to, int send_tag, void* received,
                       int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status);
  /** Returns a persistent receive that has not been started. */
  static MPI_Request irecv_init(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm);
  /** Tests whether a request is complete, and finishes it if so. */
  static int test(MPI_Request* request, MPI_Status* status, int* flag);
  /* Interposed in binding/entries/requests/some_requests.cpp. */
  static int testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status);
  static int testsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses);
  static int waitsome(int count, MPI_Request* requests, int* indices,
                      MPI_Status* statuses); ///< returns the number of completed requests
  /** Returns the messages of a non-blocking SMPI collective. */
  std::vector<MPI_Request> get_nbc_requests() const;
  /** Finishes the messages, or, if @p test is set, does so only if all are complete; interposed in
   * binding/entries/requests/composed.cpp. */
  static int finish_nbc_requests(MPI_Request* request, int test);
  /** Interposed in binding/point_to_point/probes.cpp. */
  static void iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
  /** Interposed in binding/entries/polls/polls.cpp. */
  static void probe(int source, int tag, MPI_Comm comm, MPI_Status* status);
  /* Interposed in binding/entries/request_lifecycle.cpp. */
  void start();                                                      ///< sends, or starts to receive
  void cancel();                                                     ///< for an unmatched message
  static void finish_wait(MPI_Request* request, MPI_Status* status); ///< deactivates or frees a complete request
};

} // namespace simgrid::smpi
