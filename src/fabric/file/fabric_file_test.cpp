// SPDX-License-Identifier: LGPL-2.1-only
#include "base/share.hpp"
#include "fabric/fabric_test.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weft {
namespace {

const std::string ABOUT_TABLES =
    "allowed: fabric, topology, routing, host, nic, link, links, shared, network, switch, switches, "
    "point_to_point, mpi, progress_engine, progress_engines, policy, multicast, nccl, noise, "
    "disk, storage, calibration";

std::string with(const std::string& what, const std::string& by)
{
  return replaced(FABRIC, what, by);
}

// ---- Reading

TEST(Fabric, IsReadFromAFile)
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

TEST(Fabric, HasTwoLinksPerCable)
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

TEST(Fabric, MayHaveAProgressEngine)
{
  EXPECT_EQ(fabric_of(FABRIC).progress_engine(0), nullptr);
  const Fabric fabric = fabric_of(FABRIC + "[progress_engine]\npreset = 'bluefield-3-dpa'\nreceive_workers = 4\n");
  ASSERT_NE(fabric.progress_engine(0), nullptr);
  EXPECT_EQ(fabric.progress_engine(0)->receive_workers, 4);
}

TEST(Fabric, MayHaveHostsWithOtherProgressEngines)
{
  const std::string all = FABRIC + "[progress_engine]\npreset = 'bluefield-3-dpa'\nreceive_workers = 4\n";
  const Fabric fabric   = fabric_of(all + "[[progress_engines]]\nmatch = 'host-[12]'\nreceive_workers = 1\n");
  EXPECT_EQ(fabric.progress_engine(0)->receive_workers, 4);
  EXPECT_EQ(fabric.progress_engine(1)->receive_workers, 1);
  EXPECT_EQ(fabric.progress_engine(2)->cores, 16);
  const Fabric cpus = fabric_of(all + "[[progress_engines]]\nmatch = 'host-1'\npreset = 'epyc-7413-core'\n");
  EXPECT_EQ(cpus.progress_engine(1)->threads, 1);
  EXPECT_EQ(cpus.progress_engine(1)->receive_workers, 1); // not inherited from the default device
  EXPECT_EQ(fabric_message(all + "[[progress_engines]]\nmatch = 'node'\n"),
            "FILE: [progress_engines] match: found \"node\", which matches no host; the first is \"host-0\", the "
            "last \"host-3\"");
  EXPECT_EQ(fabric_message(all + "[[progress_engines]]\nmatch = '*'\nreceive_workers = 1000\n"),
            "FILE: [[progress_engines]] receive_workers: found 1000; allowed: at most 256, the threads of all cores");
  EXPECT_NE(fabric_message(FABRIC + "[[progress_engines]]\nmatch = '*'\n"), "");
}

TEST(Fabric, HasEnginesThatLeaveCoresToRanks)
{
  const std::string engine = FABRIC + "[progress_engine]\npreset = 'epyc-7413-core'\n";
  EXPECT_EQ(fabric_of(engine).progress_engine(0)->host_cores, 0);
  const int cores           = fabric_of(FABRIC).host().cores;
  const std::string most    = std::to_string(cores - 1);
  const std::string all     = std::to_string(cores);
  const std::string engines = engine + "[[progress_engines]]\nmatch = 'host-1'\n";
  EXPECT_EQ(fabric_of(engine + "host_cores = " + most).progress_engine(0)->host_cores, cores - 1);
  EXPECT_EQ(fabric_of(engines + "host_cores = " + most).progress_engine(1)->host_cores, cores - 1);
  EXPECT_EQ(fabric_message(engine + "host_cores = " + all + "\n"), "FILE: [progress_engine] host_cores: found " + all +
                                                                       "; allowed: fewer than the cores of a host, " +
                                                                       all + "; or change [host] cores");
  EXPECT_EQ(fabric_message(engines + "host_cores = " + all + "\n"),
            "FILE: [progress_engines] host_cores: found " + all + "; allowed: fewer than the cores of a host, " + all +
                "; or change [host] cores");
}

TEST(Fabric, RefusesDropRulesWithoutLink)
{
  EXPECT_EQ(fabric_message(FABRIC + "[[multicast.drops]]\nlink = 'nosuchlink'\n"),
            "FILE: [multicast.drops] link: found \"nosuchlink\", which matches no link or cable; the first link is "
            "\"host-0.up\", the last \"host-3.down\"");
  const DropRule cable = fabric_of(FABRIC + "[[multicast.drops]]\nlink = 'host-2'\n").multicast().drops.front();
  EXPECT_TRUE(cable.hits("host-2.up"));
  EXPECT_TRUE(cable.hits("host-2.down"));
  EXPECT_FALSE(cable.hits("host-1.up"));
}

TEST(Fabric, MayUseAllPortsForHosts)
{
  EXPECT_EQ(fabric_of(with("hosts = 4", "hosts = 8")).host_count(), 8);
}

TEST(Segments, AreOptional)
{
  const Fabric fabric = fabric_of(FABRIC);
  ASSERT_EQ(fabric.segments().size(), 1);
  EXPECT_EQ(fabric.segment(Bytes(7)).latency_factor, 1);
  EXPECT_EQ(fabric.segment(Bytes(7)).bandwidth_factor, 1);
}

TEST(Fabric, SharesLinksByFlowUnlessItSaysOtherwise)
{
  EXPECT_EQ(fabric_of(FABRIC).sharing(), LinkSharing::flow);
  const auto by = [](const std::string& what) { return with("[link]", "[link]\nsharing = '" + what + "'"); };
  EXPECT_EQ(fabric_of(by("host")).sharing(), LinkSharing::host);
  EXPECT_EQ(fabric_of(by("job")).sharing(), LinkSharing::job);
  EXPECT_EQ(fabric_message(by("hosts")), "FILE: [link] sharing: found \"hosts\"; did you mean \"host\"? allowed: flow, "
                                         "host, job");
}

TEST(Fabric, HasAnAutomaticResolutionUnlessItSaysOtherwise)
{
  EXPECT_TRUE(fabric_of(FABRIC).resolution().automatic);
  const auto by = [](const std::string& what) { return FABRIC + "[network]\nresolution = " + what + "\n"; };
  EXPECT_TRUE(fabric_of(by("'automatic'")).resolution().automatic);
  EXPECT_TRUE(fabric_of(by("0")).resolution().is_exact());
  EXPECT_TRUE(fabric_of(by("'0ns'")).resolution().is_exact());
  EXPECT_DOUBLE_EQ(fabric_of(by("'3ns'")).resolution().time.value(), 3e-9);
  const Fabric packet = fabric_of(by("'packet'"));
  EXPECT_FALSE(packet.resolution().automatic);
  EXPECT_EQ(packet.resolution().time, RESOLVED_PACKET / packet.links().front().bandwidth);
}

TEST(Fabric, RefusesResolutionsThatMeanNothing)
{
  const auto by = [](const std::string& what) { return FABRIC + "[network]\nresolution = " + what + "\n"; };
  EXPECT_NE(fabric_message(by("'-1us'")).find("[network] resolution: found \"-1us\""), std::string::npos);
  EXPECT_NE(fabric_message(by("5")).find("[network] resolution: found 5"), std::string::npos);
  EXPECT_NE(fabric_message(by("'fast'")).find("\"packet\""), std::string::npos);
  const std::string longer = by("'1s'");
  EXPECT_NE(fabric_message(longer).find("longer than the shortest latency of a link"), std::string::npos);
  EXPECT_EQ(fabric_of(longer + "coarse_resolution = 'allowed'\n").resolution().time, Seconds(1));
  EXPECT_NE(fabric_message(longer + "coarse_resolution = 'yes'\n").find("[network] coarse_resolution"),
            std::string::npos);
}

// ---- Exceptions by name

TEST(Exceptions, ChangeMatchingLinks)
{
  const Fabric fabric  = fabric_of(FABRIC + "[[links]]\nmatch = 'host-[12]'\nbandwidth = '2GBps'\n"
                                            "[[links]]\nmatch = 'host-2'\nlatency = '7us'\n");
  const auto bandwidth = [&](LinkId id) { return fabric.link(id).bandwidth.value(); };
  for (const LinkId id : {0, 1, 6, 7})
    EXPECT_EQ(bandwidth(id), 1e9);
  for (const LinkId id : {2, 3})
    EXPECT_EQ(bandwidth(id), 2e9);
  // The last matching table applies; keys missing there come from [link].
  for (const LinkId id : {4, 5}) {
    EXPECT_EQ(bandwidth(id), 1e9);
    EXPECT_DOUBLE_EQ(fabric.link(id).latency.value(), 7e-6);
  }
}

TEST(Exceptions, ChangeMatchingSwitches)
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
  EXPECT_EQ(fabric_message(FABRIC + "[[links]]\nmatch = 'host-1'\nport = 64\n"),
            "FILE: [links] port: found 64; the switch of \"host-1\" has the ports 0 to 7");
  EXPECT_EQ(fabric_message(FABRIC + "[[links]]\nmatch = 'hots-*'\n"),
            "FILE: [links] match: found \"hots-*\", which matches no cable; the first is \"host-0\", the last "
            "\"host-3\"");
  EXPECT_EQ(fabric_message(FABRIC + "[[switches]]\nmatch = 'leaf-*'\n"),
            "FILE: [switches] match: found \"leaf-*\", which matches no switch; the first is \"switch\", the "
            "last \"switch\"");
  const std::string missing =
      "match: is missing; write the names that the table applies to: a name, or a pattern with * and ?";
  EXPECT_EQ(fabric_message(FABRIC + "[[links]]\nlatency = '1us'\n"), "FILE: [links] " + missing);
  EXPECT_EQ(fabric_message(FABRIC + "[[switches]]\nmax_ports = 9\n"), "FILE: [switches] " + missing);
}

