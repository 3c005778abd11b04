#include "nic/progress_engine.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

std::optional<Transport> parse_transport(std::string_view text)
{
  if (text == "ud")
    return Transport::ud;
  if (text == "uc")
    return Transport::uc;
  return std::nullopt;
}

std::string_view to_text(Transport transport)
{
  return transport == Transport::ud ? "ud" : "uc";
}

double closed_throughput(int customers, double service, double think)
{
  double throughput = 0;
  double queue      = 0; // customers at the server, waiting or served
  for (int count = 1; count <= customers; ++count) {
    const double residence = service * (1 + queue);
    throughput             = count / (residence + think);
    queue                  = throughput * residence;
  }
  return throughput;
}

namespace {

/** What one chunk costs, in cycles. */
struct Work {
  double total; ///< by a thread alone
  double issue; ///< of these, those of the core
};

Work work_of(const ProgressEngine& engine, double cycles, double instructions)
{
  return {cycles, instructions > 0 ? instructions / engine.issue_rate : cycles};
}

Work receive_work(const ProgressEngine& engine, Transport transport)
{
  return transport == Transport::ud ? work_of(engine, engine.ud_cycles, engine.ud_instructions)
                                    : work_of(engine, engine.uc_cycles, engine.uc_instructions);
}

/** What so many workers process: each as much as one on a full core, as each has the same share of the traffic. */
Hertz worker_rate(const ProgressEngine& engine, const Work& work, int workers)
{
  const int together = std::min(workers, engine.threads);
  const double core  = closed_throughput(together, work.issue, work.total - work.issue);
  return engine.clock * core * (static_cast<double>(workers) / together);
}

/** Chunks that the staging ring has room for. */
double staging_room(const ProgressEngine& engine, Bytes chunk)
{
  const double room = std::floor(engine.staging / chunk);
  return engine.staging_entries > 0 ? std::min<double>(room, engine.staging_entries) : room;
}

/** From a UD chunk's arrival at a worker that is free until its place in the ring is free again. */
Seconds staging_time(const ProgressEngine& engine)
{
  return Seconds(engine.ud_cycles / engine.clock.value()) + engine.copy_latency;
}

void check_threads(const ProgressEngine& engine, int workers)
{
  const std::int64_t threads = static_cast<std::int64_t>(engine.cores) * engine.threads;
  if (workers > threads)
    throw UserError(engine.place + " receive_workers: found " + std::to_string(workers) + "; allowed: at most " +
                    std::to_string(threads) + ", the threads of all cores");
}

} // namespace

void ProgressEngine::check(Transport transport, Bytes chunk, int workers) const
{
  check_threads(*this, workers);
  if (transport == Transport::uc || staging_room(*this, chunk) >= workers)
    return;
  const bool bytes = staging / chunk < workers;
  const std::string found =
      bytes ? "staging: found " + to_text(staging) : "staging_entries: found " + std::to_string(staging_entries);
  const std::string wanted = bytes ? to_text(chunk * workers) : std::to_string(workers);
  throw UserError(place + " " + found + "; each of " + std::to_string(workers) + " receive workers holds a chunk of " +
                  to_text(chunk) + "; allowed: at least " + wanted + "; or take fewer workers or smaller chunks");
}

Hertz ProgressEngine::receive_chunks(Transport transport, Bytes chunk, int workers) const
{
  check(transport, chunk, workers);
  const Hertz rate = worker_rate(*this, receive_work(*this, transport), workers);
  if (transport == Transport::uc)
    return rate;
  return std::min(rate, Hertz(staging_room(*this, chunk) / staging_time(*this).value()));
}

BytesPerSecond ProgressEngine::send_rate(Transport /*transport*/, Bytes chunk) const
{
  if (send_cycles == 0)
    return BytesPerSecond(std::numeric_limits<double>::infinity());
  return chunk * worker_rate(*this, work_of(*this, send_cycles, send_instructions), send_workers);
}

