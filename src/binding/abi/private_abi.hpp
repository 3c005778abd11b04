// SPDX-License-Identifier: LGPL-2.1-only
/* Symbols that libsimgrid exports without an installed header. No other file of weft names such
 * symbols.
 *
 * They were taken from SimGrid 4.1's src/smpi/include: smpi_coll.hpp, smpi_comm.hpp,
 * smpi_datatype.hpp, smpi_f2c.hpp, smpi_group.hpp, smpi_op.hpp, smpi_request.hpp. Only non-virtual
 * members are declared, so that these incomplete classes imply no layout; the exception is
 * RequestLayout, which binding/run/request.cpp checks at run time. Undocumented behaviour of SMPI is documented here as
 * well. */
#pragma once

#include <simgrid/forward.h>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u/Link.hpp>
#include <simgrid/version.h>
#include <smpi/smpi.h>
#include <xbt/Extendable.hpp>
#include <xbt/xbt_os_time.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

static_assert(SIMGRID_VERSION >= 40000 && SIMGRID_VERSION < 50000,
              "weft knows the private symbols of SimGrid 4; check this header against another version's sources");

/** Line of the platform file that SimGrid is parsing (src/kernel/xml/platf_sax_cb.cpp). */
extern int
    simgrid_parse_lineno; // NOLINT(readability-identifier-naming,cppcoreguidelines-avoid-non-const-global-variables)

// Variables whose addresses represent C's constants in Fortran (src/smpi/mpi/smpi_f2c.cpp).
// NOLINTBEGIN(readability-identifier-naming)
extern const int mpi_bottom_;
extern const int mpi_in_place_;
extern const int mpi_status_ignore_;
extern const int mpi_statuses_ignore_;
// NOLINTEND(readability-identifier-naming)

namespace simgrid::kernel::activity {

/** Declared in src/kernel/activity/ActivityImpl.hpp. */
class ActivityImpl {
public:
  const char* get_state_str() const; ///< "DONE", "LINK_FAILURE", "SRC_HOST_FAILURE", …
};

/** Declared in src/kernel/activity/CommImpl.hpp: an ActivityImpl, at the same address. */
class CommImpl {
public:
  CommImpl& set_size(double bytes); ///< before it starts; Comm::set_payload_size() takes whole bytes
  CommImpl* start(); ///< once both sides have posted; interposed in binding/tuning/flow_coalescing.cpp, as is cancel()
  void cancel();
  bool test(actor::ActorImpl*
                issuer); ///< returns whether it has ended; interposed in binding/entries/requests/tested_messages.cpp
  void finish();         ///< called at its end; interposed in binding/entries/polls.cpp
};

/** Declared in src/kernel/activity/MessImpl.hpp: an ActivityImpl, at the same address. */
class MessImpl {
public:
  void cancel(); ///< once it has ended: removes it from both actors
  void finish(); ///< interposed in binding/entries/polls.cpp
};

/** Returns whether an activity has ended, successfully or not, as ActivityImpl::wait_any_for sees it. */
inline bool has_ended(const ActivityImpl& activity)
{
  const std::string_view state = activity.get_state_str();
  return state != "WAITING" && state != "RUNNING";
}

} // namespace simgrid::kernel::activity

namespace simgrid::kernel::actor {

/** Declared in src/kernel/actor/ActorImpl.hpp. */
class ActorImpl {
public:
  void simcall_answer();      ///< resumes after the current simcall; simcall.hpp says when
  void yield();               ///< called by the actor itself: others run until it is in the run list again
  void cleanup_from_kernel(); ///< called after the actor's end; interposed in binding/ranks/actors_by_number.cpp
  void suspend();             ///< until it is resumed; suspends its activities too
};

} // namespace simgrid::kernel::actor

namespace simgrid::kernel::context {

/** Declared in src/kernel/context/Context.hpp. */
class Context {
public:
  static Context* self();                ///< the current context
  static void set_current(Context* now); ///< null: no context, which simcalls interpret as the kernel
};

} // namespace simgrid::kernel::context

