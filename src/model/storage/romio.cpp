// SPDX-License-Identifier: LGPL-2.1-only
#include "model/storage/romio.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace weft {
namespace {

std::optional<std::int64_t> positive(std::string_view text)
{
  std::int64_t number = 0;
  const auto found    = std::from_chars(text.data(), text.data() + text.size(), number);
  if (found.ec != std::errc() || found.ptr != text.data() + text.size() || number < 1)
    return std::nullopt;
  return number;
}

struct SwitchHint {
  std::string_view key;
  HintSwitch RomioHints::* member;
};
constexpr std::array<SwitchHint, 4> SWITCHES{{{"romio_cb_read", &RomioHints::collective_read},
                                              {"romio_cb_write", &RomioHints::collective_write},
                                              {"romio_ds_read", &RomioHints::sieve_reads},
                                              {"romio_ds_write", &RomioHints::sieve_writes}}};
struct SizeHint {
  std::string_view key;
  std::int64_t RomioHints::* member;
};
constexpr std::array<SizeHint, 4> SIZES{{{"cb_buffer_size", &RomioHints::buffer},
                                         {"ind_rd_buffer_size", &RomioHints::read_buffer},
                                         {"ind_wr_buffer_size", &RomioHints::write_buffer},
                                         {"striping_unit", &RomioHints::striping_unit}}};
struct NumberHint {
  std::string_view key;
  int RomioHints::* member;
};
constexpr std::array<NumberHint, 2> NUMBERS{
    {{"cb_nodes", &RomioHints::aggregators}, {"striping_factor", &RomioHints::striping_factor}}};

std::string_view switch_text(HintSwitch value)
{
  if (value == HintSwitch::automatic)
    return "automatic";
  return value == HintSwitch::enable ? "enable" : "disable";
}

/** Returns the accesses of data sieving: each buffer starts at an extent and ends at the buffer's size or the last
 * byte. */
std::vector<DeviceAccess> sieve(const Extents& extents, std::int64_t buffer, bool read_first)
{
  std::vector<DeviceAccess> all;
  const std::int64_t end = extents.back().end();
  std::int64_t covered   = std::numeric_limits<std::int64_t>::min();
  for (const Extent& extent : extents) {
    for (std::int64_t from = std::max(extent.offset, covered); from < extent.end(); from = covered) {
      covered = from + std::min(buffer, end - from);
      all.push_back({{{from, covered - from}}, read_first});
    }
  }
  return all;
}

/** Returns one access per buffer, for data that is contiguous in the file but not in memory. */
std::vector<DeviceAccess> in_pieces(const Extent& extent, std::int64_t buffer)
{
  std::vector<DeviceAccess> all;
  for (std::int64_t from = extent.offset; from < extent.end(); from += buffer)
    all.push_back({{{from, std::min(buffer, extent.end() - from)}}, false});
  return all;
}

bool is_rising(const Extents& extents)
{
  return std::ranges::adjacent_find(
             extents, [](const Extent& one, const Extent& next) { return next.offset < one.end(); }) == extents.end();
}

/** Range of the file that one aggregator accesses (ADIOI_Calc_file_domains in ad_aggregate.c). */
struct FileDomain {
  std::int64_t begin    = 0;
  std::int64_t end      = 0;
  std::int64_t first    = std::numeric_limits<std::int64_t>::max(); // first byte that any rank accesses
  std::int64_t last_end = std::numeric_limits<std::int64_t>::min();
};

std::vector<FileDomain> file_domains(std::int64_t begin, std::int64_t end, std::size_t number, std::int64_t unit)
{
  std::vector<FileDomain> domains(number);
  const auto count        = static_cast<std::int64_t>(number);
  const std::int64_t size = (end - begin + count - 1) / count;
  std::int64_t from       = begin;
  for (std::int64_t one = 0; one < count; ++one) {
    std::int64_t to = begin + (one + 1) * size;
    if (unit > 0 && one + 1 < count) { // round to the nearest multiple
      const std::int64_t front = to % unit;
      to += front < unit - front ? -front : unit - front;
    }
    to                                           = one + 1 == count ? end : std::clamp(to, from, end);
    domains[static_cast<std::size_t>(one)].begin = from;
    domains[static_cast<std::size_t>(one)].end   = to;
    from                                         = to;
  }
  return domains;
}

/** Calls @p visit(domain, part) for each part of an extent, split at domain boundaries. */
template <class Visit> void each_domain(const std::vector<FileDomain>& domains, const Extent& extent, Visit&& visit)
{
  const auto holds = std::ranges::upper_bound(domains, extent.offset, {}, &FileDomain::end);
  auto domain      = static_cast<std::size_t>(holds - domains.begin());
  for (std::int64_t from = extent.offset; from < extent.end() && domain < domains.size(); ++domain) {
    const std::int64_t to = std::min(extent.end(), domains[domain].end);
    if (to <= from)
      continue;
    visit(domain, Extent{from, to - from});
    from = to;
  }
}

/** Returns true if extents do not cover a window completely. */
bool leave_holes(Extents extents, const Extent& window)
{
  std::ranges::sort(extents, {}, &Extent::offset);
  std::int64_t reached = window.offset;
  for (const Extent& extent : extents) {
    if (extent.offset > reached)
      return true;
    reached = std::max(reached, extent.end());
  }
  return reached < window.end();
}

/** Data of the windows of all aggregators, round by round. */
class CollectiveWindows {
  std::int64_t buffer_;
  std::vector<FileDomain> domains_;
  std::vector<std::vector<Extents>> accessed_; // by domain and round
  std::vector<CollectiveRound> rounds_;
  std::vector<CollectivePlan::RequestList> lists_;
  const std::vector<int>& aggregators_;

public:
  CollectiveWindows(std::span<const RankPart> ranks, const std::vector<int>& aggregators,
                    std::vector<FileDomain> domains, std::int64_t buffer)
      : buffer_(buffer), domains_(std::move(domains)), accessed_(domains_.size()), aggregators_(aggregators)
  {
    for (const RankPart& rank : ranks)
      for (const Extent& extent : rank.extents)
        each_domain(domains_, extent, [this](std::size_t domain, const Extent& part) {
          domains_[domain].first    = std::min(domains_[domain].first, part.offset);
          domains_[domain].last_end = std::max(domains_[domain].last_end, part.end());
        });
    std::size_t most = 0;
    for (std::size_t domain = 0; domain < domains_.size(); ++domain) {
      const FileDomain& its = domains_[domain];
      if (its.last_end > its.first)
        accessed_[domain].resize(static_cast<std::size_t>((its.last_end - its.first + buffer_ - 1) / buffer_));
      most = std::max(most, accessed_[domain].size());
    }
    rounds_.resize(most);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      for (const Extent& extent : ranks[rank].extents)
        each_domain(domains_, extent, [this, rank](std::size_t domain, const Extent& part) {
          list(static_cast<int>(rank), domain);
          add(static_cast<int>(rank), domain, part);
        });
  }