TEST(Exceptions, AreCheckedLikeTheStandard)
{
  EXPECT_EQ(fabric_message(FABRIC + "[[links]]\nmatch = '*'\nlatncy = '1us'\n"),
            "FILE: [links] latncy: unknown key; did you mean \"latency\"? allowed: match, port, bandwidth, latency");
  EXPECT_EQ(fabric_message(FABRIC + "[[links]]\nmatch = '*'\nbandwidth = '0Bps'\n"),
            "FILE: [links] bandwidth: found \"0Bps\"; allowed: more than zero");
  EXPECT_EQ(fabric_message(FABRIC + "[[links]]\nmatch = '*'\nsharing = 'job'\n"),
            "FILE: [links] sharing: unknown key; allowed: match, port, bandwidth, latency");
  EXPECT_EQ(fabric_message(FABRIC + "[[switches]]\nmatch = '*'\nslots = 0\n"),
            "FILE: [switches] slots: found 0; allowed: more than zero");
}

// ---- Shared media

TEST(Shared, AppliesToItsLinks)
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
            "FILE: [shared] links: found \"host-1.up\" twice; allowed: each link once in all [[shared]] tables");
}

// ---- Sockets

TEST(Sockets, KeysNeedWhatTheyDependOn)
{
  const auto message = [](const std::string& keys) {
    return fabric_message(replaced(FABRIC, "cores = 2\n", "cores = 2\n" + keys));
  };
  const std::string shared = "shared_cache_bandwidth = '3GBps'\n";
  const std::string needed = "FILE: [host] shared_cache_bandwidth: it needs sockets and memory_bandwidth beside it";
  EXPECT_EQ(message(shared), needed);
  EXPECT_EQ(message(shared + "sockets = 2\n"), needed);
  EXPECT_EQ(message(shared + "memory_bandwidth = '1GBps'\n"), needed);
  const std::string between = ": messages between sockets need at least 2; write sockets = 2";
  EXPECT_EQ(message("intersocket_latency = '1us'\n"), "FILE: [host] intersocket_latency" + between);
  EXPECT_EQ(message("sockets = 1\nintersocket_rate = '1GBps'\n"), "FILE: [host] intersocket_rate" + between);
  EXPECT_EQ(fabric_of(replaced(FABRIC, "cores = 2\n", "cores = 2\nsockets = 2\n")).host().memories(), 0);
}