namespace simgrid::kernel {

/** Declared in src/kernel/EngineImpl.hpp. */
class EngineImpl {
  static EngineImpl* instance_; // NOLINT(readability-identifier-naming): SimGrid's name

public:
  static EngineImpl& get() { return *instance_; }
  /** Schedules an actor that has yielded, and is not in the list yet, for the next round. */
  void add_actor_to_run_list_no_check(actor::ActorImpl* actor);
  actor::ActorImpl* get_actor_by_pid(aid_t pid); ///< null if it has ended; interposed in actors_by_number.cpp
};

} // namespace simgrid::kernel

namespace simgrid::kernel::lmm {

/** System of equations of a model, declared in src/kernel/lmm/System.hpp. */
class System {
public:
  /** Adds @p weight times the value of @p variable to its load on @p link; @p anew: as a separate
   * term. Interposed in binding/tuning/flow_coalescing.cpp, as are Model's extract_done_action and
   * extract_failed_action. */
  void expand(Constraint* link, Variable* variable, double weight, bool anew);
};

} // namespace simgrid::kernel::lmm

namespace simgrid::kernel::resource {

/** Returns the action that the network model is creating, while it asks for its latency factors:
 * SimGrid's models create an action before that and append it to the started ones
 * (src/kernel/resource/models/network_cm02.cpp, Action.cpp). At other times, returns the most
 * recently started action; null if none is in progress. A NetworkModel is a Model, and a
 * NetworkAction an Action, at the same address (NetworkModel.hpp). */
inline Action* latest_action(NetworkModel& model)
{
  Action::StateSet& started = *reinterpret_cast<Model&>(model).get_started_action_set();
  return started.empty() ? nullptr : &started.back();
}

/** Calls @p told for each network action that ends, successfully or not. */
inline void on_end_of_action(const std::function<void(const void* action)>& told)
{
  s4u::Link::on_communication_state_change_cb([told](NetworkAction& network_action, Action::State) {
    const auto& action = reinterpret_cast<const Action&>(network_action);
    if (action.get_state() == Action::State::FINISHED || action.get_state() == Action::State::FAILED)
      told(&action);
  });
}

} // namespace simgrid::kernel::resource

namespace simgrid::smpi {

/** State of a flow whose last byte has arrived. */
constexpr const char* FLOW_ARRIVED = "DONE";

struct s_mpi_coll_description_t { // NOLINT(readability-identifier-naming): SMPI's name
  std::string name;
  std::string description;
  void* coll;
};

namespace colls {
/** Returns SMPI's registry of algorithms for one collective; an entry added before the selection
 * can be selected. */
std::vector<s_mpi_coll_description_t>* get_smpi_coll_descriptions(const std::string& collective);
/** Algorithms, entries of that registry, that PMPI_Allreduce and others call after checking their arguments. */
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): SMPI's
extern int (*reduce)(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
extern int (*allreduce)(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
extern int (*bcast)(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
extern int (*allgather)(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                        MPI_Datatype type, MPI_Comm comm);
extern int (*reduce_scatter)(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm);
extern int (*allgatherv)(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* counts,
                         const int* displacements, MPI_Datatype type, MPI_Comm comm);
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)
/** Returns whether PMPI_I… has been called for a blocking call: SMPI's MPI_REQUEST_IGNORED (private.hpp). */
inline bool is_blocking(const MPI_Request* request)
{
  return reinterpret_cast<std::intptr_t>(request) == -100;
}
/** Functions that PMPI_I… call; interposed in binding/entries/interposed.cpp. @p external is 0 if
 * SMPI itself calls, otherwise 1. */
int iallreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
               MPI_Request* request, int external);
int ireduce_scatter(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                    MPI_Request* request, int external);
int iallgatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* counts,
                const int* displacements, MPI_Datatype type, MPI_Comm comm, MPI_Request* request, int external);
int ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request, int external);
} // namespace colls

