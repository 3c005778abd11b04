// SPDX-License-Identifier: LGPL-2.1-only
#include "model/mechanism/offload_mode.hpp"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(OffloadMode, NamesAreTheMechanismsAutoAndOff)
{
  EXPECT_EQ(names_of<OffloadMode>(), (std::vector<std::string>{"stream", "message", "multicast", "auto", "off"}));
}

TEST(OffloadMode, NamesRoundTrip)
{
  for (const auto& [mode, name] : Names<OffloadMode>::rows()) {
    EXPECT_EQ(find_named<OffloadMode>(name), mode);
    EXPECT_EQ(to_text(mode), name);
  }
  for (const std::string wrong : {"", "automatic", "Stream", "off ", "fallback", "host"})
    EXPECT_EQ(find_named<OffloadMode>(wrong), std::nullopt) << wrong;
}

TEST(OffloadMode, IsOffAutomaticOrAMechanism)
{
  EXPECT_TRUE(OffloadMode().is_off());
  EXPECT_EQ(OffloadMode(), OffloadMode::off());
  EXPECT_TRUE(OffloadMode::automatic().is_automatic());
  EXPECT_FALSE(OffloadMode::automatic().is_off());
  const OffloadMode message(mechanism_kind("message"));
  EXPECT_EQ(message.mechanism(), &mechanism_kind("message"));
  EXPECT_FALSE(message.is_off() || message.is_automatic());
  EXPECT_NE(message, OffloadMode(mechanism_kind("stream")));
}

TEST(MechanismKind, IsFoundByName)
{
  EXPECT_EQ(mechanism_kind("multicast").name, "multicast");
  EXPECT_THROW(mechanism_kind("auto"), std::logic_error);
}

TEST(MechanismKind, HandsOverToAnExistingMechanism)
{
  for (const MechanismKind* kind : mechanism_kinds()) {
    EXPECT_FALSE(kind->meaning.empty()) << kind->name;
    EXPECT_TRUE(kind->rest.empty() || mechanism_kind(kind->rest).rest.empty()) << kind->name;
  }
}

} // namespace
} // namespace weft