// ---- Errors

TEST(BadFabric, MissingFile)
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

TEST(BadFabric, EmptyOrNotToml)
{
  const std::string keys =
      "[topology] kind, [host] preset, [nic] preset, [switch] preset, [link] bandwidth and latency; `weft fabric new` "
      "writes a file that has them";
  EXPECT_EQ(fabric_message(""), "FILE: these keys are missing: [fabric] name, " + keys);
  EXPECT_EQ(fabric_message("[fabric]\nname = \"a\"\n"), "FILE: these keys are missing: " + keys);
  EXPECT_EQ(fabric_message("\x80\x81").find("FILE: line 1, column 1: invalid TOML: "), 0);
}

TEST(BadFabric, WithoutAName)
{
  const std::string missing = "FILE: [fabric] name: is missing; it says: short name for records and plots";
  EXPECT_EQ(fabric_message(with("[fabric]\nname = \"small\"", "")), missing);
  EXPECT_EQ(fabric_message(with("name = \"small\"", "")), missing);
  EXPECT_EQ(fabric_message(with("name = \"small\"", "name = \"\\u001b[31m\"")),
            "FILE: [fabric] name: found \" [31m\"; allowed: a single line of text, without control characters");
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
                  " hosts, and all switches together 8 ports; use fewer hosts, or switches with more ports");
}

TEST(BadFabric, WithMoreCablesThanPorts)
{
  EXPECT_EQ(fabric_message(with("kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [4, 2]\nup = [1, 5]")),
            "FILE: [switch] max_ports: \"level1-0\" has 8 ports, and the topology needs 9; use fewer cables, or a "
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
            "us, ms, s, m, h, d, w");
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
           "\"; allowed: \"0B\" in the first [[point_to_point]], then increasing from table to table";
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
            "FILE: [point_to_point] from: is missing; it says: smallest message that the factors apply to");
  EXPECT_EQ(fabric_message(FABRIC + "[[point_to_point]]\nfrom = '0B'\nlatency_factor = 1\n"),
            "FILE: [point_to_point] bandwidth_factor: is missing; it says: factor on the bandwidth of the route");
  EXPECT_EQ(fabric_message(FABRIC + "[[point_to_point]]\nfrom = '0B'\nlatency_factor = 0\nbandwidth_factor = 1\n"),
            "FILE: [point_to_point] latency_factor: found 0; allowed: more than zero");
}

} // namespace
} // namespace weft