/** SMPI's Allreduce by recursive doubling (src/smpi/colls/allreduce/allreduce-rdb.cpp). */
// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier): SMPI's name
int allreduce__rdb(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/** SMPI's Bcast by a k-nomial tree of radix 4 (src/smpi/colls/bcast/bcast-mvapich-smp.cpp). */
// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier): SMPI's name
int bcast__mvapich2_knomial_intra_node(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);

/** Collectives that Comm::init_smp() uses to discover which ranks share a host. */
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): SMPI's names
int allgather__ring(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                    MPI_Datatype type, MPI_Comm comm);
int bcast__scatter_LR_allgather(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
int allreduce__default(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
/** SMPI's pairwise exchanges for any number of ranks (src/smpi/colls/alltoall/alltoall-ring.cpp,
 * and alltoallv's). */
int alltoall__ring(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                   MPI_Datatype type, MPI_Comm comm);
int alltoallv__ring(const void* send, const int* send_counts, const int* send_displacements, MPI_Datatype send_type,
                    void* receive, const int* counts, const int* displacements, MPI_Datatype type, MPI_Comm comm);
/** SMPI's Scatter by sequential messages from the root (src/smpi/colls/scatter/scatter-ompi.cpp). */
int scatter__ompi_basic_linear(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                               MPI_Datatype type, int root, MPI_Comm comm);
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

/** SMPI's extension of an actor (smpi_actor.hpp). */
class ActorExt {
public:
  static xbt::Extension<s4u::Actor, ActorExt> EXTENSION_ID; // NOLINT(readability-identifier-naming): SimGrid's name
  int sampling() const;                                     ///< true if it is inside an SMPI_SAMPLE_ block
  int initializing() const;
  int initialized() const;
  int finalized() const;
  int finalizing() const;
  bool replaying() const;      ///< true if it replays a trace, without message data
  MPI_Comm comm_world() const; ///< null before MPI_Init
  s4u::ActorPtr get_actor();
  /* Interposed in binding/tuning/started_ranks.cpp. */
  s4u::Mailbox* mailbox_small();
  s4u::MutexPtr mailboxes_mutex() const;
  xbt_os_timer_t timer();
  static void init();
};

/** Fields of an ActorExt, up to those that are created on demand; started_ranks.cpp checks the layout. */
struct ActorExtLayout {
  double simulated;
  s4u::Mailbox* mailbox;
  s4u::Mailbox* mailbox_small;
  s4u::MutexPtr mailboxes_mutex;
  xbt_os_timer_t timer;
};

/** SMPI's extension of a host. */
class Host {
public:
  static xbt::Extension<s4u::Host, Host> EXTENSION_ID; // NOLINT(readability-identifier-naming): SimGrid's name
  double osend(std::size_t size, s4u::Host* from, s4u::Host* to) const;
  double oisend(std::size_t size, s4u::Host* from, s4u::Host* to) const;
  double orecv(std::size_t size, s4u::Host* from, s4u::Host* to) const;
};

class Group {
public:
  aid_t actor(int rank) const;                                  ///< negative if there is no such rank
  int rank(aid_t actor) const;                                  ///< MPI_UNDEFINED if the actor is not a member
  int incl(int count, const int* ranks, MPI_Group* made) const; ///< PMPI_Group_incl first compares all pairs of ranks
  void set_mapping(aid_t actor, int rank);
  void ref();
  static void unref(MPI_Group group);
};

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

/** Declared in src/smpi/include/smpi_errhandler.hpp. */
class Win {
public:
  static int keyval_id_; // NOLINT(readability-identifier-naming): SMPI's name; the next keyval
  MPI_Comm comm() const;
  /* Interposed in binding/entries/windows/locks.cpp. */
  int lock(int type, int target, int assertion);
  int unlock(int target);
  int compare_and_swap(const void* value, const void* compared, void* result, MPI_Datatype type, int target,
                       MPI_Aint displacement);
  int put(const void* origin, int origin_count, MPI_Datatype origin_type, int target, MPI_Aint displacement,
          int target_count, MPI_Datatype target_type, MPI_Request* request);
  int flush(int target);
  int start(MPI_Group group, int assertion);
};

class Errhandler {
public:
  void call(MPI_Comm comm, int code) const; ///< only for a function of the program
  void call(MPI_File file, int code) const;
  void ref();
  static void unref(Errhandler* handler);
};

class Datatype {
public:
  static int keyval_id_; // NOLINT(readability-identifier-naming): SMPI's name; the next keyval
  /** Constructs a predefined datatype in the storage of a DatatypeLayout. */
  Datatype(const char* name, int number, int size, MPI_Aint low, MPI_Aint high, int flags);
  bool is_valid() const; ///< true if it has been committed
  void ref();
  static void unref(MPI_Datatype datatype);
  /** Copies data and leaves the gaps of the receiving type untouched. Either type may be MPI_BYTE: packed. */
  static int copy(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                  MPI_Datatype to_type);
};

/** Base class of the objects behind handles, which Fortran knows by number
 * (src/smpi/include/smpi_f2c.hpp). Interposed in binding/tuning/request_numbers.cpp. */
class F2C {
  static std::unique_ptr<std::unordered_map<unsigned, F2C*>> f2c_lookup_; // NOLINT(readability-identifier-naming)

public:
  static void free_f(int number) { f2c_lookup_->erase(static_cast<unsigned>(number)); }
  int add_f();                 ///< assigns a number
  int c2f();                   ///< its number, assigned now if it has none
  static F2C* f2c(int number); ///< null for an unknown number
};

/** First fields of the objects behind handles (F2C), in communicators and requests. */
struct HandleLayout {
  void* virtual_table;
  int f2c_id;
  bool deleted; ///< freed, but still in use within SMPI
};

/** Fields of a Datatype, in SimGrid 4.0 and 4.1; the attributes are those of Keyval
 * (src/smpi/include/smpi_keyvals.hpp). */
struct DatatypeLayout {
  HandleLayout handle;
  std::string call_location;
  std::unordered_map<int, void*> attributes;
  std::string name;
  std::string id;
  std::size_t size;
  MPI_Aint low;
  MPI_Aint high;
  unsigned flags;
  int references;
  void* contents;
  MPI_Datatype original; ///< of a duplicate, which matches the same types as the original
};
/** Results of MPI_Type_get_contents (Datatype_contents). */
struct DatatypeContents {
  int combiner;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
};
/** Datatype flag: committed (DT_FLAG_COMMITED). */
constexpr unsigned COMMITTED_FLAG = 0x2;
/** Datatype flag: cannot be freed (DT_FLAG_PREDEFINED). */
constexpr unsigned PREDEFINED_FLAG = 0x40;
/** Datatype flag: SMPI packs and unpacks the data (DT_FLAG_DERIVED). */
constexpr unsigned DERIVED_FLAG = 0x800;

/** Number of an object that has none yet. */
constexpr int UNNUMBERED = -1;

/** Fields of a Request. */
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
/** Flags of a request that represents a non-blocking collective: MPI_REQ_PERSISTENT | MPI_REQ_NBC. */
constexpr unsigned NONBLOCKING_COLLECTIVE_FLAGS = 0x10001;

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
  /* Interposed in binding/entries/polls.cpp. */
  void start(); ///< sends, or starts to receive
  static void probe(int source, int tag, MPI_Comm comm, MPI_Status* status);
  /** Deactivates or frees a complete request; interposed in binding/entries/requests/cancelled.cpp. */
  static void finish_wait(MPI_Request* request, MPI_Status* status);
  void cancel(); ///< for an unmatched message; interposed in binding/entries/requests/cancelled.cpp
};

class Status {
public:
  static void empty(MPI_Status* status); ///< may be MPI_STATUS_IGNORE
};

class Op {
public:
  /** Computes inout = in op inout, element by element. */
  void apply(const void* in, void* inout, const int* count, MPI_Datatype datatype) const;
};

} // namespace simgrid::smpi

/** Declared in src/instr/instr_smpi.hpp; interposed in binding/tuning/message_numbers.cpp. */
class smpi_trace_call_location_t { // NOLINT(readability-identifier-naming): SMPI's name
public:
  std::string get_call_location() const;
};