  CollectivePlan plan(bool write) &&
  {
    for (std::size_t domain = 0; domain < domains_.size(); ++domain) {
      for (std::size_t round = 0; round < accessed_[domain].size(); ++round) {
        if (accessed_[domain][round].empty())
          continue;
        const Extent window    = window_of(domain, round);
        const bool reads_first = write && leave_holes(std::move(accessed_[domain][round]), window);
        rounds_[round].accesses.push_back({aggregators_[domain], {{window}, reads_first}});
      }
    }
    return {std::move(lists_), std::move(rounds_)};
  }

private:
  Extent window_of(std::size_t domain, std::size_t round) const
  {
    const std::int64_t from = domains_[domain].first + static_cast<std::int64_t>(round) * buffer_;
    return {from, std::min(buffer_, domains_[domain].last_end - from)};
  }
  void list(int rank, std::size_t domain)
  {
    if (lists_.empty() || lists_.back().rank != rank || lists_.back().aggregator != aggregators_[domain])
      lists_.push_back({rank, aggregators_[domain], 0});
    ++lists_.back().extents;
  }
  void add(int rank, std::size_t domain, const Extent& part)
  {
    for (std::int64_t from = part.offset; from < part.end();) {
      const auto round      = static_cast<std::size_t>((from - domains_[domain].first) / buffer_);
      const std::int64_t to = std::min(part.end(), window_of(domain, round).end());
      auto& pieces          = rounds_[round].pieces;
      const int aggregator  = aggregators_[domain];
      accessed_[domain][round].push_back({from, to - from});
      if (not pieces.empty() && pieces.back().rank == rank && pieces.back().aggregator == aggregator)
        pieces.back().bytes += to - from;
      else
        pieces.push_back({rank, aggregator, to - from});
      from = to;
    }
  }
};

} // namespace

