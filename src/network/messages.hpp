// SPDX-License-Identifier: LGPL-2.1-only
/* Messages between hosts, whoever carries them. */
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <string>

namespace weft {

/** Who waits for messages. */
class Receiving {
public:
  Receiving()                                 = default;
  Receiving(const Receiving&)                 = delete;
  Receiving& operator=(const Receiving&)      = delete;
  virtual ~Receiving()                        = default;
  virtual void arrived(std::uint64_t message) = 0;
  /** It never arrives. @p why is for people. */
  virtual void failed(std::uint64_t /*message*/, const std::string& /*why*/) {}
};

class Messages {
public:
  Messages()                           = default;
  Messages(const Messages&)            = delete;
  Messages& operator=(const Messages&) = delete;
  virtual ~Messages()                  = default;
  /** A message leaves host @p from for host @p to now, @p bytes with all headers, of which its hosts do not have
   *  a part @p missed in their caches; @p receiver, which must outlive it, is told what becomes of it. */
  virtual void send(int from, int to, Bytes bytes, double missed, Receiving& receiver, std::uint64_t message) = 0;
};

} // namespace weft
