#include "fabric/fabric_test.hpp"

#include "base/share.hpp"
#include "fabric/star.hpp"

#include <cctype>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace weft {
namespace {

const std::string ABOUT_TABLES = "allowed: fabric, topology, host, nic, link, links, shared, switch, switches, "
                                 "point_to_point, mpi, progress_engine, policy, multicast";

std::string with(const std::string& what, const std::string& by)
{
  return replaced(FABRIC, what, by);
}

// ---- What is read

TEST(Fabric, IsReadFromItsFile)
{
  const TestFile file(with("name = \"small\"", "name = \"small\"\ndescription = \"four hosts\""));
  const Fabric fabric = Fabric::load(file.path());
  EXPECT_EQ(fabric.name(), "small");
  EXPECT_EQ(fabric.description(), "four hosts");
  EXPECT_EQ(fabric.file(), file.path());
  EXPECT_EQ(fabric.topology_kind(), "star");
  EXPECT_EQ(fabric.host_count(), 4);
  EXPECT_EQ(fabric.switch_count(), 1);
  EXPECT_EQ(fabric.host().cores, 2);
  EXPECT_EQ(fabric.host().speed, FlopsPerSecond(1e9));
  EXPECT_EQ(fabric.host().loopback_bandwidth, BytesPerSecond(1e10));
  EXPECT_DOUBLE_EQ(fabric.host().loopback_latency.value(), 1e-7);
  EXPECT_DOUBLE_EQ(fabric.nic().message_gap.value(), 5e-7);
  EXPECT_EQ(fabric.switch_model(0).max_ports, 8);
  EXPECT_EQ(&fabric.model_at(4), &fabric.switch_model(0));
}

TEST(Fabric, HasTwoLinksACable)
{
  const Fabric fabric = fabric_of(FABRIC);
  ASSERT_EQ(fabric.links().size(), 8);
  for (int host = 0; host < 4; ++host) {
    const Link& up   = fabric.link(up_link(static_cast<std::size_t>(host)));
    const Link& down = fabric.link(down_link(static_cast<std::size_t>(host)));
    EXPECT_EQ(up.name, "host-" + std::to_string(host) + ".up");
    EXPECT_EQ(down.name, "host-" + std::to_string(host) + ".down");
    EXPECT_EQ(up.from, host);
    EXPECT_EQ(up.to, 4);
    EXPECT_EQ(down.from, 4);
    EXPECT_EQ(down.to, host);
    EXPECT_EQ(up.bandwidth, BytesPerSecond(1e9));
    EXPECT_EQ(down.latency, Seconds(1e-6));
  }
}

TEST(Fabric, LatencyIsThatOfLinksAndSwitchesBetween)
{
  const Fabric fabric = fabric_of(FABRIC);
  Route route;
  fabric.route(0, 3, route);
  EXPECT_DOUBLE_EQ(fabric.latency(route).value(), 2.25e-6);
  route.clear();
  fabric.route(0, 4, route); // the switch is not passed through
  EXPECT_DOUBLE_EQ(fabric.latency(route).value(), 1e-6);
  route.clear();
  fabric.route(4, 2, route);
  EXPECT_DOUBLE_EQ(fabric.latency(route).value(), 1e-6);
}

TEST(Fabric, MayHaveAProgressEngine)
{
  EXPECT_FALSE(fabric_of(FABRIC).progress_engine().has_value());
  const Fabric fabric = fabric_of(FABRIC + "[progress_engine]\npreset = 'bluefield-3-dpa'\nreceive_workers = 4\n");
  ASSERT_TRUE(fabric.progress_engine().has_value());
  EXPECT_EQ(fabric.progress_engine()->receive_workers, 4);
}

TEST(Fabric, MayHaveOneHost)
{
  const Fabric fabric = fabric_of(with("hosts = 4", "hosts = 1"));
  EXPECT_EQ(fabric.host_count(), 1);
  EXPECT_EQ(check(fabric).find("0 routes, every pair of hosts"), 0);
}

TEST(Fabric, MayHaveAsManyHostsAsTheSwitchHasPorts)
{
  EXPECT_EQ(fabric_of(with("hosts = 4", "hosts = 8")).host_count(), 8);
}

TEST(Segments, OfAPointToPointMessageHoldFromTheirSizeOn)
{
  const Fabric fabric = fabric_of(FABRIC + "[[point_to_point]]\nfrom = '0B'\nlatency_factor = 1\nbandwidth_factor = 2\n"
                                           "[[point_to_point]]\nfrom = '1KiB'\nlatency_factor = 3\n"
                                           "bandwidth_factor = 4\n"
                                           "[[point_to_point]]\nfrom = '1MiB'\nlatency_factor = 5\n"
                                           "bandwidth_factor = 6\n");
  const std::map<double, double> factors{{0, 1},    {1, 1},       {1023, 1},    {1024, 3},
                                         {1025, 3}, {1048575, 3}, {1048576, 5}, {1e15, 5}};
  for (const auto& [size, factor] : factors) {
    EXPECT_EQ(fabric.segment(Bytes(size)).latency_factor, factor) << size;
    EXPECT_EQ(fabric.segment(Bytes(size)).bandwidth_factor, factor + 1) << size;
  }
}

TEST(Segments, AreOptional)
{
  const Fabric fabric = fabric_of(FABRIC);
  ASSERT_EQ(fabric.segments().size(), 1);
  EXPECT_EQ(fabric.segment(Bytes(7)).latency_factor, 1);
  EXPECT_EQ(fabric.segment(Bytes(7)).bandwidth_factor, 1);
}

// ---- Exceptions by name

TEST(Exceptions, ChangeTheLinksThatMatch)
{
  const Fabric fabric  = fabric_of(FABRIC + "[[links]]\nmatch = 'host-[12]'\nbandwidth = '2GBps'\n"
                                            "[[links]]\nmatch = 'host-2'\nlatency = '7us'\n");
  const auto bandwidth = [&](LinkId id) { return fabric.link(id).bandwidth.value(); };
  for (const LinkId id : {0, 1, 6, 7})
    EXPECT_EQ(bandwidth(id), 1e9);
  for (const LinkId id : {2, 3})
    EXPECT_EQ(bandwidth(id), 2e9);
  // The last table that matches holds; what it does not say is [link]'s.
  for (const LinkId id : {4, 5}) {
    EXPECT_EQ(bandwidth(id), 1e9);
    EXPECT_DOUBLE_EQ(fabric.link(id).latency.value(), 7e-6);
  }
}

TEST(Exceptions, ChangeTheSwitchesThatMatch)
{
  const Fabric plain = fabric_of(FABRIC + "[[switches]]\nmatch = 's*'\noffload = []\nmax_ports = 5\n");
  EXPECT_FALSE(plain.switch_model(0).smart());
  EXPECT_EQ(plain.switch_model(0).max_ports, 5);
  EXPECT_EQ(plain.switch_model(0).slots, 4);
  const Fabric other = fabric_of(FABRIC + "[[switches]]\nmatch = 'switch'\npreset = 'tofino'\nmax_ports = 5\n");
  EXPECT_EQ(other.switch_model(0).preset, "tofino");
  EXPECT_EQ(other.switch_model(0).slots, 256);
  EXPECT_EQ(other.switch_model(0).max_ports, 5);
}

TEST(Exceptions, MustMatchSomething)
{
  EXPECT_EQ(fabric_message(FABRIC + "[[links]]\nmatch = 'hots-*'\n"),
            "FILE: [links] match: found \"hots-*\", and no cable has such a name; the first is \"host-0\", the last "
            "\"host-3\"");
  EXPECT_EQ(fabric_message(FABRIC + "[[switches]]\nmatch = 'leaf-*'\n"),
            "FILE: [switches] match: found \"leaf-*\", and no switch has such a name; the first is \"switch\", the "
            "last \"switch\"");
  const std::string missing = "match: is missing; it says for which names the table is: a name, or a pattern with * "
                              "and ?";
  EXPECT_EQ(fabric_message(FABRIC + "[[links]]\nlatency = '1us'\n"), "FILE: [links] " + missing);
  EXPECT_EQ(fabric_message(FABRIC + "[[switches]]\nmax_ports = 9\n"), "FILE: [switches] " + missing);
}

TEST(Exceptions, AreHeldToTheSameRules)
{
  EXPECT_EQ(fabric_message(FABRIC + "[[links]]\nmatch = '*'\nlatncy = '1us'\n"),
            "FILE: [links] latncy: unknown key; did you mean \"latency\"? allowed: match, bandwidth, latency");
  EXPECT_EQ(fabric_message(FABRIC + "[[links]]\nmatch = '*'\nbandwidth = '0Bps'\n"),
            "FILE: [links] bandwidth: found \"0Bps\"; allowed: more than zero");
  EXPECT_EQ(fabric_message(FABRIC + "[[switches]]\nmatch = '*'\nslots = 0\n"),
            "FILE: [switches] slots: found 0; allowed: more than zero");
}

// ---- What links share

TEST(Shared, BelongsToTheLinksThatItNames)
{
  const Fabric fabric = fabric_of(FABRIC + "[[shared]]\nlinks = ['host-1.up', 'host-2.down']\nbandwidth = '3GBps'\n"
                                           "[[shared]]\nlinks = ['host-1.down']\nbandwidth = '2GBps'\n");
  ASSERT_EQ(fabric.shared().size(), 2);
  EXPECT_EQ(fabric.shared()[0].bandwidth, BytesPerSecond(3e9));
  EXPECT_EQ(fabric.shared_by(up_link(1)), 0);
  EXPECT_EQ(fabric.shared_by(down_link(2)), 0);
  EXPECT_EQ(fabric.shared_by(down_link(1)), 1);
  EXPECT_EQ(fabric.shared_by(up_link(0)), std::nullopt);
  EXPECT_EQ(fabric_of(FABRIC).shared_by(0), std::nullopt);
}

TEST(Shared, NamesLinksOnce)
{
  const std::string rest = "]\nbandwidth = '1GBps'\n";
  EXPECT_EQ(fabric_message(FABRIC + "[[shared]]\nlinks = ['host-1'" + rest),
            "FILE: [shared] links: found \"host-1\", which is no link; the first is \"host-0.up\", the last "
            "\"host-3.down\"");
  EXPECT_EQ(fabric_message(FABRIC + "[[shared]]\nlinks = ['host-1.up', 'host-1.up'" + rest),
            "FILE: [shared] links: found \"host-1.up\" twice; allowed: one place for each link in all [[shared]] "
            "tables");
}

// ---- What is refused

TEST(BadFabric, ThatIsNotThere)
{
  const std::string known = "allowed: a file, or one of " + join(list_shared("fabrics"));
  EXPECT_EQ(message_of([] { Fabric::load("tofino4"); }),
            "fabric \"tofino4\": there is no such file, and no shipped fabric has that name; did you mean "
            "\"tofino-4\"? " +
                known);
  EXPECT_EQ(message_of([] { Fabric::load("/no/such/file.toml"); }),
            "fabric \"/no/such/file.toml\": there is no such file, and no shipped fabric has that name; " + known);
  EXPECT_EQ(message_of([] { Fabric::load(""); }),
            "fabric \"\": there is no such file, and no shipped fabric has that name; " + known);
  EXPECT_EQ(message_of([] { Fabric::load("/"); }),
            "fabric \"/\": this is a directory or a device, and no shipped fabric has that name; " + known);
}

TEST(BadFabric, ThatIsEmptyOrNoToml)
{
  const std::string nothing = fabric_message("");
  for (const std::string key :
       {"[fabric] name", "[host] ", "[nic] ", "[switch] ", "[topology] kind", "[link] bandwidth"})
    EXPECT_NE(nothing.find(key), std::string::npos) << key << " in " << nothing;
  EXPECT_EQ(fabric_message("\x80\x81").find("FILE: line 1, column 1: this is not valid TOML: "), 0);
}

TEST(BadFabric, WithoutAName)
{
  const std::string missing = "FILE: [fabric] name: is missing; it says: short name, shown in records and plots";
  EXPECT_EQ(fabric_message(with("[fabric]\nname = \"small\"", "")), missing);
  EXPECT_EQ(fabric_message(with("name = \"small\"", "")), missing);
  EXPECT_EQ(fabric_message(with("name = \"small\"", "name = \"\\u001b[31m\"")),
            "FILE: [fabric] name: found \" [31m\"; allowed: a text on one line, without control characters");
  EXPECT_EQ(fabric_message(with("\"small\"", "\"\"")),
            "FILE: [fabric] name: found \"\"; allowed: a text that is not empty");
}

TEST(BadFabric, WithAMisspeltTable)
{
  EXPECT_EQ(fabric_message(with("[switch]", "[swich]")),
            "FILE: swich: unknown key; did you mean \"switch\"? " + ABOUT_TABLES);
  EXPECT_EQ(fabric_message("hosts = 4\n" + FABRIC), "FILE: hosts: unknown key; did you mean \"host\"? " + ABOUT_TABLES);
  EXPECT_EQ(fabric_message(with("[link]", "[[link]]")),
            "FILE: link: found a list of tables; allowed: a table, written as [link]");
  EXPECT_EQ(fabric_message(FABRIC + "[point_to_point]\nfrom = '0B'\n"),
            "FILE: point_to_point: found a table; allowed: tables, each written as [[point_to_point]]");
}

TEST(BadFabric, WithAnUnknownTopology)
{
  std::vector<std::string> names;
  for (const TopologyKind& kind : topology_kinds())
    names.push_back(kind.name);
  EXPECT_EQ(fabric_message(with("\"star\"", "\"stra\"")),
            "FILE: [topology] kind: found \"stra\"; did you mean \"star\"? allowed: " + join(names));
  EXPECT_EQ(fabric_message(with("\"star\"", "\"moebius strip\"")),
            "FILE: [topology] kind: found \"moebius strip\"; allowed: " + join(names));
  EXPECT_EQ(fabric_message(with("kind = \"star\"", "")), "FILE: [topology] kind: is missing; allowed: " + join(names));
}

TEST(BadFabric, WithAnImpossibleNumberOfHosts)
{
  const auto hosts = [](const std::string& number) { return fabric_message(with("hosts = 4", "hosts = " + number)); };
  EXPECT_EQ(hosts("0"), "FILE: [topology] hosts: found 0; allowed: more than zero");
  EXPECT_EQ(hosts("-3"), "FILE: [topology] hosts: found -3; allowed: more than zero");
  EXPECT_EQ(hosts("4.0"), "FILE: [topology] hosts: found 4.0; allowed: an integer");
  EXPECT_EQ(hosts("\"4\""), "FILE: [topology] hosts: found \"4\"; allowed: an integer");
  EXPECT_EQ(fabric_message(with("hosts = 4", "")), "FILE: [topology] hosts: is missing; it says: number of hosts");
}

TEST(BadFabric, WithMoreHostsThanPorts)
{
  for (const std::string hosts : {"9", "16777216"})
    EXPECT_EQ(fabric_message(with("hosts = 4", "hosts = " + hosts)),
              "FILE: [switch] max_ports: the topology has " + hosts +
                  " hosts, and all switches together 8 ports; take fewer hosts or switches with more ports");
}

TEST(BadFabric, WithMoreCablesThanPorts)
{
  EXPECT_EQ(fabric_message(with("kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [4, 2]\nup = [1, 5]")),
            "FILE: [switch] max_ports: \"level1-0\" has 8 ports, and the topology needs 9; take fewer cables or a "
            "switch with more ports");
}

TEST(BadFabric, WithMoreHostsThanMemory)
{
  const std::string ports = with("max_ports = 8", "max_ports = 2147483647");
  for (const std::string hosts : {"16777217", "1000000000", "2147483647"})
    EXPECT_EQ(fabric_message(replaced(ports, "hosts = 4", "hosts = " + hosts)),
              "FILE: [topology] hosts: makes a fabric of " + hosts + " cables; allowed: at most 16777216");
}

TEST(BadFabric, WithBadQuantities)
{
  EXPECT_EQ(fabric_message(with("\"1GBps\"", "100")),
            "FILE: [link] bandwidth: found 100; allowed: a quantity in quotes, with its unit, as \"100Gbps\"");
  EXPECT_EQ(fabric_message(with("\"1GBps\"", "\"100\"")),
            "FILE: [link] bandwidth: found \"100\"; allowed: a bandwidth, a number and one of the units bps, Bps, "
            "kbps, kBps, Mbps, MBps, Gbps, GBps, Tbps, TBps, KiBps, MiBps, GiBps");
  EXPECT_EQ(fabric_message(with("latency = \"1us\"", "latency = \"-1us\"")),
            "FILE: [link] latency: found \"-1us\"; allowed: zero or more");
  EXPECT_EQ(fabric_message(with("\"1Gf\"", "\"0Gf\"")), "FILE: [host] speed: found \"0Gf\"; allowed: more than zero");
  EXPECT_EQ(fabric_message(with("\"2us\"", "\"2ux\"")),
            "FILE: [nic] offload_overhead: found \"2ux\"; allowed: a duration, a number and one of the units ps, ns, "
            "us, ms, s, m");
}

TEST(BadFabric, WithSegmentsThatDoNotRise)
{
  const auto segments = [](const std::vector<std::string>& sizes) {
    std::string text = FABRIC;
    for (const std::string& size : sizes)
      text += "[[point_to_point]]\nfrom = '" + size + "'\nlatency_factor = 1\nbandwidth_factor = 1\n";
    return fabric_message(text);
  };
  const auto message = [](const std::string& size) {
    return "FILE: [point_to_point] from: found \"" + size +
           "\"; allowed: \"0B\" in the first [[point_to_point]], then rising from table to table";
  };
  EXPECT_EQ(segments({"0B", "1kB", "1KiB"}), "");
  EXPECT_EQ(segments({"1B"}), message("1B"));
  EXPECT_EQ(segments({"0B", "0B"}), message("0B"));
  EXPECT_EQ(segments({"0B", "2kB", "1kB"}), message("1kB"));
  EXPECT_EQ(segments({"0B", "-1B"}), "FILE: [point_to_point] from: found \"-1B\"; allowed: zero or more");
}

TEST(BadFabric, WithIncompleteSegments)
{
  EXPECT_EQ(fabric_message(FABRIC + "[[point_to_point]]\nlatency_factor = 1\nbandwidth_factor = 1\n"),
            "FILE: [point_to_point] from: is missing; it says: smallest message that the factors hold for");
  EXPECT_EQ(fabric_message(FABRIC + "[[point_to_point]]\nfrom = '0B'\nlatency_factor = 1\n"),
            "FILE: [point_to_point] bandwidth_factor: is missing; it says: on the route's bandwidth");
  EXPECT_EQ(fabric_message(FABRIC + "[[point_to_point]]\nfrom = '0B'\nlatency_factor = 0\nbandwidth_factor = 1\n"),
            "FILE: [point_to_point] latency_factor: found 0; allowed: more than zero");
}

// ---- Shipped fabrics

class Shipped : public testing::TestWithParam<std::string> {};

TEST_P(Shipped, FabricIsReadAndProven)
{
  const Fabric fabric = Fabric::load(GetParam());
  EXPECT_EQ(fabric.name(), GetParam());
  EXPECT_FALSE(fabric.description().empty());
  const std::string proven = check(fabric);
  EXPECT_NE(proven.find("each joins end to end"), std::string::npos) << proven;
  const std::string text = describe(fabric);
  EXPECT_EQ(text.find(fabric.name() + ": " + fabric.description() + "\n"), 0) << text;
  std::string plain = text; // its counts have commas
  std::erase(plain, ',');
  EXPECT_NE(plain.find(std::to_string(fabric.host_count()) + " hosts"), std::string::npos) << text;
}

TEST_P(Shipped, FabricIsFoundByItsPathToo)
{
  EXPECT_EQ(Fabric::load(*find_shared("fabrics", GetParam())).name(), GetParam());
}

/** GoogleTest takes letters and digits only. */
std::string test_name(const testing::TestParamInfo<std::string>& fabric)
{
  std::string name = fabric.param;
  std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
  return name;
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Shipped, testing::ValuesIn(list_shared("fabrics")), test_name);

TEST(Check, ProvesEveryPairOfASmallFabric)
{
  EXPECT_EQ(check(fabric_of(FABRIC)),
            "12 routes, every pair of hosts, and to and from each of 1 switch: each joins end to end over existing "
            "cables, visits nothing twice, goes through a switch and has at most 2 links");
}

TEST(Check, ProvesASampleOfALargeOne)
{
  const std::string text = replaced(with("hosts = 4", "hosts = 1025"), "max_ports = 8", "max_ports = 1025");
  EXPECT_EQ(check(fabric_of(text)).find("16,400 routes, a seeded sample of every host's, and"), 0);
}

/** A star on which packets for host 1 go a way of their own from one vertex. */
class Misrouted : public Star {
  VertexId from_;
  Hop hop_;

public:
  Misrouted(int hosts, VertexId from, Hop hop) : Star(hosts), from_(from), hop_(hop) {}
  Hop next_hop(VertexId at, VertexId to) const override
  {
    return at == from_ && to == 1 ? hop_ : Star::next_hop(at, to);
  }
};

class Flat : public Star {
public:
  using Star::Star;
  int diameter() const override { return 1; }
};

/** What check() says about a topology; @p more are links beside those of its cables. */
std::string check_message(std::unique_ptr<const Topology> topology, const std::vector<Link>& more = {})
{
  FabricParts parts;
  parts.name     = "odd";
  parts.switches = {SwitchModel()};
  for (const Cable& cable : topology->cables()) {
    const std::string name = topology->vertex_name(cable.lower);
    parts.links.push_back({name + ".up", cable.lower, cable.upper, BytesPerSecond(1), Seconds(1)});
    parts.links.push_back({name + ".down", cable.upper, cable.lower, BytesPerSecond(1), Seconds(1)});
  }
  parts.links.insert(parts.links.end(), more.begin(), more.end());
  parts.topology = std::move(topology);
  return message_of([&] { check(Fabric::assemble(std::move(parts))); });
}

TEST(Check, FindsRoutesThatAreWrong)
{
  const std::string route = "fabric odd: the route from host-0 to host-1 ";
  EXPECT_EQ(check_message(std::make_unique<Star>(3)), "");
  EXPECT_EQ(check_message(std::make_unique<Misrouted>(3, 0, Hop{7, 3})), route + "takes a cable that does not exist");
  EXPECT_EQ(check_message(std::make_unique<Misrouted>(3, 0, Hop{-1, 3})), route + "takes a cable that does not exist");
  EXPECT_EQ(check_message(std::make_unique<Misrouted>(3, 0, Hop{4, 3})),
            route + "takes host-2.up from host-0, where it does not begin");
  EXPECT_EQ(check_message(std::make_unique<Misrouted>(3, 0, Hop{0, 1})), route + "ends at switch");
  EXPECT_EQ(check_message(std::make_unique<Flat>(3)), route + "has 2 links, and the topology's diameter is 1");
  const Link aside{"aside", 0, 2, BytesPerSecond(1), Seconds(1)};
  EXPECT_EQ(check_message(std::make_unique<Misrouted>(3, 0, Hop{6, 2}), {aside}),
            route + "passes through the host host-2");
  const Link direct{"direct", 0, 1, BytesPerSecond(1), Seconds(1)};
  EXPECT_EQ(check_message(std::make_unique<Misrouted>(3, 0, Hop{6, 1}), {direct}), route + "crosses no switch");
}

TEST(Describe, NamesWhatThereIs)
{
  const std::string text = describe(fabric_of(FABRIC));
  for (const std::string part :
       {"star: 4 hosts, 1 switch, 4 cables, at most 2 links", "host-0 to host-3: 2 cores of 1Gf", "8 ports",
        "2 channels of 4 slots of 100B (window 400B)", "offloads allreduce of MPI_INT with MPI_SUM"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in:\n" << text;
}

// ---- The schema is complete

/** Stands for a value of any type. */
struct Anything {
  template <class T> operator T() const;
};

/** The members of an aggregate. */
template <class T, class... Values> consteval std::size_t count_members()
{
  if constexpr (requires { T{Values()..., Anything()}; })
    return count_members<T, Values..., Anything>();
  else
    return sizeof...(Values);
}

/** A value of a row's type that no default has. */
std::string sample(const std::string& type)
{
  static const std::map<std::string, std::string> SAMPLES{
      {"integer", "7"},          {"number", "7.5"},        {"size", "\"7B\""},       {"duration", "\"7us\""},
      {"bandwidth", "\"7Bps\""}, {"speed", "\"7f\""},      {"frequency", "\"7Hz\""}, {"text", "\"seven\""},
      {"integers", "[7]"},       {"texts", "[\"seven\"]"}, {"frequency", "\"7Hz\""}};
  return SAMPLES.at(type);
}

/** Each row reads its key into a member that no other row reads into, and all members but @p others have a row. */
template <class T> void expect_complete(const std::vector<Option<T>>& rows, std::size_t others)
{
  EXPECT_EQ(rows.size() + others, count_members<T>());
  const std::vector<OptionHelp> help = describe_options(rows);
  for (std::size_t given = 0; given < rows.size(); ++given) {
    const TestFile file(rows[given].key + " = " + sample(help[given].type));
    static const T STANDARD{};
    T options{};
    EXPECT_EQ(read_options(OptionTable::read_file(file.path()), rows, {}, options), std::set{rows[given].key});
    for (const Option<T>& row : rows) {
      const bool changed =
          std::visit([&](auto member) { return not(options.*member == STANDARD.*member); }, row.member);
      EXPECT_EQ(changed, row.key == rows[given].key) << rows[given].key << " and the member of " << row.key;
    }
  }
}

TEST(Schema, ReachesEveryMember)
{
  expect_complete(host_options(), 1);   // preset
  expect_complete(nic_options(), 1);    // preset
  expect_complete(switch_options(), 3); // preset, capabilities, forwarding
  expect_complete(forwarding_options(), 0);
  expect_complete(capability_options(), 0);
  expect_complete(link_options(), 0);
  expect_complete(point_to_point_options(), 0);
  expect_complete(mpi_options(), 0);
  expect_complete(policy_options(), 0);
  expect_complete(progress_engine_options(), 2); // preset, place
}

/** Values that must fit to each other, by "table.key". */
const std::map<std::string, std::string>& fitting_samples()
{
  static const std::map<std::string, std::string> SAMPLES{
      {"topology.kind", "\"star\""},
      {"host.preset", "\"xeon-8360\""},
      {"nic.preset", "\"connectx-6-dx\""},
      {"nic.contributions", "\"per-host\""},
      {"switch.preset", "\"tofino\""},
      {"switch.total_slots", "49"},
      {"switch.offload.collectives", "[\"allreduce\"]"},
      {"switch.offload.datatypes", "[\"MPI_FLOAT\"]"},
      {"switch.offload.operations", "[\"MPI_SUM\"]"},
      {"switch.offload.conversion", "\"fixed-point\""},
      {"switch.forwarding.kind", "\"cache\""},
      {"switch.forwarding.replacement", "\"fifo\""},
      {"switch.forwarding.hash", "\"crc\""},
      {"links.match", "\"*\""},
      {"shared.links", "[\"host-0.up\"]"},
      {"switches.match", "\"*\""},
      {"switches.preset", "\"l2\""},
      {"switches.total_slots", "49"},
      {"switches.offload.collectives", "[\"allreduce\"]"},
      {"switches.offload.datatypes", "[\"MPI_FLOAT\"]"},
      {"switches.offload.operations", "[\"MPI_SUM\"]"},
      {"switches.offload.conversion", "\"fixed-point\""},
      {"switches.forwarding.kind", "\"cache\""},
      {"switches.forwarding.replacement", "\"fifo\""},
      {"switches.forwarding.hash", "\"crc\""},
      {"point_to_point.from", "\"0B\""},
      {"progress_engine.preset", "\"bluefield-3-dpa\""},
      {"policy.collectives", "[\"reduce\"]"},
      {"policy.below", "\"8B\""},
      {"policy.offload", "\"stream\""},
      {"multicast.transport", "\"uc\""},
      {"multicast.chain_map", "\"ranks\""},
      {"multicast.drops.probability", "0.7"},
  };
  return SAMPLES;
}

bool is_list(const std::string& table)
{
  return table.ends_with("offload") || table.ends_with("drops") || table == "links" || table == "shared" ||
         table == "switches" || table == "point_to_point" || table == "policy";
}

/** A fabric file with every key of the schema, on a star. */
std::string everything()
{
  std::string text;
  for (const TableHelp& table : fabric_schema()) {
    const bool of_a_kind = table.table.starts_with("topology.");
    if (of_a_kind && table.table != "topology.star")
      continue;
    if (not of_a_kind) // the keys of a kind stand in [topology]
      text += is_list(table.table) ? "[[" + table.table + "]]\n" : "[" + table.table + "]\n";
    for (const OptionHelp& option : table.options) {
      const auto fitting = fitting_samples().find(table.table + "." + option.key);
      text += option.key + " = " + (fitting != fitting_samples().end() ? fitting->second : sample(option.type)) + "\n";
    }
  }
  return text;
}

TEST(Schema, EveryKeyIsAcceptedAndHasItsEffect)
{
  const Fabric fabric = fabric_of(everything());
  EXPECT_EQ(fabric.name(), "seven");
  EXPECT_EQ(fabric.description(), "seven");
  EXPECT_EQ(fabric.host_count(), 7);
  EXPECT_EQ(fabric.host().preset, "xeon-8360");
  EXPECT_EQ(fabric.host().cores, 7);
  EXPECT_EQ(fabric.nic().preset, "connectx-6-dx");
  EXPECT_EQ(fabric.nic().offload_copy_rate, BytesPerSecond(7));
  EXPECT_EQ(fabric.links().front().bandwidth, BytesPerSecond(7));
  ASSERT_EQ(fabric.switch_models().size(), 2);
  EXPECT_EQ(fabric.switch_models().front().preset, "tofino");
  EXPECT_EQ(fabric.switch_model(0).preset, "l2");
  for (const SwitchModel& model : fabric.switch_models()) {
    EXPECT_EQ(model.slots, 7);
    ASSERT_EQ(model.capabilities.size(), 1);
    EXPECT_EQ(model.capabilities.front().datatypes, std::vector<std::string>{"MPI_FLOAT"});
    EXPECT_EQ(model.capabilities.front().operations, std::vector<std::string>{"MPI_SUM"});
    EXPECT_EQ(model.capabilities.front().conversion, "fixed-point");
    EXPECT_EQ(model.capabilities.front().conversion_rate, BytesPerSecond(7));
    EXPECT_EQ(model.forwarding.shape().replacement, Replacement::fifo);
  }
  EXPECT_EQ(fabric.segments().front().bandwidth_factor, 7.5);
  ASSERT_TRUE(fabric.mpi().has_value());
  EXPECT_EQ(fabric.mpi()->send_copy_rate, BytesPerSecond(7));
  ASSERT_TRUE(fabric.progress_engine().has_value());
  EXPECT_EQ(fabric.progress_engine()->clock, Hertz(7));
  EXPECT_EQ(fabric.policy_for("reduce", Bytes(7)), OffloadMode::stream);
  EXPECT_EQ(fabric.multicast().chunk, Bytes(7));
  ASSERT_EQ(fabric.multicast().drops.size(), 1);
  EXPECT_EQ(fabric.multicast().drops.front().receiver, 7);
}

/** A value for every key of a topology, by key; "TABLE.KEY" stands in a [[topology.TABLE]]. */
using Samples = std::map<std::string, std::string>;

/** By the topology's name. */
const std::map<std::string, Samples>& topology_samples()
{
  static const Samples GRID{
      {"dimensions", "[3, 3]"}, {"hosts_per_switch", "2"}, {"cables", "2"}, {"link_aggregation", "\"crc\""}};
  static const std::map<std::string, Samples> SAMPLES{
      {"star", {{"hosts", "4"}}},
      {"fat_tree",
       {{"down", "[4, 2]"}, {"up", "[1, 2]"}, {"cables", "[1, 2]"}, {"hosts", "7"}, {"link_aggregation", "\"crc\""}}},
      {"dragonfly",
       {{"groups", "3"},
        {"chassis", "2"},
        {"routers", "2"},
        {"hosts", "2"},
        {"global_cables", "2"},
        {"chassis_cables", "2"},
        {"router_cables", "2"},
        {"link_aggregation", "\"crc\""}}},
      {"torus", GRID},
      {"mesh", GRID},
      {"custom",
       {{"hosts", "[\"a\"]"},
        {"switches", "[\"s\"]"},
        {"cables.between", "[\"a\", \"s\"]"},
        {"cables.count", "2"},
        {"link_aggregation", "\"crc\""}}},
  };
  return SAMPLES;
}

/** FABRIC on another topology, with all its keys and @p more in [topology]. */
std::string on_topology(const TopologyKind& kind, const std::string& more = "")
{
  std::string keys = "kind = \"" + kind.name + "\"\n" + more;
  std::string tables;
  for (const OptionHelp& option : kind.options) {
    const std::size_t dot = option.key.find('.');
    if (option.type == "tables")
      tables += "[[topology." + option.key + "]]\n";
    else
      (dot == std::string::npos ? keys : tables) +=
          option.key.substr(dot + 1) + " = " + topology_samples().at(kind.name).at(option.key) + "\n";
  }
  return replaced(replaced(FABRIC, "kind = \"star\"\nhosts = 4\n", keys + tables), "max_ports = 8", "max_ports = 99");
}

/** The keys that a message about an unknown key calls allowed. */
std::set<std::string> allowed_keys(const std::string& message)
{
  static const std::string BEFORE = "allowed: ";
  std::set<std::string> keys;
  const std::size_t at = message.find(BEFORE);
  if (at == std::string::npos)
    return keys;
  std::istringstream list(message.substr(at + BEFORE.size()));
  for (std::string key; std::getline(list >> std::ws, key, ',');)
    keys.insert(key);
  return keys;
}

TEST(Schema, EveryTopologyAcceptsItsKeysAndNoOthers)
{
  for (const TopologyKind& kind : topology_kinds()) {
    EXPECT_EQ(fabric_of(on_topology(kind)).topology_kind(), kind.name);
    std::set<std::string> keys{"kind"};
    for (const OptionHelp& option : kind.options)
      if (option.key.find('.') == std::string::npos)
        keys.insert(option.key);
    EXPECT_EQ(allowed_keys(fabric_message(on_topology(kind, "quux = 1\n"))), keys) << kind.name;
  }
}

TEST(Schema, ListsEveryKeyThatIsAccepted)
{
  std::map<std::string, std::set<std::string>> listed;
  for (const TableHelp& table : fabric_schema())
    for (const OptionHelp& option : table.options) {
      const std::string name = table.table == "topology.star" ? "topology" : table.table;
      listed[name].insert(option.key);
      if (const std::size_t dot = name.find('.'); not name.starts_with("topology") && dot != std::string::npos)
        listed[name.substr(0, dot)].insert(name.substr(dot + 1));
    }
  for (const auto& [table, keys] : listed) {
    if (table.starts_with("topology."))
      continue;
    const std::string header = is_list(table) ? "[[" + table + "]]\n" : "[" + table + "]\n";
    const std::string text   = replaced(everything(), header, header + "quux = 1\n");
    EXPECT_EQ(allowed_keys(fabric_message(text)), keys) << table;
  }
}

} // namespace
} // namespace weft
