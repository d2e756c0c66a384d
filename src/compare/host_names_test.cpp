// Hosts by their machines, and lists of hosts.
#include "compare/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

namespace numatlas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Identity machine(const std::string& installation, const std::string& boot = "",
                 const std::string& firmware = "") {
  return {installation, firmware, boot, ""};
}

Rows seen(const std::string& host, int night, const Identity& identity = {}, int minute = 0) {
  Rows run;
  run.command = "latency";
  run.hosts = {host};
  run.started = fmt::format("2026-01-{:02}T02:{:02}:00Z", night, minute);
  run.identities = {identity};
  Row one;
  one.key = "a case";
  run.rows = {one};
  return run;
}

/// Their names, in the order of the runs.
std::vector<std::string> named(std::vector<Rows> runs) {
  name_hosts(runs);
  std::vector<std::string> names;
  for (const Rows& run : runs) names.push_back(run.hosts.front());
  return names;
}

TEST(HostNames, OfOldResultsStay) {
  EXPECT_THAT(named({seen("n1", 1), seen("n2", 1), seen("n1", 2)}), ElementsAre("n1", "n2", "n1"));
  // From one version to the next.
  EXPECT_THAT(named({seen("n1", 1), seen("n1", 2, machine("a"))}), ElementsAre("n1", "n1"));
}

TEST(HostNames, MachinesWithOneNameAreApart) {
  EXPECT_THAT(named({seen("c", 1, machine("aaaaaaaa")), seen("c", 1, machine("bbbbbbbb"), 5),
                     seen("c", 2, machine("aaaaaaaa"))}),
              ElementsAre("c [aaaaaa]", "c [bbbbbb]", "c [aaaaaa]"));
  // Of one image: by their kernels.
  EXPECT_THAT(named({seen("c", 1, machine("a", "k1")), seen("c", 1, machine("a", "k2"), 5)}),
              ElementsAre("c [k1]", "c [k2]"));
}

TEST(HostNames, OneMachineWithManyNames) {
  EXPECT_THAT(named({seen("pod-x", 1, machine("", "k")), seen("pod-y", 2, machine("", "k"))}),
              ElementsAre("pod-y", "pod-y"));
  // Started again between them: its board tells.
  EXPECT_THAT(named({seen("x", 1, machine("", "k1", "f")), seen("y", 2, machine("", "k2", "f"))}),
              ElementsAre("y", "y"));
  // At the same time: containers, each a host.
  EXPECT_THAT(named({seen("x", 1, machine("a", "k")), seen("y", 1, machine("a", "k"), 5)}),
              ElementsAre("x", "y"));
}

TEST(HostNames, WithAndWithoutTheDomain) {
  EXPECT_THAT(named({seen("n1", 1), seen("n1.cluster.local", 1, {}, 5)}),
              ElementsAre("n1.cluster.local", "n1.cluster.local"));
  EXPECT_THAT(named({seen("n1", 1, machine("a")), seen("n1.local", 1, machine("b"), 5)}),
              ElementsAre("n1", "n1.local"));
  EXPECT_THAT(named({seen("n1.one", 1), seen("n1.two", 2)}), ElementsAre("n1.one", "n1.two"));
  EXPECT_THAT(named({seen("10", 1), seen("10.0.0.1", 2)}), ElementsAre("10", "10.0.0.1"));
  EXPECT_TRUE(is_same_name("n1", "n1.x") && is_same_name("n1.x", "n1"));
  EXPECT_FALSE(is_same_name("n1", "n10") || is_same_name("n1.x", "n1.y"));
}

TEST(HostList, OfLinesAndOfSlurm) {
  EXPECT_THAT(*parse_hosts("n2\n  n1 # one\n\nn2\r\n"), ElementsAre("n1", "n2"));
  EXPECT_THAT(*parse_hosts("n[01-03,07],login1"),
              ElementsAre("login1", "n01", "n02", "n03", "n07"));
  EXPECT_THAT(*parse_hosts("r[1-2]n[9-10]"), ElementsAre("r1n10", "r1n9", "r2n10", "r2n9"));
  for (const char* bad : {"", "# none", "n[1-", "n1]", "n[2-1]", "n[a]", "n[]", "n[1-99999999]"})
    EXPECT_FALSE(parse_hosts(bad)) << bad;
  EXPECT_THAT(parse_hosts("n1\nn[2").error().message, HasSubstr("line 2: 'n[2'"));
}

}  // namespace
}  // namespace numatlas
