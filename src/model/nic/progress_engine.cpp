// SPDX-License-Identifier: LGPL-2.1-only
#include "model/nic/progress_engine.hpp"

#include "base/share.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

namespace weft {

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

constexpr const char* PRESETS = "presets/progress_engine";

/** Cost of a chunk in cycles. */
struct Work {
  double total; ///< cycles of a thread that has the core to itself
  double issue; ///< part of total in which the core issues instructions
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

/** Returns the chunk rate of @p workers. Traffic is spread evenly, so the busiest core limits all workers. */
Hertz worker_rate(const ProgressEngine& engine, const Work& work, int workers)
{
  const int together = std::min(workers, engine.threads);
  const double core  = closed_throughput(together, work.issue, work.total - work.issue);
  return engine.clock * core * (static_cast<double>(workers) / together);
}

/** Returns the time in which a thread that has the core to itself receives a chunk. */
Seconds chunk_time(const ProgressEngine& engine, Transport transport)
{
  return Seconds(receive_work(engine, transport).total / engine.clock.value());
}

void check_threads(const ProgressEngine& engine, int workers)
{
  if (workers < 1)
    throw std::logic_error("no workers");
  const std::int64_t threads = static_cast<std::int64_t>(engine.cores) * engine.threads;
  if (workers > threads)
    throw UserError(engine.place + " receive_workers: found " + std::to_string(workers) + "; allowed: at most " +
                    std::to_string(threads) + ", the threads of all cores");
}

} // namespace

void ProgressEngine::check(Transport transport, Bytes chunk, int workers) const
{
  check_threads(*this, workers);
  if (staging_room(transport, chunk) >= workers)
    return;
  const bool bytes = staging / chunk < workers;
  const std::string found =
      bytes ? "staging: found " + to_text(staging) : "staging_entries: found " + std::to_string(staging_entries);
  const std::string wanted = bytes ? to_text(chunk * workers) : std::to_string(workers);
  throw UserError(place + " " + found + "; each of " + std::to_string(workers) + " receive workers holds a chunk of " +
                  to_text(chunk) + "; allowed: at least " + wanted + "; or use fewer workers or smaller chunks");
}

Hertz ProgressEngine::receive_chunks(Transport transport, Bytes chunk, int workers) const
{
  check(transport, chunk, workers);
  const Hertz rate = worker_rate(*this, receive_work(*this, transport), workers);
  if (transport == Transport::uc)
    return rate;
  return std::min(rate, Hertz(staging_room(transport, chunk) / latency(transport).value()));
}

Hertz ProgressEngine::received_chunks(Transport transport, Bytes chunk, int trees, int busy) const
{
  const int running    = std::min(busy, cores * threads);
  const Hertz together = worker_rate(*this, receive_work(*this, transport), running);
  const int workers    = workers_of(trees);
  const double each    = std::ceil(static_cast<double>(trees) / workers); // subgroups of the slowest
  const Hertz rate     = together * (trees / each / busy);
  return std::min(rate, Hertz(staging_room(transport, chunk) / latency(transport).value()));
}

double ProgressEngine::staging_room(Transport transport, Bytes chunk) const
{
  if (transport == Transport::uc)
    return std::numeric_limits<double>::infinity();
  const double room = std::floor(staging / chunk);
  return staging_entries > 0 ? std::min<double>(room, staging_entries) : room;
}

Seconds ProgressEngine::latency(Transport transport) const
{
  return chunk_time(*this, transport) + (transport == Transport::ud ? copy_latency : Seconds());
}

BytesPerSecond ProgressEngine::send_rate(Transport /*transport*/, Bytes chunk) const
{
  if (send_cycles == 0)
    return BytesPerSecond(std::numeric_limits<double>::infinity());
  return chunk * worker_rate(*this, work_of(*this, send_cycles, send_instructions), send_workers);
}

Seconds ProgressEngine::receive_time(Transport transport, Bytes chunk, Bytes buffer, int workers,
                                     BytesPerSecond link) const
{
  const double chunks     = std::ceil(buffer / chunk);
  const int busy          = static_cast<int>(std::min<double>(workers, chunks));
  const Seconds alone     = chunk_time(*this, transport);
  const Seconds together  = Seconds(chunks / receive_chunks(transport, chunk, busy).value());
  const Seconds by_link   = buffer / link + alone; // the last chunk is processed after it has arrived
  const Seconds by_worker = std::min(chunk, buffer) / link + std::max(together, alone * std::ceil(chunks / busy));
  return std::max(by_link, by_worker + activation) + (transport == Transport::ud ? copy_latency : Seconds());
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
  using M                      = ProgressEngine;
  static const Need ITS_CYCLES = Need::otherwise("as many as its cycles");
  static const std::vector<Option<M>> ROWS{
      {"cores", "cores for the workers", &M::cores},
      {"threads", "hardware threads per core; workers fill one core after the other", &M::threads, Need::optional},
      {"host_cores",
       "cores of the host that the engine occupies, and ranks share the others, in runs that may use the multicast",
       &M::host_cores, Need::optional, Allowed::non_negative},
      {"clock", "of a core", &M::clock},
      {"issue_rate", "maximum instructions per cycle of a core, over all its threads", &M::issue_rate, Need::optional},
      {"ud_cycles", "cycles to receive a UD chunk, for a single thread", &M::ud_cycles},
      {"ud_instructions", "instructions to receive a UD chunk", &M::ud_instructions, ITS_CYCLES},
      {"uc_cycles", "cycles to receive a UC chunk, for a single thread", &M::uc_cycles},
      {"uc_instructions", "instructions to receive a UC chunk", &M::uc_instructions, ITS_CYCLES},
      {"send_cycles", "cycles to send a chunk, for a single thread", &M::send_cycles, Need::otherwise("unlimited")},
      {"send_instructions", "instructions to send a chunk", &M::send_instructions, ITS_CYCLES},
      {"receive_workers", "receive threads", &M::receive_workers, Need::optional},
      {"send_workers", "send threads", &M::send_workers, Need::optional},
      {"staging", "size of the NIC's staging ring for UD chunks", &M::staging, Need::optional},
      {"staging_entries", "maximum number of chunks in the ring", &M::staging_entries, Need::otherwise("unlimited")},
      {"activation", "time from the first chunk of a call until the receive workers start", &M::activation,
       Need::optional, Allowed::non_negative},
      {"copy_latency", "latency of copying a UD chunk from the ring to the user's buffer", &M::copy_latency,
       Need::optional, Allowed::non_negative},
      {"memory", "fast memory for bitmaps and contexts", &M::memory, Need::optional},
      {"context", "memory per communicator, besides its bitmap", &M::context, Need::optional, Allowed::non_negative},
  };
  return ROWS;
}

namespace {

void check_instructions(const OptionTable& table, const ProgressEngine& engine, const std::string& kind, double cycles,
                        double instructions)
{
  if (instructions > 0 && cycles > 0 && instructions > cycles * engine.issue_rate)
    table.fail(kind + "_instructions",
               "more than a core can issue in " + kind + "_cycles; allowed: at most cycles times issue_rate");
}

void check_engine(const OptionTable& table, const ProgressEngine& engine)
{
  check_instructions(table, engine, "ud", engine.ud_cycles, engine.ud_instructions);
  check_instructions(table, engine, "uc", engine.uc_cycles, engine.uc_instructions);
  check_instructions(table, engine, "send", engine.send_cycles, engine.send_instructions);
  check_threads(engine, engine.receive_workers);
}

} // namespace

std::optional<ProgressEngine> read_progress_engine(const OptionTable& file)
{
  if (not file.has("progress_engine"))
    return std::nullopt;
  const OptionTable table = file.table("progress_engine");
  auto engine             = read_device<ProgressEngine>(table, "progress_engine", progress_engine_options());
  engine.place            = file.file() + ": [progress_engine]";
  check_engine(table, engine);
  return engine;
}

ProgressEngine read_progress_engine(const OptionTable& rule, const ProgressEngine& standard)
{
  auto engine = read_device<ProgressEngine>(
      rule, "progress_engine", progress_engine_options(), {"match"}, [](const OptionTable&, ProgressEngine&) {},
      &standard);
  engine.place = rule.file() + ": [[progress_engines]]";
  check_engine(rule, engine);
  return engine;
}

ProgressEngine load_progress_engine(const std::string& name_or_path)
{
  std::error_code ignored; // a path that cannot be accessed is treated as missing
  if (std::filesystem::is_regular_file(name_or_path, ignored)) {
    if (std::optional<ProgressEngine> engine = read_progress_engine(OptionTable::read_file(name_or_path)))
      return *engine;
    throw UserError(name_or_path + ": there is no table [progress_engine]; write one, or name a preset: " +
                    join(list_shared(PRESETS)));
  }
  const std::optional<std::string> path = find_shared(PRESETS, name_or_path);
  if (not path)
    throw UserError("progress engine \"" + name_or_path + "\": there is no such file, and no preset has that name; " +
                    did_you_mean(name_or_path, list_shared(PRESETS)) +
                    "allowed: a file with a table [progress_engine], or one of " + join(list_shared(PRESETS)));
  const OptionTable file = OptionTable::read_file(*path);
  ProgressEngine engine;
  require_options(file, progress_engine_options(), read_options(file, progress_engine_options(), {}, engine));
  engine.preset = name_or_path;
  engine.place += " " + name_or_path + ":";
  check_engine(file, engine);
  return engine;
}

std::string describe(const ProgressEngine& engine)
{
  return std::to_string(engine.receive_workers) + " receive and " + std::to_string(engine.send_workers) +
         " send workers on " + (engine.preset.empty() ? "" : engine.preset + ", ") + std::to_string(engine.cores) +
         " cores of " + std::to_string(engine.threads) + (engine.threads == 1 ? " thread, " : " threads, ") +
         to_text(engine.clock) +
         (engine.host_cores == 0 ? ""
                                 : "; occupies " + std::to_string(engine.host_cores) +
                                       (engine.host_cores == 1 ? " core" : " cores") + " of the host");
}

} // namespace weft
