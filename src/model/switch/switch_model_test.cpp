// SPDX-License-Identifier: LGPL-2.1-only
#include "model/switch/switch_model.hpp"

#include "base/share.hpp"
#include "base/test_file.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace weft {
namespace {

// ---- Reading

const std::string SWITCH  = R"([switch]
max_ports = 8
forwarding_latency = "0.25us"
)";
const std::string SLOTS   = R"(channels = 2
slots = 4
payload = "100B"
packet_overhead = "25B"
)";
const std::string OFFLOAD = R"([[switch.offload]]
collectives = ["allreduce"]
datatypes = ["MPI_INT"]
operations = ["MPI_SUM"]
)";

SwitchModel read_text(const std::string& text)
{
  return read_switch(OptionTable::read_file(TestFile(text).path()).table("switch"));
}

std::string switch_message(const std::string& text)
{
  return message_about(text,
                       [](const std::string& path) { read_switch(OptionTable::read_file(path).table("switch")); });
}

TEST(Switch, NeedsNoSlotsIfItOnlyForwards)
{
  const SwitchModel model = read_text(SWITCH);
  EXPECT_FALSE(model.smart());
  EXPECT_EQ(model.max_ports, 8);
  EXPECT_EQ(model.forwarding_latency, Seconds(0.25e-6));
}

TEST(Switch, IsSmartIfItOffloads)
{
  const SwitchModel model = read_text(SWITCH + SLOTS + OFFLOAD);
  EXPECT_TRUE(model.smart());
  EXPECT_EQ(model.window(), Bytes(400));
  ASSERT_EQ(model.capabilities.size(), 1);
  EXPECT_EQ(model.capabilities.front().collectives, std::vector<std::string>{"allreduce"});
}

TEST(Switch, NeedsSlotsIfItIsSmart)
{
  const std::string message =
      "FILE: [switch] offload: a smart switch needs channels, slots and payload as well; set them, or name a preset";
  EXPECT_EQ(switch_message(SWITCH + OFFLOAD), message);
  for (const std::string line : {"channels = 2\n", "slots = 4\n", "payload = \"100B\"\n"}) {
    std::string without = SLOTS;
    EXPECT_EQ(switch_message(SWITCH + without.erase(without.find(line), line.size()) + OFFLOAD), message) << line;
  }
}

TEST(Switch, ChannelsCannotHaveMoreSlotsThanTheSwitch)
{
  EXPECT_EQ(switch_message(SWITCH + SLOTS + "total_slots = 8\n" + OFFLOAD), "");
  EXPECT_EQ(switch_message(SWITCH + SLOTS + "total_slots = 7\n" + OFFLOAD),
            "FILE: [switch] slots: 2 channels of 4 slots need 8, and the switch has 7 (total_slots); take fewer "
            "channels or slots");
  EXPECT_EQ(switch_message("[switch]\npreset = 'tofino'\nchannels = 2147483647\n"),
            "FILE: [switch] slots: 2147483647 channels of 256 slots need 549755813632, and the switch has 16384 "
            "(total_slots); take fewer channels or slots");
}

TEST(Switch, OffloadTablesReplaceThoseOfThePreset)
{
  EXPECT_FALSE(read_text("[switch]\npreset = 'tofino'\noffload = []\n").smart());
  const SwitchModel model = read_text("[switch]\npreset = 'tofino'\n[[switch.offload]]\ncollectives = ['allreduce']\n"
                                      "datatypes = ['MPI_FLOAT', 'MPI_DOUBLE']\noperations = ['MPI_MAX']\n");
  ASSERT_EQ(model.capabilities.size(), 1);
  EXPECT_EQ(model.capabilities.front().datatypes, (std::vector<std::string>{"MPI_FLOAT", "MPI_DOUBLE"}));
  EXPECT_EQ(model.slots, 256);
}

/** Returns the error message for a [[switch.offload]] table with @p lines, without the prefix. */
std::string offload_message(const std::string& lines)
{
  const std::string place   = "FILE: [switch.offload] ";
  const std::string message = switch_message("[switch]\npreset = 'tofino'\n[[switch.offload]]\n" + lines);
  return message.starts_with(place) ? message.substr(place.size()) : message;
}

