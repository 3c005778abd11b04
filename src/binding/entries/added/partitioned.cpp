// SPDX-License-Identifier: LGPL-2.1-only
/* Partitioned messages (MPI 4.1, chapter 4): each partition of the sender is one transfer.
 *
 * Sends and receives of a pair of ranks, a communicator and a tag are matched in the order of their initialization, and
 * never with other messages. A partition leaves once the sender has marked it ready and the receiver has started its
 * request, as in libraries that write into the receiver's buffer; both sides complete when all partitions have arrived.
 * The two sides may have different numbers
 * of partitions. Transfers use weft's network, whatever carries other messages. */
#include "binding/abi/kernel_scope.hpp"
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/datatypes.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/abi/smpi/host_extensions.hpp"
#include "binding/abi/smpi/requests.hpp"
#include "binding/data/elements.hpp"
#include "binding/data/exchange.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/entries/frame/own_function.hpp"
#include "binding/entries/polls/idle_calls.hpp"
#include "binding/entries/requests/persistent.hpp"
#include "binding/messages/host_network.hpp"
#include "binding/ranks/communicator_numbers.hpp"
#include "binding/ranks/places.hpp"
#include "binding/run/diagnosis.hpp"
#include "binding/run/network_failure.hpp"
#include "binding/run/request.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <simgrid/s4u.hpp>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace weft {
namespace {

/** One side's buffer in partitions. */
struct PartitionedBuffer {
  std::byte* start   = nullptr;
  int partitions     = 0;
  int count          = 0; ///< elements of a partition
  MPI_Datatype type  = MPI_DATATYPE_NULL;
  std::size_t length = 0; ///< bytes of data of a partition

  std::byte* partition(int number) const { return start + static_cast<std::int64_t>(number) * count * extent_of(type); }
  std::size_t bytes() const { return length * static_cast<std::size_t>(partitions); }
};

/** A matched pair of requests. */
class PartitionedChannel {
public:
  struct Side {
    PartitionedBuffer buffer;
    simgrid::s4u::Host* host              = nullptr; ///< null until the rank has initialized its request
    int vertex                            = -1;
    bool active                           = false;
    std::shared_ptr<RequestSignal> signal = {};
  };
  Side sender;
  Side receiver;
  int world = 0; ///< index of the job's world

  bool matched() const { return sender.host && receiver.host; }
  /** Returns whether the sender has marked a partition ready in this round. */
  bool is_ready(int partition) const { return ready_[static_cast<std::size_t>(partition)]; }
  void start(Side& side, MPI_Request* active);
  void mark_ready(int partition);
  /** Sends the partitions that both sides allow. */
  void proceed();
  void arrive(int partition);
  /** Returns whether a partition of the receiver has arrived. */
  bool has_arrived(int partition) const;

private:
  std::vector<bool> ready_;   // by the sender's partition
  std::vector<bool> sent_;    // likewise
  std::vector<bool> arrived_; // likewise
  int missing_ = 0;           // partitions that have not arrived
  std::vector<std::byte> packed_;
  std::vector<bool> delivered_; // by the receiver's partition, if the data is packed

  /** Returns whether all of the sender's partitions that a partition of the receiver contains are @p marked. */
  bool are_all(const std::vector<bool>& marked, int partition) const;
  void copy_data(int partition);
  void end_round();
};

/** Transfers in flight. */
class PartitionTransfers : public Receiving, public Due {
  struct Transfer {
    PartitionedChannel* channel;
    int partition;
  };
  std::vector<Transfer> transfers_;
  std::vector<std::uint64_t> idle_;
  std::vector<std::uint64_t> leaving_;

  static HostNetwork& network() { return current_run().host_network(); }

public:
  static PartitionTransfers& get()
  {
    static auto& all = *new PartitionTransfers; // transfers may outlive static objects
    return all;
  }

