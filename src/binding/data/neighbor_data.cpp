// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/data/neighbor_data.hpp"

#include "binding/data/blocks.hpp"
#include "binding/data/exchange.hpp"

#include <cstddef>
#include <utility>

namespace weft {

struct NeighborData::Member {
  Neighborhood::Edges received;
  Neighborhood::Edges sent;
  KeptSide gives;
  KeptSide gets;
  bool gives_data;
  bool gets_data;
  std::vector<std::vector<std::byte>> packed = {}; // by edge: copies for receivers that have not entered

  Member(Neighborhood::Edges received_on, Neighborhood::Edges sent_on, const Sides& sides, bool blocks)
      : received(std::move(received_on)), sent(std::move(sent_on)),
        gives(sides.gives, static_cast<int>(sent.size()), false),
        gets(sides.gets, static_cast<int>(received.size()), not blocks),
        gives_data(not weft::is_shared(sides.gives.buffer)), gets_data(not weft::is_shared(sides.gets.buffer))
  {
  }

  Block sent_on(std::size_t edge)
  {
    if (packed.empty())
      return block_of(gives.side, static_cast<int>(edge));
    return {packed[edge].data(), static_cast<int>(packed[edge].size()), MPI_BYTE};
  }

  void receive(std::size_t edge, Member& sender)
  {
    if (gets_data && sender.gives_data)
      copy(sender.sent_on(static_cast<std::size_t>(received[edge].place)), block_of(gets.side, static_cast<int>(edge)));
  }
};

NeighborData::NeighborData(std::shared_ptr<const Neighborhood> neighborhood, int ranks)
    : neighborhood_(std::move(neighborhood)), members_(static_cast<std::size_t>(ranks))
{
}

NeighborData::~NeighborData() = default;

void NeighborData::come(int rank, const Sides& sides, bool blocks)
{
  come(rank, neighborhood_->received(rank), neighborhood_->sent(rank), sides, blocks);
}

void NeighborData::come(int rank, Neighborhood::Edges received, Neighborhood::Edges sent, const Sides& sides,
                        bool blocks)
{
  auto& own = members_[static_cast<std::size_t>(rank)];
  own       = std::make_unique<Member>(std::move(received), std::move(sent), sides, blocks);
  for (std::size_t edge = 0; edge < own->received.size(); ++edge)
    if (const auto [peer, place] = own->received[edge]; peer >= 0 && place >= 0)
      if (const auto& sender = members_[static_cast<std::size_t>(peer)])
        own->receive(edge, *sender);
  for (const auto [peer, place] : own->sent)
    if (peer >= 0 && place >= 0 && peer != rank)
      if (const auto& receiver = members_[static_cast<std::size_t>(peer)])
        receiver->receive(static_cast<std::size_t>(place), *own);
  if (not blocks)
    keep(*own);
}

// The rank has received all its blocks, so its receive buffer is no longer written to.
void NeighborData::leave(int rank)
{
  Member& own = *members_[static_cast<std::size_t>(rank)];
  keep(own);
  own.gets_data = false;
}

/** Copies a rank's data for ranks that have not entered, since its buffer may change. */
void NeighborData::keep(Member& member) const
{
  if (not member.gives_data || not member.packed.empty())
    return;
  std::vector<std::vector<std::byte>> packed(member.sent.size());
  bool any = false;
  for (std::size_t edge = 0; edge < packed.size(); ++edge) {
    const auto [peer, place] = member.sent[edge];
    if (peer < 0 || place < 0 || members_[static_cast<std::size_t>(peer)])
      continue;
    any               = true;
    const Block block = block_of(member.gives.side, static_cast<int>(edge));
    packed[edge].resize(block.bytes());
    pack(block.start, block.count, block.type, packed[edge].data());
  }
  member.gives_data = any;
  if (any)
    member.packed = std::move(packed);
}

} // namespace weft