const std::string INT_SUM = "datatypes = ['MPI_INT']\noperations = ['MPI_SUM']\n";

TEST(Switch, OffloadTablesNameCollectives)
{
  const std::string known = "allreduce, reduce, reduce_scatter, barrier, bcast, allgather, allgatherv, alltoall";
  EXPECT_EQ(offload_message("collectives = ['alreduce']\n" + INT_SUM),
            "collectives: found \"alreduce\"; did you mean \"allreduce\"? allowed: " + known + "; or \"all\"");
  EXPECT_EQ(offload_message("collectives = ['gather']\n").find("collectives: found \"gather\"; "), 0);
  EXPECT_EQ(offload_message("collectives = ['reduce', 'all']\n" + INT_SUM),
            "collectives: found \"all\" beside other names; allowed: [\"all\"] alone, or names without it");
  EXPECT_EQ(offload_message(INT_SUM),
            "collectives: is missing; it says: collectives that a switch executes: " + known + "; or \"all\"");
  EXPECT_EQ(offload_message("collective = 'allreduce'\n" + INT_SUM),
            "collective: unknown key; did you mean \"collectives\"? allowed: collectives, datatypes, operations, "
            "conversion, conversion_rate");
  EXPECT_EQ(switch_message("[switch]\npreset = 'tofino'\noffload = 'allreduce'\n"),
            "FILE: [switch] offload: found \"allreduce\"; allowed: tables, each written as [[switch.offload]]");
}

TEST(Switch, OffloadTablesLimitReductions)
{
  const std::string allreduce = "collectives = ['allreduce']\n";
  EXPECT_EQ(offload_message(allreduce + "operations = ['MPI_SUM']\n"),
            "datatypes: is missing; a row with a reduction (allreduce, reduce, reduce_scatter) needs it");
  EXPECT_EQ(offload_message("collectives = ['bcast', 'reduce']\ndatatypes = ['all']\n"),
            "operations: is missing; a row with a reduction (allreduce, reduce, reduce_scatter) needs it");
  EXPECT_EQ(offload_message(allreduce + "datatypes = []\noperations = ['MPI_SUM']\n"),
            "datatypes: found []; allowed: a list of texts, as [\"MPI_INT\"]");
  EXPECT_EQ(offload_message(allreduce + "datatypes = ['MPI_IMT']\noperations = ['MPI_SUM']\n"),
            "datatypes: found \"MPI_IMT\"; did you mean \"MPI_INT\"? allowed: MPI's names of what is predefined, as "
            "MPI_CHAR; or \"all\"");
  EXPECT_EQ(offload_message(allreduce + "datatypes = ['MPI_INT']\noperations = ['MPI_SUM', 'my_own']\n"),
            "operations: found \"my_own\"; allowed: MPI's names of what is predefined, as MPI_SUM; or \"all\"");
  EXPECT_EQ(offload_message(allreduce + "datatypes = ['all', 'MPI_INT']\noperations = ['all']\n"),
            "datatypes: found \"all\" beside other names; allowed: [\"all\"] alone, or names without it");
}

TEST(Switch, OffloadTablesDoNotLimitCollectivesThatMoveBytes)
{
  for (const std::string name : {"barrier", "bcast", "allgather", "allgatherv", "alltoall"}) {
    const std::string row = "collectives = ['" + name + "']\n";
    EXPECT_EQ(offload_message(row), "") << name;
    EXPECT_EQ(offload_message(row + "datatypes = ['MPI_INT']\n"),
              "datatypes: found [ \"MPI_INT\" ]; allowed only in a row with a reduction (allreduce, reduce, "
              "reduce_scatter): other collectives move bytes of any type; leave it out");
    EXPECT_EQ(offload_message(row + "operations = ['all']\n").find("operations: found [ \"all\" ]; allowed only"), 0);
  }
}

