// SPDX-License-Identifier: LGPL-2.1-only
#include "base/option.hpp"

#include "base/test_file.hpp"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace weft {
namespace {

/** Options struct with a member of every kind. */
struct Device {
  std::string preset;
  int ports     = 1;
  double factor = 1.5;
  Bytes size;
  Seconds delay;
  BytesPerSecond rate;
  FlopsPerSecond speed;
  std::string label;
};

const std::vector<Option<Device>>& device_options()
{
  static const std::vector<Option<Device>> ROWS{
      {"ports", "sockets to plug into", &Device::ports},
      {"factor", "on everything", &Device::factor, Need::optional},
      {"size", "of a packet", &Device::size, Need::optional},
      {"delay", "of a packet", &Device::delay, Need::optional, Allowed::non_negative},
      {"rate", "of packets", &Device::rate, Need::optional},
      {"speed", "of thought", &Device::speed, Need::optional},
      {"label", "on the box", &Device::label, Need::optional},
  };
  return ROWS;
}

Device read_from(const OptionTable& table)
{
  return read_device<Device>(table, "nic", device_options(), {}, [](const OptionTable&, Device&) {});
}

Device read(std::string_view text)
{
  const TestFile file(text);
  return read_from(OptionTable::read_file(file.path()).table("device"));
}

/** Returns the error message for a [device] table with @p lines. */
std::string device_message(const std::string& lines)
{
  return message_about("[device]\n" + lines,
                       [](const std::string& path) { read_from(OptionTable::read_file(path).table("device")); });
}

/** Returns the error message for a file with a syntax error. */
std::string syntax_message(std::string_view text)
{
  return message_about(text, [](const std::string& path) { OptionTable::read_file(path); });
}

TEST(OptionFile, ReadsEveryKindOfValue)
{
  const Device device = read(R"([device]
ports = 64
factor = 0.5
size = "1KiB"
delay = "0.9us"
rate = "100Gbps"
speed = "2Gf"
label = "größer"
)");
  EXPECT_EQ(device.ports, 64);
  EXPECT_EQ(device.factor, 0.5);
  EXPECT_EQ(device.size, Bytes(1024));
  EXPECT_DOUBLE_EQ(device.delay.value(), 0.9e-6);
  EXPECT_EQ(device.rate, BytesPerSecond(12.5e9));
  EXPECT_EQ(device.speed, FlopsPerSecond(2e9));
  EXPECT_EQ(device.label, "größer");
}

TEST(OptionFile, KeepsDefaultsOfWhatIsNotGiven)
{
  const Device device = read("[device]\nports = 2\n");
  EXPECT_EQ(device.factor, 1.5);
  EXPECT_EQ(device.size, Bytes());
}

TEST(OptionFile, AnIntegerIsANumberButNotTheOtherWayRound)
{
  EXPECT_EQ(read("[device]\nports = 1\nfactor = 2\n").factor, 2);
  EXPECT_EQ(device_message("ports = 1.0"), "FILE: [device] ports: found 1.0; allowed: an integer");
}

/** Returns the device read from a file after @p changes; by default it has 4 ports. */
Device changed(const std::vector<std::string>& changes, std::string_view text = "[device]\nports = 4\n")
{
  return read_from(OptionTable::read_text(std::string(text), "FILE").changed(changes).table("device"));
}

TEST(OptionFile, ChangesSetKeysThatAreThereAndThatAreNot)
{
  const Device device = changed({"device.ports=8", "device.delay=3us", "device.label=a # b", "device.rate=\"1Gbps\""});
  EXPECT_EQ(device.ports, 8);
  EXPECT_DOUBLE_EQ(device.delay.value(), 3e-6);
  EXPECT_EQ(device.label, "a # b");
  EXPECT_EQ(device.rate, BytesPerSecond(125e6));
  EXPECT_EQ(changed({"device.ports=8"}, "").ports, 8);
  EXPECT_EQ(changed({"device.ports=8", "device.ports=9"}).ports, 9);
}

TEST(OptionFile, ChangesOfAnArrayOfTablesAreOfAllOfThem)
{
  const OptionTable file = OptionTable::read_text("[[device]]\nports = 4\n[[device]]\n", "FILE");
  const std::vector<std::string> changes{"device.ports=7"};
  for (const OptionTable& table : file.changed(changes).tables("device"))
    EXPECT_EQ(read_from(table).ports, 7);
  EXPECT_EQ(file.tables("device").front().integer("ports"), 4); // the original table is unchanged
}

TEST(OptionFile, MessagesAboutAChangedKeyNameTheChange)
{
  EXPECT_EQ(message_of([] { changed({"device.ports=many"}); }),
            "FILE with device.ports=many: [device] ports: found \"many\"; allowed: an integer");
  EXPECT_EQ(message_of([] { changed({"device.prots=1"}); }),
            "FILE with device.prots=1: [device] prots: unknown key; did you mean \"ports\"? allowed: preset, ports, "
            "factor, size, delay, rate, speed, label");
}

TEST(OptionFile, MessagesAboutATableOfAChangeNameTheChange)
{
  const std::vector<std::string> changes{"devise.ports=3"};
  const std::vector<std::string> known{"device"};
  EXPECT_EQ(message_of([&] { OptionTable::read_text("", "FILE").changed(changes).allow_only(known); }),
            "FILE with devise.ports=3: devise: unknown key; did you mean \"device\"? allowed: device");
  EXPECT_EQ(message_of([] { changed({"device.label=[1]"}); }),
            "FILE with device.label=[1]: [device] label: found [ 1 ]; allowed: a text in quotes");
}

TEST(OptionFile, ChangesThatAreNotWrittenAsSuchAreRefused)
{
  const std::string allowed = "; allowed: TABLE.KEY=VALUE, as switch.slots=64 or link.bandwidth=400Gbps";
  for (const char* change : {"", "device.ports", "device.ports=", "ports=1", ".ports=1", "device.=1", "=1", "a b.c=1"})
    EXPECT_EQ(message_of([&] { changed({change}); }),
              "FILE: found the change \"" + std::string(change) + "\"" + allowed);
  EXPECT_EQ(message_of([] { changed({"device.ports.more=1"}); }),
            "FILE with device.ports.more: found 4 where the change needs a table" + allowed);
}

TEST(OptionFile, UnknownKeysAreRefusedWithASuggestion)
{
  const std::string allowed = "allowed: preset, ports, factor, size, delay, rate, speed, label";
  EXPECT_EQ(device_message("prots = 1"), "FILE: [device] prots: unknown key; did you mean \"ports\"? " + allowed);
  EXPECT_EQ(device_message("ports = 1\nweight = 2"), "FILE: [device] weight: unknown key; " + allowed);
}

TEST(OptionFile, ValuesOfAnotherTypeAreRefused)
{
  const std::vector<std::pair<std::string, std::string>> cases{
      {"ports = \"4\"", "ports: found \"4\"; allowed: an integer"},
      {"ports = true", "ports: found true; allowed: an integer"},
      {"ports = 1979-05-27", "ports: found 1979-05-27; allowed: an integer"},
      {"factor = \"1\"", "factor: found \"1\"; allowed: a number"},
      {"factor = true", "factor: found true; allowed: a number"},
      {"size = 256", "size: found 256; allowed: a quantity in quotes, with its unit, as \"256B\""},
      {"delay = 1.5", "delay: found 1.5; allowed: a quantity in quotes, with its unit, as \"0.9us\""},
      {"rate = 100", "rate: found 100; allowed: a quantity in quotes, with its unit, as \"100Gbps\""},
      {"speed = [\"1Gf\"]", "speed: found [ \"1Gf\" ]; allowed: a quantity in quotes, with its unit, as \"100Gf\""},
      {"rate = { up = \"1Gbps\" }",
       "rate: found a table; allowed: a quantity in quotes, with its unit, as \"100Gbps\""},
      {"label = 3", "label: found 3; allowed: a text in quotes"},
      {"preset = 3", "preset: found 3; allowed: a text in quotes"},
  };
  for (const auto& [line, message] : cases)
    EXPECT_EQ(device_message(line), "FILE: [device] " + message);
}

TEST(OptionFile, IntegersThatDoNotFitAreRefused)
{
  EXPECT_EQ(read("[device]\nports = 2147483647\n").ports, 2147483647);
  for (const std::string number : {"2147483648", "-2147483649"})
    EXPECT_EQ(device_message("ports = " + number),
              "FILE: [device] ports: found " + number + "; allowed: an integer between -2^31 and 2^31 - 1");
}

TEST(OptionFile, UnitsOfAnotherKindAreRefused)
{
  EXPECT_EQ(device_message("delay = \"1Gbps\""), "FILE: [device] delay: found \"1Gbps\"; allowed: a duration, a number "
                                                 "and one of the units ps, ns, us, ms, s, m, h, d, w");
  EXPECT_EQ(device_message("rate = \"100\""),
            "FILE: [device] rate: found \"100\"; allowed: a bandwidth, a number and one of the units bps, Bps, kbps, "
            "kBps, Mbps, MBps, Gbps, GBps, Tbps, TBps, KiBps, MiBps, GiBps");
  EXPECT_EQ(device_message("size = \"0.5B\""), "FILE: [device] size: found \"0.5B\"; allowed: a whole number of bytes");
}

TEST(OptionFile, ValuesOutOfBoundsAreRefused)
{
  const std::vector<std::pair<std::string, std::string>> cases{
      {"ports = 0", "ports: found 0; allowed: more than zero"},
      {"ports = -3", "ports: found -3; allowed: more than zero"},
      {"factor = 0.0", "factor: found 0.0; allowed: more than zero"},
      {"factor = nan", "factor: found nan; allowed: more than zero, and finite"},
      {"factor = inf", "factor: found inf; allowed: more than zero, and finite"},
      {"rate = \"0Gbps\"", "rate: found \"0Gbps\"; allowed: more than zero"},
      {"delay = \"-1us\"", "delay: found \"-1us\"; allowed: zero or more"},
  };
  for (const auto& [line, message] : cases)
    EXPECT_EQ(device_message(line), "FILE: [device] " + message);
  EXPECT_EQ(read("[device]\nports = 1\ndelay = \"0s\"\n").delay, Seconds());
}

TEST(OptionFile, MissingKeysAreNamedWithTheirMeaning)
{
  EXPECT_EQ(device_message("factor = 2"), "FILE: [device] ports: is missing; it says: sockets to plug into");
  EXPECT_EQ(message_about("", [](const std::string& path) { read_from(OptionTable::read_file(path).table("device")); }),
            "FILE: [device] ports: is missing; it says: sockets to plug into");
}

TEST(OptionFile, AllThatIsMissingIsToldAtOnce)
{
  Missing missing;
  const auto lacks = [](const std::string& key) { throw MissingError("FILE: " + key + ": is missing"); };
  EXPECT_EQ(missing.read(1, [] { return 2; }), 2);
  missing.rethrow();
  EXPECT_EQ(missing.read(1, [&] { return lacks("[a] b"), 2; }), 1);
  missing.read(1, [&] { return lacks("[c] d"), 2; });
  EXPECT_EQ(message_about("", [&](const std::string&) { missing.rethrow(); }),
            "FILE: [a] b: is missing; FILE: [c] d: is missing");
}

TEST(OptionFile, TextsThatCommandATerminalAreRefused)
{
  const std::string refused = "allowed: a single line of text, without control characters";
  for (const std::string text : {"\\u0000", "\\u001b[2J", "a\\nb", "\\u009b31m", "\\u007f"})
    EXPECT_NE(device_message("ports = 1\ndelay = \"" + text + "\"").find(refused), std::string::npos) << text;
}

TEST(OptionFile, AFileWithoutEndIsNotRead)
{
  EXPECT_EQ(message_about("", [](const std::string&) { OptionTable::read_file("/dev/zero"); }),
            "/dev/zero: has more than 64 MiB; allowed: a TOML file of tables and keys");
}

TEST(OptionFile, BadSyntaxIsShownWithItsPlace)
{
  EXPECT_EQ(syntax_message("[device]\nports = \n").find("FILE: line 2, column 9: invalid TOML: "), 0);
  EXPECT_EQ(syntax_message("ports = 1\nports = 2\n").find("FILE: line 2, column 9: "), 0);
  EXPECT_EQ(syntax_message("[device]\n[device]\n").find("FILE: line 2, column 1: "), 0);
  EXPECT_EQ(syntax_message("<?xml version='1.0'?>\n<platform/>").find("FILE: line 1, column 1: "), 0);
}

TEST(OptionFile, WhatIsNoTextIsRefused)
{
  const std::string zeros(1000, '\0');
  const std::string binary = "\x7f"
                             "ELF\x02\x01\xff\xfe\xfd";
  EXPECT_EQ(syntax_message(zeros).find("FILE: line 1, column 1: invalid TOML: "), 0);
  EXPECT_EQ(syntax_message(binary).find("FILE: line 1, column 6: invalid TOML: "), 0);
}

TEST(OptionFile, EndsOfLinesAndByteOrderMarksDoNotMatter)
{
  EXPECT_EQ(read("\xef\xbb\xbf[device]\r\nports = 3\r\n").ports, 3);
}

TEST(OptionFile, FilesThatCannotBeReadAreNamed)
{
  const std::string path = TestFile("").path(); // deleted at the end of this statement
  EXPECT_EQ(message_of([&] { OptionTable::read_file(path); }), path + ": cannot be read: No such file or directory");
  const std::string directory = std::filesystem::temp_directory_path();
  EXPECT_EQ(message_of([&] { OptionTable::read_file(directory); }), directory + ": cannot be read: Is a directory");
}

TEST(OptionFile, TablesAreFoundByName)
{
  const TestFile file("[one]\n[[many]]\nports = 1\n[[many]]\nports = 2\n");
  const OptionTable top = OptionTable::read_file(file.path());
  EXPECT_EQ(top.file(), file.path());
  EXPECT_TRUE(top.has("one"));
  EXPECT_FALSE(top.has("none"));
  EXPECT_FALSE(top.table("none").has("ports"));
  EXPECT_TRUE(top.tables("none").empty());
  const std::vector<OptionTable> many = top.tables("many");
  ASSERT_EQ(many.size(), 2);
  EXPECT_EQ(many[1].integer("ports"), 2);
  EXPECT_EQ(many[1].place("ports"), file.path() + ": [many] ports");
  EXPECT_EQ(top.place("one"), file.path() + ": one");
}

TEST(OptionFile, ATableOutlivesItsFile)
{
  EXPECT_EQ(OptionTable::read_file(TestFile("[device]\nports = 7\n").path()).table("device").integer("ports"), 7);
}

TEST(OptionFile, OneTableIsNotMany)
{
  const auto one  = [](const std::string& path) { OptionTable::read_file(path).table("device"); };
  const auto many = [](const std::string& path) { OptionTable::read_file(path).tables("device"); };
  EXPECT_EQ(message_about("[[device]]", one),
            "FILE: device: found a list of tables; allowed: a table, written as [device]");
  EXPECT_EQ(message_about("device = 3", one), "FILE: device: found 3; allowed: a table, written as [device]");
  EXPECT_EQ(message_about("[device]", many),
            "FILE: device: found a table; allowed: tables, each written as [[device]]");
  EXPECT_EQ(message_about("device = [1]", many),
            "FILE: device: found [ 1 ]; allowed: tables, each written as [[device]]");
  EXPECT_EQ(message_about("device = []", many), "");
}

TEST(OptionFile, ListsOfTextsAreTextsAndNotEmpty)
{
  const auto read = [](const std::string& path) { OptionTable::read_file(path).texts("names"); };
  const TestFile file("names = ['a', 'b']");
  EXPECT_EQ(OptionTable::read_file(file.path()).texts("names"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(OptionTable::read_file(file.path()).texts("others"), std::nullopt);
  const std::string allowed = "; allowed: a list of texts, as [\"MPI_INT\"]";
  EXPECT_EQ(message_about("names = []", read), "FILE: names: found []" + allowed);
  EXPECT_EQ(message_about("names = 'a'", read), "FILE: names: found \"a\"" + allowed);
  EXPECT_EQ(message_about("names = ['a', 1]", read), "FILE: names: found [ \"a\", 1 ]" + allowed);
}

TEST(OptionFile, MessagesStayOnOneLineAndShort)
{
  EXPECT_EQ(device_message("\"a\\nb\" = 1").find('\n'), std::string::npos);
  EXPECT_EQ(device_message("delay = \"1\\n2\"").find('\n'), std::string::npos);
  EXPECT_EQ(device_message("ports = \"" + std::string(5000, 'x') + "\""),
            "FILE: [device] ports: found \"" + std::string(79, 'x') + "...; allowed: an integer");
  std::string long_text;
  for (int i = 0; i < 100; ++i)
    long_text += "ö"; // two bytes, which truncation must not split
  EXPECT_EQ(device_message("ports = \"" + long_text + "\""),
            "FILE: [device] ports: found \"" + long_text.substr(0, 78) + "...; allowed: an integer");
}

TEST(OptionFile, OnlyWhatIsThereCanBeShown)
{
  const TestFile file("a = 1");
  const OptionTable table = OptionTable::read_file(file.path());
  EXPECT_EQ(table.found("a"), "1");
  EXPECT_THROW(table.found("b"), std::logic_error);
}

TEST(OptionFile, RowsDescribeThemselves)
{
  const std::vector<OptionHelp> help = describe_options(device_options());
  ASSERT_EQ(help.size(), device_options().size());
  const std::vector<std::string> types{"integer", "number", "size", "duration", "bandwidth", "speed", "text"};
  for (std::size_t i = 0; i < help.size(); ++i) {
    EXPECT_EQ(help[i].key, device_options()[i].key);
    EXPECT_EQ(help[i].meaning, device_options()[i].meaning);
    EXPECT_EQ(help[i].type, types[i]);
    EXPECT_EQ(help[i].required, i == 0);
  }
}

TEST(OptionFile, RowsSayTheDefaultThatTheirMemberHas)
{
  struct Defaults {
    int count     = 3;
    double factor = 1.5;
    Bytes odd     = Bytes(1518);
    Bytes even    = Bytes(65536);
    Seconds none;
    BytesPerSecond unlimited = BytesPerSecond(std::numeric_limits<double>::infinity());
    Hertz clock              = Hertz(1.8e9);
    std::string kind         = "a";
    std::vector<int> ranks   = {4, 4};
    int limit                = 0;
  };
  using M = Defaults;
  const std::vector<Option<M>> rows{
      {"count", "", &M::count, Need::optional},
      {"factor", "", &M::factor, Need::optional},
      {"odd", "", &M::odd, Need::optional},
      {"even", "", &M::even, Need::optional},
      {"none", "", &M::none, Need::optional, Allowed::non_negative},
      {"unlimited", "", &M::unlimited, Need::optional},
      {"clock", "", &M::clock, Need::optional},
      {"kind", "", &M::kind, Need::optional, Allowed::one_of({"a", "b"})},
      {"ranks", "", &M::ranks, Need::optional},
      {"limit", "", &M::limit, Need::otherwise("unlimited"), Allowed::up_to(7)},
      {"must", "", &M::count},
  };
  const std::vector<std::string> defaults{"3",      "1.5",   "1518B",  "64KiB",     "0s", "unlimited",
                                          "1.8GHz", "\"a\"", "[4, 4]", "unlimited", ""};
  const std::vector<OptionHelp> help = describe_options(rows);
  for (std::size_t i = 0; i < help.size(); ++i)
    EXPECT_EQ(help[i].otherwise, defaults[i]) << help[i].key;
  EXPECT_EQ(help[4].allowed, "zero or more");
  EXPECT_EQ(help[7].allowed, R"("a", "b")");
  EXPECT_EQ(help[9].allowed, "0 to 7");
}

TEST(OptionFile, ValuesThatARowDoesNotNameAreRefused)
{
  struct Choice {
    std::string way = "left";
    double share    = 0;
  };
  const std::vector<Option<Choice>> rows{{"way", "", &Choice::way, Need::optional, Allowed::one_of({"left", "right"})},
                                         {"share", "", &Choice::share, Need::optional, Allowed::up_to(1)}};
  const auto message = [&](const std::string& text) {
    return message_about(text, [&](const std::string& path) {
      Choice into;
      read_options(OptionTable::read_file(path), rows, {}, into);
    });
  };
  EXPECT_EQ(message("way = 'right'\nshare = 1"), "");
  EXPECT_EQ(message("way = 'rihgt'"), "FILE: way: found \"rihgt\"; did you mean \"right\"? allowed: left, right");
  EXPECT_EQ(message("share = 1.5"), "FILE: share: found 1.5; allowed: 0 to 1");
  EXPECT_EQ(message("share = -1"), "FILE: share: found -1; allowed: 0 to 1");
}

// ---- Presets: shipped NICs, read into a struct of their keys

struct Card {
  std::string preset;
  Seconds offload_overhead;
  Seconds message_gap{42};
};

const std::vector<Option<Card>>& card_options()
{
  static const std::vector<Option<Card>> ROWS{
      {"offload_overhead", "work", &Card::offload_overhead},
      {"message_gap", "wait", &Card::message_gap},
  };
  return ROWS;
}

Card read_card(const std::string& path, const Card* standard = nullptr)
{
  return read_device<Card>(
      OptionTable::read_file(path).table("card"), "nic", card_options(), {"calls"}, [](const OptionTable&, Card&) {},
      standard);
}

Card card_of(const std::string& lines, const Card* standard = nullptr)
{
  return read_card(TestFile("[card]\n" + lines).path(), standard);
}

std::string card_message(const std::string& lines)
{
  return message_about("[card]\n" + lines, [](const std::string& path) { read_card(path); });
}

TEST(Preset, GivesEveryValue)
{
  const Card card = card_of("preset = \"connectx-6-dx\"");
  EXPECT_EQ(card.preset, "connectx-6-dx");
  EXPECT_GT(card.offload_overhead, Seconds());
  EXPECT_LT(card.message_gap, Seconds(1));
}

TEST(Preset, IsOverriddenByTheTable)
{
  const Card card = card_of("message_gap = \"5s\"\npreset = \"connectx-6-dx\"");
  EXPECT_EQ(card.message_gap, Seconds(5));
  EXPECT_EQ(card.offload_overhead, card_of("preset = \"connectx-6-dx\"").offload_overhead);
  EXPECT_EQ(card.preset, "connectx-6-dx");
}

TEST(Preset, UnknownNamesAreRefusedWithASuggestion)
{
  EXPECT_EQ(card_message("preset = \"connectx-6dx\""),
            "FILE: [card] preset: found \"connectx-6dx\"; did you mean \"connectx-6-dx\"? allowed: "
            "connectx-3, connectx-6-dx, connectx-6-hdr100, connectx-6-hdr100-hcoll, connectx-6-hdr200, "
            "connectx-6-hdr200-hcoll, connectx-7-ndr");
  EXPECT_EQ(card_message("preset = \"../switch/tofino\""),
            "FILE: [card] preset: found \"../switch/tofino\"; allowed: connectx-3, connectx-6-dx, connectx-6-hdr100, "
            "connectx-6-hdr100-hcoll, connectx-6-hdr200, connectx-6-hdr200-hcoll, connectx-7-ndr");
}

TEST(Preset, MisspeltPresetIsAnUnknownKey)
{
  EXPECT_EQ(card_message("presets = \"connectx-6-dx\""), "FILE: [card] presets: unknown key; did you mean \"preset\"? "
                                                         "allowed: calls, preset, offload_overhead, message_gap");
}

TEST(Preset, ErrorsInItNameItsFile)
{
  const TestFile file("[device]\npreset = \"connectx-6-dx\"");
  const std::string message = message_of([&] { read_from(OptionTable::read_file(file.path()).table("device")); });
  EXPECT_NE(message.find("nic preset connectx-6-dx: "), std::string::npos) << message;
  EXPECT_NE(message.find(": unknown key; "), std::string::npos) << message;
}

TEST(Preset, AStandardIsChangedByValuesAndReplacedByAPreset)
{
  const Card standard{"some", Seconds(1), Seconds(2)};
  const Card changed = card_of("message_gap = \"3s\"", &standard);
  EXPECT_EQ(changed.preset, "some");
  EXPECT_EQ(changed.offload_overhead, Seconds(1));
  EXPECT_EQ(changed.message_gap, Seconds(3));
  const Card replaced = card_of("preset = \"connectx-6-dx\"", &standard);
  EXPECT_EQ(replaced.offload_overhead, card_of("preset = \"connectx-6-dx\"").offload_overhead);
}

} // namespace
} // namespace weft