  // Sends within the kernel's turn at the same instant, so that the rank does not yield.
  void send(PartitionedChannel& channel, int partition)
  {
    if (idle_.empty()) {
      idle_.push_back(transfers_.size());
      transfers_.emplace_back();
    }
    const std::uint64_t number = idle_.back();
    idle_.pop_back();
    transfers_[number] = {&channel, partition};
    leaving_.push_back(number);
    network().message_leaves();
    if (leaving_.size() > 1)
      return;
    const KernelScope kernel;
    network().call_after(Seconds(), *this, 0);
  }
  void due(std::uint64_t /*what*/) override
  {
    for (const std::uint64_t number : std::exchange(leaving_, {})) {
      const auto& [channel, partition] = transfers_[number];
      const Bytes size                 = Bytes(static_cast<double>(channel->sender.buffer.length)) + SMPI_ENVELOPE;
      network()
          .messages_of(channel->world)
          .send(channel->sender.vertex, channel->receiver.vertex, size, UNKNOWN_PART, *this, number);
    }
  }
  void arrived(std::uint64_t number) override
  {
    network().message_ends();
    const auto [channel, partition] = transfers_[number];
    idle_.push_back(number);
    channel->arrive(partition);
  }
  void failed(std::uint64_t number, const std::string& why) override
  {
    network().message_ends();
    idle_.push_back(number);
    end_job_for_failure(current_run(), transfers_[number].channel->world, why, "a partition of a message");
  }
};

void PartitionedChannel::start(Side& side, MPI_Request* active)
{
  if (&side == &sender) {
    const auto partitions = static_cast<std::size_t>(side.buffer.partitions);
    ready_.assign(partitions, false);
    sent_.assign(partitions, false);
    arrived_.assign(partitions, false);
    missing_ = side.buffer.partitions;
  }
  side.active = true;
  side.signal = std::make_shared<RequestSignal>();
  *active     = RequestSignal::make_request(side.signal, collective("barrier"));
  proceed();
}

void PartitionedChannel::mark_ready(int partition)
{
  ready_[static_cast<std::size_t>(partition)] = true;
  proceed();
}

void PartitionedChannel::proceed()
{
  if (not matched() || not sender.active || not receiver.active)
    return;
  if (sender.buffer.bytes() != receiver.buffer.bytes())
    current_run().abort("error", "a partitioned send of " + std::to_string(sender.buffer.bytes()) +
                                     " bytes matches a partitioned receive of " +
                                     std::to_string(receiver.buffer.bytes()));
  delivered_.resize(static_cast<std::size_t>(receiver.buffer.partitions));
  for (std::size_t partition = 0; partition < ready_.size(); ++partition)
    if (ready_[partition] && not sent_[partition]) {
      sent_[partition] = true;
      copy_data(static_cast<int>(partition)); // here, because SMPI copies derived types for ranks only
      PartitionTransfers::get().send(*this, static_cast<int>(partition));
    }
}

bool PartitionedChannel::are_all(const std::vector<bool>& marked, int partition) const
{
  if (sender.buffer.length == 0)
    return std::ranges::find(marked, false) == marked.end();
  const std::size_t first = static_cast<std::size_t>(partition) * receiver.buffer.length / sender.buffer.length;
  const std::size_t end   = (static_cast<std::size_t>(partition) + 1) * receiver.buffer.length;
  for (std::size_t part = first; part < marked.size() && part * sender.buffer.length < end; ++part)
    if (not marked[part])
      return false;
  return true;
}

bool PartitionedChannel::has_arrived(int partition) const
{
  return not receiver.active || (sender.active && are_all(arrived_, partition));
}

void PartitionedChannel::arrive(int partition)
{
  arrived_[static_cast<std::size_t>(partition)] = true;
  if (--missing_ == 0)
    end_round();
}

void PartitionedChannel::copy_data(int partition)
{
  const PartitionedBuffer& from = sender.buffer;
  const PartitionedBuffer& to   = receiver.buffer;
  if (from.length == 0 || weft::is_shared(from.start) || weft::is_shared(to.start))
    return;
  const std::size_t place = static_cast<std::size_t>(partition) * from.length;
  if (is_plain(from.type) && is_plain(to.type)) {
    std::memcpy(to.start + place, from.start + place, from.length);
    return;
  }
  packed_.resize(from.bytes());
  pack(from.partition(partition), from.count, from.type, packed_.data() + place);
  for (int part = 0; part < to.partitions; ++part)
    if (not delivered_[static_cast<std::size_t>(part)] && are_all(sent_, part)) {
      delivered_[static_cast<std::size_t>(part)] = true;
      unpack(packed_.data() + static_cast<std::size_t>(part) * to.length, to.partition(part), to.count, to.type);
    }
}

void PartitionedChannel::end_round()
{
  delivered_.assign(delivered_.size(), false);
  for (Side* const side : {&sender, &receiver}) {
    side->active = false;
    std::exchange(side->signal, nullptr)->fire();
  }
}

/** Channels that only one side has initialized, by sender, receiver, communicator and tag. */
class UnmatchedChannels {
  using Key = std::tuple<aid_t, aid_t, int, int>;
  std::map<Key, std::deque<std::shared_ptr<PartitionedChannel>>> sends_;
  std::map<Key, std::deque<std::shared_ptr<PartitionedChannel>>> receives_;

public:
  static UnmatchedChannels& get()
  {
    static UnmatchedChannels all;
    return all;
  }
  std::shared_ptr<PartitionedChannel> match(const Key& key, bool sends)
  {
    auto& others = sends ? receives_ : sends_;
    if (const auto found = others.find(key); found != others.end()) {
      auto channel = std::move(found->second.front());
      found->second.pop_front();
      if (found->second.empty())
        others.erase(found);
      return channel;
    }
    return (sends ? sends_ : receives_)[key].emplace_back(std::make_shared<PartitionedChannel>());
  }
};

class PartitionedOperation : public PersistentOperation {
  static constexpr int FIRST_MARK = -1'000'000'000;