TEST(Switch, OffloadTablesMayConvert)
{
  const auto converted = [](const std::string& collectives, const std::string& datatypes,
                            const std::string& operations) {
    return "collectives = " + collectives + "\ndatatypes = " + datatypes + "\noperations = " + operations + "\n";
  };
  const std::string sums  = converted("['allreduce']", "['MPI_FLOAT']", "['MPI_SUM']");
  const std::string both  = "conversion = 'fixed-point'\nconversion_rate = '5GBps'\n";
  const SwitchModel model = read_text("[switch]\npreset = 'tofino'\n[[switch.offload]]\n" + sums + both);
  EXPECT_EQ(model.capabilities.front().conversion, "fixed-point");
  EXPECT_EQ(model.capabilities.front().conversion_rate, BytesPerSecond(5e9));

  EXPECT_EQ(offload_message(sums + "conversion = 'fixed'\n"), "conversion: found \"fixed\"; allowed: \"fixed-point\"");
  EXPECT_EQ(offload_message(sums + "conversion = ''\n"), "conversion: found \"\"; allowed: \"fixed-point\"");
  EXPECT_EQ(offload_message(sums + "conversion = 'fixed-point'\n"),
            "conversion_rate: is missing; conversion and conversion_rate require each other");
  EXPECT_EQ(offload_message(sums + "conversion_rate = '5GBps'\n"),
            "conversion: is missing; conversion and conversion_rate require each other");
  EXPECT_EQ(offload_message(sums + "conversion = 'fixed-point'\nconversion_rate = '0Bps'\n"),
            "conversion_rate: found \"0Bps\"; allowed: more than zero");
  EXPECT_EQ(offload_message(converted("['allreduce', 'bcast']", "['MPI_FLOAT']", "['MPI_SUM']") + both),
            "collectives: found [ \"allreduce\", \"bcast\" ]; allowed with a conversion: reductions (allreduce, "
            "reduce, reduce_scatter); put the others into a separate row");
  EXPECT_EQ(offload_message(converted("['allreduce']", "['MPI_FLOAT', 'MPI_DOUBLE']", "['MPI_SUM']") + both),
            "datatypes: found [ \"MPI_FLOAT\", \"MPI_DOUBLE\" ]; allowed with a conversion: MPI_FLOAT, MPI_REAL, "
            "MPI_REAL4");
  EXPECT_EQ(offload_message(converted("['allreduce']", "['MPI_FLOAT']", "['MPI_MAX']") + both),
            "operations: found [ \"MPI_MAX\" ]; allowed with a conversion: [\"MPI_SUM\"]");
}

TEST(Switch, ExceptionsInheritFromTheStandard)
{
  const SwitchModel standard = read_text(SWITCH + SLOTS + OFFLOAD);
  const auto exception       = [&](const std::string& lines) {
    const OptionTable file = OptionTable::read_file(TestFile("[[switches]]\nmatch = 'x'\n" + lines).path());
    return read_switch(file.tables("switches").front(), standard, {"match"});
  };
  EXPECT_EQ(exception("slots = 9\n").window(), Bytes(900));
  EXPECT_TRUE(exception("slots = 9\n").smart());
  EXPECT_EQ(exception("preset = 'l2'\n").max_ports, 64);
  EXPECT_FALSE(exception("preset = 'l2'\n").smart());
  EXPECT_EQ(message_of([&] { exception("total_slots = 1\n"); }).find("need 8") == std::string::npos, false);
}

TEST(Switch, ShippedPresetsAreComplete)
{
  for (const std::string& name : list_shared("presets/switch")) {
    const SwitchModel model = read_text("[switch]\npreset = '" + name + "'\n");
    EXPECT_EQ(model.preset, name);
    EXPECT_GT(model.max_ports, 0);
    const std::optional<SwitchModel> found = find_switch_preset(name);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->preset, name);
    EXPECT_EQ(found->smart(), model.smart());
  }
  EXPECT_FALSE(find_switch_preset("no such switch"));
}

TEST(Switch, TofinoHasTheWindowOfMpitofino)
{
  const SwitchModel tofino = *find_switch_preset("tofino");
  EXPECT_EQ(tofino.window(), Bytes(65536));
  EXPECT_EQ(tofino.channels, 64);
  EXPECT_EQ(tofino.packet_overhead, Bytes(82));
  EXPECT_EQ(tofino.lacks("allreduce", "MPI_INT", "MPI_SUM"), Unsupported::none);
}