void RomioHints::set(std::string_view key, std::string_view value)
{
  for (const SwitchHint& hint : SWITCHES)
    if (hint.key == key)
      for (const HintSwitch choice : {HintSwitch::enable, HintSwitch::disable, HintSwitch::automatic})
        if (value == switch_text(choice))
          this->*hint.member = choice;
  if (key == "cb_config_list" && value.starts_with("*:"))
    per_host = value == "*:*" ? std::numeric_limits<int>::max()
                              : static_cast<int>(positive(value.substr(2)).value_or(per_host));
  const std::optional<std::int64_t> number = positive(value);
  if (not number)
    return;
  for (const SizeHint& hint : SIZES)
    if (hint.key == key)
      this->*hint.member = *number;
  for (const NumberHint& hint : NUMBERS)
    if (hint.key == key && *number <= std::numeric_limits<int>::max())
      this->*hint.member = static_cast<int>(*number);
}

std::vector<std::pair<std::string, std::string>> RomioHints::list() const
{
  std::vector<std::pair<std::string, std::string>> all;
  all.reserve(SWITCHES.size() + SIZES.size() + NUMBERS.size() + 1);
  for (const SwitchHint& hint : SWITCHES)
    all.emplace_back(hint.key, switch_text(this->*hint.member));
  for (const SizeHint& hint : SIZES)
    if (this->*hint.member > 0)
      all.emplace_back(hint.key, std::to_string(this->*hint.member));
  for (const NumberHint& hint : NUMBERS)
    if (this->*hint.member > 0)
      all.emplace_back(hint.key, std::to_string(this->*hint.member));
  all.emplace_back("cb_config_list",
                   per_host == std::numeric_limits<int>::max() ? "*:*" : "*:" + std::to_string(per_host));
  return all;
}

std::vector<std::string> RomioHints::keys()
{
  std::vector<std::string> all{"cb_config_list"};
  all.reserve(1 + SWITCHES.size() + SIZES.size() + NUMBERS.size());
  for (const SwitchHint& hint : SWITCHES)
    all.emplace_back(hint.key);
  for (const SizeHint& hint : SIZES)
    all.emplace_back(hint.key);
  for (const NumberHint& hint : NUMBERS)
    all.emplace_back(hint.key);
  return all;
}

std::vector<DeviceAccess> independent_accesses(const Extents& extents, bool write, bool contiguous_memory,
                                               const RomioHints& hints)
{
  if (extents.empty())
    return {};
  const std::int64_t buffer = write ? hints.write_buffer : hints.read_buffer;
  if (extents.size() == 1)
    return contiguous_memory ? std::vector<DeviceAccess>{{extents, false}} : in_pieces(extents.front(), buffer);
  if ((write ? hints.sieve_writes : hints.sieve_reads) != HintSwitch::disable && is_rising(extents))
    return sieve(extents, buffer, write);
  std::vector<DeviceAccess> all;
  all.reserve(extents.size());
  for (const Extent& extent : extents)
    all.push_back({{extent}, false});
  return all;
}

bool interleave(std::span<const RankPart> ranks)
{
  // A rank without data ends before it begins (ADIOI_Calc_my_off_len).
  std::int64_t end_before = std::numeric_limits<std::int64_t>::min();
  for (const RankPart& rank : ranks) {
    if (rank.extents.empty())
      continue;
    if (rank.extents.front().offset < end_before)
      return true;
    end_before = rank.extents.back().end();
  }
  return false;
}

std::vector<int> aggregators_of(std::span<const RankPart> ranks, const RomioHints& hints)
{
  std::map<int, int> of_host;
  std::vector<int> all;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    if (of_host[ranks[rank].host]++ < hints.per_host)
      all.push_back(static_cast<int>(rank));
  if (hints.aggregators > 0 && all.size() > static_cast<std::size_t>(hints.aggregators))
    all.resize(static_cast<std::size_t>(hints.aggregators));
  return all;
}

CollectivePlan plan_two_phase(std::span<const RankPart> ranks, bool write, const RomioHints& hints)
{
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  std::int64_t end   = std::numeric_limits<std::int64_t>::min();
  for (const RankPart& rank : ranks)
    for (const Extent& extent : rank.extents) {
      begin = std::min(begin, extent.offset);
      end   = std::max(end, extent.end());
    }
  if (begin >= end)
    return {};
  const std::vector<int> aggregators = aggregators_of(ranks, hints);
  auto domains                       = file_domains(begin, end, aggregators.size(), hints.striping_unit);
  return CollectiveWindows(ranks, aggregators, std::move(domains), hints.buffer).plan(write);
}

} // namespace weft