  std::shared_ptr<PartitionedChannel> channel_; // null for MPI_PROC_NULL
  bool sends_;
  int peer_; // in its communicator
  int tag_;
  int mark_; ///< tag that identifies a status of the active request

public:
  PartitionedOperation(std::shared_ptr<PartitionedChannel> channel, bool sends, int peer, int tag)
      : channel_(std::move(channel)), sends_(sends), peer_(peer), tag_(tag)
  {
    static int made = 0;
    mark_           = FIRST_MARK - made;
    made            = (made + 1) % -FIRST_MARK;
  }
  int start(MPI_Request* active) override
  {
    if (not channel_)
      return MPI_SUCCESS;
    channel_->start(sends_ ? channel_->sender : channel_->receiver, active);
    if (not sends_) {
      simgrid::smpi::fields_of(*active).tag       = mark_;
      simgrid::smpi::fields_of(*active).real_size = channel_->receiver.buffer.bytes();
    }
    return MPI_SUCCESS;
  }
  bool complete_status(MPI_Status& status) const override
  {
    if (sends_ || not channel_ || status.MPI_TAG != mark_)
      return false;
    status.MPI_SOURCE = peer_;
    status.MPI_TAG    = tag_;
    return true;
  }
  bool sends() const { return sends_; }
  PartitionedChannel* channel() const { return channel_.get(); }
};

int check_partitioned(int partitions, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                      const MPI_Request* request)
{
  if (const int result =
          first_error([&] { return check_comm(comm); }, [&] { return check_present(request, "request"); },
                      [&] { return check_type(type); });
      result != MPI_SUCCESS)
    return result;
  if (partitions < 1)
    return wrong_number(MPI_ERR_ARG, "the number of partitions", partitions, "from 1 on");
  if (count < 0 || count > std::numeric_limits<int>::max())
    return wrong_number(MPI_ERR_COUNT, "the count of a partition", count, "0 to 2147483647");
  if (peer != MPI_PROC_NULL && (peer < 0 || peer >= place_in(comm).size))
    return wrong_rank(MPI_ERR_RANK, "the other rank", peer, comm);
  return tag < 0 ? wrong_number(MPI_ERR_TAG, "the tag", tag, "from 0 on") : static_cast<int>(MPI_SUCCESS);
}

int init_partitioned(bool sends, const void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int peer,
                     int tag, MPI_Comm comm, MPI_Request* request)
{
  std::shared_ptr<PartitionedChannel> channel;
  if (peer != MPI_PROC_NULL) {
    const aid_t own   = simgrid::s4u::this_actor::get_pid();
    const aid_t other = comm->group()->actor(peer);
    channel = UnmatchedChannels::get().match({sends ? own : other, sends ? other : own, number_of(comm), tag}, sends);
    channel->world                 = current_run().jobs.world_of_current_rank();
    PartitionedChannel::Side& side = sends ? channel->sender : channel->receiver;
    const int elements             = static_cast<int>(count);
    auto* const start =
        static_cast<std::byte*>(const_cast<void*>(address(buffer))); // NOLINT(cppcoreguidelines-pro-type-const-cast)
    side.buffer = {start, partitions, elements, type, static_cast<std::size_t>(count) * element_size(type)};
    side.host   = simgrid::s4u::this_actor::get_host();
    side.vertex = current_run().network.vertex_of(side.host);
    type->ref(); // never dropped: the program may free the type first
  }
  return make_persistent(std::make_unique<PartitionedOperation>(std::move(channel), sends, peer, tag), request);
}

/** Charges the start of a transfer. */
void pay_for_partition(const PartitionedChannel& channel)
{
  const auto& [buffer, from, vertex, active, signal] = channel.sender;
  if (not channel.receiver.host)
    return;
  const double overhead = from->extension<simgrid::smpi::Host>()->oisend(buffer.length, from, channel.receiver.host);
  if (overhead > 0)
    simgrid::s4u::this_actor::sleep_for(overhead);
}

/** Marks partitions of a started send as ready. */
int mark_ready(std::span<const int> partitions, MPI_Request request)
{
  const auto* const operation = dynamic_cast<PartitionedOperation*>(persistent_operation(request));
  if (not operation || not operation->sends())
    return wrong(MPI_ERR_REQUEST, "the request is no partitioned send");
  PartitionedChannel* const channel = operation->channel();
  if (not channel)
    return MPI_SUCCESS;
  if (not channel->sender.active)
    return wrong(MPI_ERR_REQUEST, "the request has not been started");
  for (const int partition : partitions) {
    if (partition < 0 || partition >= channel->sender.buffer.partitions)
      return wrong_number(MPI_ERR_ARG, "the partition", partition,
                          "0 to " + std::to_string(channel->sender.buffer.partitions - 1));
    if (channel->is_ready(partition))
      return wrong(MPI_ERR_ARG, "partition " + std::to_string(partition) + " is ready already");
    pay_for_partition(*channel);
    channel->mark_ready(partition);
  }
  return MPI_SUCCESS;
}

MpiFunction is_partitioned(const char* name, CallKind kind = CallKind::point_to_point)
{
  return {name, kind, false};
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Psend_init(const void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int peer,
                                    int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  static MpiFunction function = is_partitioned("MPI_Psend_init");
  return own_function<trace::calls::Psend_init>(
      function, [&] { return check_partitioned(partitions, count, type, peer, tag, comm, request); },
      [&] { return init_partitioned(true, buffer, partitions, count, type, peer, tag, comm, request); }, buffer,
      partitions, count, type, peer, tag, comm, info, request);
}

WEFT_INTERPOSED int PMPI_Precv_init(void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int peer, int tag,
                                    MPI_Comm comm, MPI_Info info, MPI_Request* request)
{
  static MpiFunction function = is_partitioned("MPI_Precv_init");
  return own_function<trace::calls::Precv_init>(
      function, [&] { return check_partitioned(partitions, count, type, peer, tag, comm, request); },
      [&] { return init_partitioned(false, buffer, partitions, count, type, peer, tag, comm, request); }, buffer,
      partitions, count, type, peer, tag, comm, info, request);
}

WEFT_INTERPOSED int PMPI_Pready(int partition, MPI_Request request)
{
  static MpiFunction function = is_partitioned("MPI_Pready");
  return own_function<trace::calls::Pready>(
      function, [] { return static_cast<int>(MPI_SUCCESS); }, [&] { return mark_ready({&partition, 1}, request); },
      partition, request);
}

WEFT_INTERPOSED int PMPI_Pready_range(int first, int last, MPI_Request request)
{
  static MpiFunction function = is_partitioned("MPI_Pready_range");
  return own_function<trace::calls::Pready_range>(
      function,
      [&] {
        return first > last ? wrong(MPI_ERR_ARG, "the range of partitions is empty: " + std::to_string(first) + " to " +
                                                     std::to_string(last))
                            : static_cast<int>(MPI_SUCCESS);
      },
      [&] {
        std::vector<int> partitions(static_cast<std::size_t>(last - first) + 1);
        std::iota(partitions.begin(), partitions.end(), first);
        return mark_ready(partitions, request);
      },
      first, last, request);
}

WEFT_INTERPOSED int PMPI_Pready_list(int length, int* partitions, MPI_Request request)
{
  static MpiFunction function = is_partitioned("MPI_Pready_list");
  return own_function<trace::calls::Pready_list>(
      function,
      [&] {
        return length < 0 || (length > 0 && not partitions)
                   ? wrong(MPI_ERR_ARG, "the list of partitions is NULL, or its length negative")
                   : static_cast<int>(MPI_SUCCESS);
      },
      [&] { return mark_ready({partitions, static_cast<std::size_t>(length)}, request); }, length, partitions, request);
}

WEFT_INTERPOSED int PMPI_Parrived(MPI_Request request, int partition, int* flag)
{
  static MpiFunction function = is_partitioned("MPI_Parrived", CallKind::polls);
  return own_function<trace::calls::Parrived>(
      function, [&] { return check_present(flag, "flag"); },
      [&] {
        if (request == MPI_REQUEST_NULL) { // MPI 4.1, 4.2.3: like an inactive request
          *flag = 1;
          return static_cast<int>(MPI_SUCCESS);
        }
        const auto* const operation = dynamic_cast<PartitionedOperation*>(persistent_operation(request));
        if (not operation || operation->sends())
          return wrong(MPI_ERR_REQUEST, "the request is no partitioned receive");
        const PartitionedChannel* const channel = operation->channel();
        if (channel && (partition < 0 || partition >= channel->receiver.buffer.partitions))
          return wrong_number(MPI_ERR_ARG, "the partition", partition,
                              "0 to " + std::to_string(channel->receiver.buffer.partitions - 1));
        *flag = not channel || channel->has_arrived(partition) ? 1 : 0;
        if (*flag == 0) { // takes the time of an unsuccessful test
          int ended = 0;
          PMPI_Request_get_status(request, &ended, MPI_STATUS_IGNORE);
        } else {
          note_call(CallIdentity("Parrived", {number_of_handle(request), partition}));
        }
        return static_cast<int>(MPI_SUCCESS);
      },
      request, partition, flag);
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