TEST(Switch, PresetsSupportWhatTheirSourcesState)
{
  const SwitchModel fixed = *find_switch_preset("tofino-fixed");
  EXPECT_EQ(fixed.serving("allreduce", "MPI_FLOAT", "MPI_SUM")->conversion, "fixed-point");
  EXPECT_EQ(fixed.serving("allreduce", "MPI_INT", "MPI_SUM")->conversion, "");
  EXPECT_EQ(fixed.lacks("allreduce", "MPI_DOUBLE", "MPI_SUM"), Unsupported::datatype);
  // All other keys equal tofino's.
  const SwitchModel tofino = *find_switch_preset("tofino");
  for (const Option<SwitchModel>& row : switch_options())
    EXPECT_EQ(row.text(fixed), row.text(tofino)) << row.key;

  const SwitchModel sharp = *find_switch_preset("sharp");
  EXPECT_EQ(sharp.lacks("reduce_scatter", "MPI_DOUBLE", "MPI_SUM"), Unsupported::none);
  EXPECT_EQ(sharp.lacks("reduce", "MPI_SHORT", "MPI_BXOR"), Unsupported::none);
  EXPECT_EQ(sharp.lacks("allreduce", "MPI_FLOAT", "MPI_BXOR"), Unsupported::operation);
  EXPECT_EQ(sharp.lacks("allreduce", "MPI_INT", "MPI_PROD"), Unsupported::operation);
  EXPECT_EQ(sharp.lacks("allreduce", "MPI_LONG_DOUBLE", "MPI_SUM"), Unsupported::datatype);
  EXPECT_EQ(sharp.lacks("bcast", "derived", ""), Unsupported::none);
  EXPECT_EQ(sharp.lacks("allgatherv", "MPI_INT", ""), Unsupported::collective);

  const SwitchModel ideal = *find_switch_preset("ideal");
  for (const std::string& collective : offloadable_collectives())
    EXPECT_EQ(ideal.lacks(collective, "derived", "user-defined"), Unsupported::none) << collective;
}

// ---- Capabilities

TEST(Lacks, NamesTheFirstUnsupportedProperty)
{
  SwitchModel model;
  EXPECT_EQ(model.lacks("allreduce", "MPI_INT", "MPI_SUM"), Unsupported::collective);
  model.capabilities = {{{"allreduce"}, {"MPI_INT", "MPI_LONG"}, {"MPI_SUM"}}};
  EXPECT_EQ(model.lacks("allreduce", "MPI_INT", "MPI_SUM"), Unsupported::none);
  EXPECT_EQ(model.lacks("allreduce", "MPI_LONG", "MPI_SUM"), Unsupported::none);
  EXPECT_EQ(model.lacks("allreduce", "MPI_LONG", "MPI_MAX"), Unsupported::operation);
  EXPECT_EQ(model.lacks("allreduce", "MPI_FLOAT", "MPI_SUM"), Unsupported::datatype);
  EXPECT_EQ(model.lacks("allreduce", "MPI_FLOAT", "MPI_MAX"), Unsupported::datatype);
  EXPECT_EQ(model.lacks("reduce", "MPI_INT", "MPI_SUM"), Unsupported::collective);
  EXPECT_EQ(model.lacks("allreduce", "", "MPI_SUM"), Unsupported::datatype);
}

TEST(Lacks, DoesNotCombineRows)
{
  SwitchModel model;
  model.capabilities = {{{"allreduce"}, {"MPI_INT"}, {"MPI_SUM"}}, {{"allreduce"}, {"MPI_FLOAT"}, {"MPI_MAX"}}};
  EXPECT_EQ(model.lacks("allreduce", "MPI_FLOAT", "MPI_MAX"), Unsupported::none);
  // The closest row determines the answer, wherever it is in the list.
  EXPECT_EQ(model.lacks("allreduce", "MPI_INT", "MPI_MAX"), Unsupported::operation);
  EXPECT_EQ(model.lacks("allreduce", "MPI_FLOAT", "MPI_SUM"), Unsupported::operation);
  EXPECT_EQ(model.lacks("allreduce", "MPI_CHAR", "MPI_SUM"), Unsupported::datatype);
}

