// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/abi/refusals.hpp"

#include <utility>

namespace weft {
namespace {

bool& thrown()
{
  static bool are_thrown = false;
  return are_thrown;
}

} // namespace

RefusalsAsErrors::RefusalsAsErrors() : before_(std::exchange(thrown(), true)) {}

RefusalsAsErrors::~RefusalsAsErrors()
{
  thrown() = before_;
}

bool RefusalsAsErrors::exist()
{
  return thrown();
}

} // namespace weft
