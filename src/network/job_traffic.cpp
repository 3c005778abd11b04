// SPDX-License-Identifier: LGPL-2.1-only
#include "network/job_traffic.hpp"

namespace weft {
namespace {

constexpr int SEVERAL_JOBS = -2; // several jobs have ranks on this host

} // namespace

JobTraffic::JobTraffic(const std::vector<std::vector<int>>& hosts, int host_count, std::size_t links)
    : pages_((links + PAGE - 1) / PAGE), job_of_host_(static_cast<std::size_t>(host_count), UNKNOWN),
      jobs_(hosts.size())
{
  int job = 0;
  for (const std::vector<int>& its_hosts : hosts) {
    for (const int host : its_hosts) {
      int& known = job_of_host_[static_cast<std::size_t>(host)];
      known      = known == UNKNOWN || known == job ? job : SEVERAL_JOBS;
    }
    ++job;
  }
}

int JobTraffic::job_at(int vertex) const
{
  const auto host = static_cast<std::size_t>(vertex);
  return host < job_of_host_.size() ? job_of_host_[host] : UNKNOWN;
}

int JobTraffic::job_between(int from, int to) const
{
  const int sender = job_at(from);
  const int found  = sender == UNKNOWN ? job_at(to) : sender;
  return found == SEVERAL_JOBS ? UNKNOWN : found;
}

void JobTraffic::count_message(int job, Bytes bytes)
{
  if (not knows(job))
    return;
  Sent& sent = jobs_[static_cast<std::size_t>(job)].sent;
  ++sent.messages;
  sent.bytes += bytes.value();
}

void JobTraffic::count_bytes(int job, LinkId link, Bytes bytes)
{
  if (not knows(job))
    return;
  auto& pages = jobs_[static_cast<std::size_t>(job)].pages;
  if (pages.empty())
    pages.resize(pages_);
  auto& page = pages[static_cast<std::size_t>(link) / PAGE];
  if (not page)
    page = std::make_unique<double[]>(PAGE); // NOLINT(modernize-avoid-c-arrays)
  page[static_cast<std::size_t>(link) % PAGE] += bytes.value();
}

double JobTraffic::bytes_on_link(int job, LinkId link) const
{
  const auto& pages = jobs_.at(static_cast<std::size_t>(job)).pages;
  if (pages.empty())
    return 0;
  const auto& page = pages[static_cast<std::size_t>(link) / PAGE];
  return page ? page[static_cast<std::size_t>(link) % PAGE] : 0;
}

} // namespace weft