TEST(Lacks, AllMatchesEveryName)
{
  const SwitchModel model = read_text("[switch]\npreset = 'tofino'\n[[switch.offload]]\ncollectives = ['all']\n"
                                      "datatypes = ['all']\noperations = ['all']\n");
  for (const std::string& collective : offloadable_collectives())
    EXPECT_EQ(model.lacks(collective, "derived", "user-defined"), Unsupported::none) << collective;
  EXPECT_EQ(model.lacks("gather", "MPI_INT", ""), Unsupported::collective);
  // User-defined datatypes have no name that a table could list.
  SwitchModel sums;
  sums.capabilities = {{{"reduce"}, {"all"}, {"MPI_SUM"}}};
  EXPECT_EQ(sums.lacks("reduce", "derived", "MPI_SUM"), Unsupported::none);
  EXPECT_EQ(sums.lacks("reduce", "derived", "user-defined"), Unsupported::operation);
}

TEST(Lacks, NothingForCollectivesThatMoveBytes)
{
  SwitchModel model;
  model.capabilities = {{{"allreduce", "bcast"}, {"MPI_INT"}, {"MPI_SUM"}}, {{"barrier"}, {}, {}}};
  EXPECT_EQ(model.lacks("bcast", "derived", ""), Unsupported::none);
  EXPECT_EQ(model.lacks("barrier", "", ""), Unsupported::none);
  EXPECT_EQ(model.lacks("allreduce", "derived", "MPI_SUM"), Unsupported::datatype);
  EXPECT_EQ(model.lacks("allgather", "MPI_INT", ""), Unsupported::collective);
}

TEST(Serving, IsTheFirstRowThatSupportsTheCall)
{
  SwitchModel model;
  model.capabilities = {{{"allreduce", "reduce"}, {"MPI_INT"}, {"MPI_SUM"}},
                        {{"allreduce"}, {"MPI_FLOAT"}, {"MPI_SUM"}, "fixed-point", BytesPerSecond(5e9)},
                        {{"bcast"}, {}, {}}};
  EXPECT_EQ(model.serving("reduce", "MPI_INT", "MPI_SUM"), &model.capabilities[0]);
  EXPECT_EQ(model.serving("allreduce", "MPI_FLOAT", "MPI_SUM"), &model.capabilities[1]);
  EXPECT_EQ(model.serving("bcast", "MPI_FLOAT", ""), &model.capabilities[2]);
  EXPECT_EQ(model.serving("reduce", "MPI_FLOAT", "MPI_SUM"), nullptr);
  EXPECT_EQ(model.serving("barrier", "", ""), nullptr);
}

// ---- Offload rows in one-line format

TEST(OffloadText, EqualsTheRowsOfAFile)
{
  const std::vector<Capability> rows = parse_capabilities(
      "allreduce,reduce MPI_INT,MPI_LONG MPI_SUM; allreduce MPI_FLOAT MPI_SUM fixed-point 2.5e9;barrier,bcast", "here");
  ASSERT_EQ(rows.size(), 3);
  EXPECT_EQ(rows[0].collectives, (std::vector<std::string>{"allreduce", "reduce"}));
  EXPECT_EQ(rows[0].datatypes, (std::vector<std::string>{"MPI_INT", "MPI_LONG"}));
  EXPECT_EQ(rows[0].operations, std::vector<std::string>{"MPI_SUM"});
  EXPECT_EQ(rows[1].conversion, "fixed-point");
  EXPECT_EQ(rows[1].conversion_rate.value(), 2.5e9);
  EXPECT_EQ(rows[2].collectives, (std::vector<std::string>{"barrier", "bcast"}));
}

TEST(OffloadText, IsRefusedLikeAFile)
{
  for (const std::string text : {"allreduce", "allreduce MPI_INT", "allreduce MPI_INT MPI_SUM x", "nothing",
                                 "allreduce MPI_INT\"]\nx=[\" MPI_SUM", "allreduce MPI_FLOAT MPI_SUM fixed-point fast",
                                 "barrier MPI_INT MPI_SUM", "; barrier"})
    try {
      parse_capabilities(text, "here");
      ADD_FAILURE() << text;
    } catch (const UserError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("here: ")) << error.what();
    }
}

} // namespace
} // namespace weft