Seconds ProgressEngine::receive_time(Transport transport, Bytes chunk, std::int64_t chunks, int workers,
                                     BytesPerSecond link) const
{
  const int busy         = static_cast<int>(std::min<std::int64_t>(workers, chunks));
  const Seconds arrival  = chunk / link;
  const Seconds turn     = Seconds(busy / receive_chunks(transport, chunk, busy).value());
  const double turns     = std::ceil(static_cast<double>(chunks) / busy);
  const Seconds copy     = transport == Transport::ud ? copy_latency : Seconds();
  const Seconds by_link  = arrival * static_cast<double>(chunks) + turn;
  const Seconds by_turns = arrival + turn * turns;
  return std::max(by_link, by_turns) + copy;
}

std::int64_t ProgressEngine::communicators(std::int64_t chunks) const
{
  const double fit = std::floor(memory / (context + bitmap_size(chunks)));
  return std::isfinite(fit) ? static_cast<std::int64_t>(fit) : std::numeric_limits<std::int64_t>::max();
}

Bytes bitmap_size(std::int64_t chunks)
{
  return Bytes(std::ceil(static_cast<double>(chunks) / 8));
}

const std::vector<Option<ProgressEngine>>& progress_engine_options()
{
  using M = ProgressEngine;
  static const std::vector<Option<M>> ROWS{
      {"cores", "cores that the workers may run on", &M::cores},
      {"threads", "hardware threads of a core, which fill one core after the other; 1 where absent", &M::threads,
       Need::optional},
      {"clock", "of a core", &M::clock},
      {"issue_rate", "instructions that a core issues a cycle at most, of all its threads; 1 where absent",
       &M::issue_rate, Need::optional},
      {"ud_cycles", "of a UD chunk's reception by a thread alone", &M::ud_cycles},
      {"ud_instructions", "of a UD chunk's reception; where absent, its cycles are all the core's", &M::ud_instructions,
       Need::optional},
      {"uc_cycles", "of a UC chunk's reception by a thread alone", &M::uc_cycles},
      {"uc_instructions", "of a UC chunk's reception; where absent, its cycles are all the core's", &M::uc_instructions,
       Need::optional},
      {"send_cycles", "of a chunk's sending by a thread alone; unlimited where absent", &M::send_cycles,
       Need::optional},
      {"send_instructions", "of a chunk's sending; where absent, its cycles are all the core's", &M::send_instructions,
       Need::optional},
      {"receive_workers", "threads that receive; 1 where absent", &M::receive_workers, Need::optional},
      {"send_workers", "threads that send; 1 where absent", &M::send_workers, Need::optional},
      {"staging", "ring of a NIC that UD chunks arrive in; unlimited where absent", &M::staging, Need::optional},
      {"staging_entries", "chunks that the ring holds at most; unlimited where absent", &M::staging_entries,
       Need::optional},
      {"copy_latency", "of a UD chunk's copy from the ring to the user's buffer; none where absent", &M::copy_latency,
       Need::optional, Bound::non_negative},
      {"memory", "fast memory for bitmaps and contexts; unlimited where absent", &M::memory, Need::optional},
      {"context", "of a communicator, beside its bitmap", &M::context, Need::optional, Bound::non_negative},
  };
  return ROWS;
}

namespace {

void check_instructions(const OptionTable& table, const ProgressEngine& engine, const std::string& kind, double cycles,
                        double instructions)
{
  if (instructions > 0 && cycles > 0 && instructions > cycles * engine.issue_rate)
    table.fail(kind + "_instructions",
               "a core cannot issue so many in " + kind + "_cycles; allowed: at most cycles times issue_rate");
}

void check_engine(const OptionTable& table, const ProgressEngine& engine)
{
  check_instructions(table, engine, "ud", engine.ud_cycles, engine.ud_instructions);
  check_instructions(table, engine, "uc", engine.uc_cycles, engine.uc_instructions);
  check_instructions(table, engine, "send", engine.send_cycles, engine.send_instructions);
}

} // namespace

std::optional<ProgressEngine> read_progress_engine(const OptionTable& file)
{
  if (not file.has("progress_engine"))
    return std::nullopt;
  const OptionTable table = file.table("progress_engine");
  auto engine =
      read_device<ProgressEngine>(table, "progress_engine", progress_engine_options(), {}, [](const auto&, auto&) {});
  engine.place = file.file() + ": [progress_engine]";
  check_engine(table, engine);
  check_threads(engine, engine.receive_workers);
  return engine;
}

} // namespace weft
