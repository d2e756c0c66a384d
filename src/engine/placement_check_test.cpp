#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine.h"
#include "memory/source.h"
#include "placement/test_machines.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Residency seen(std::map<int, std::size_t> pages_by_node) {
  Residency residency;
  for (const auto& [node, pages] : pages_by_node) residency.pages_total += pages;
  residency.pages_asked = residency.pages_total;
  residency.pages_by_node = std::move(pages_by_node);
  residency.page_size = Bytes{4 * kib};
  residency.thp_fraction = 0.0;
  return residency;
}

Region region_of(const char* memory, PageKind pages = PageKind::base) {
  Region region;
  region.bytes = Bytes{mib};
  region.placement = parse_memory_spec(memory)->single;
  region.pages = pages;
  return region;
}

/// "code: text" of each, in lines.
std::string problem_of_region(const Region& region, const Residency& residency, NodeId cpu_node,
                              const Machine& machine) {
  std::string text;
  for (const Warning& warning : placement_warnings(region, residency, cpu_node, machine))
    text += (text.empty() ? "" : "\n") + warning.code + ": " + warning.text;
  return text;
}

std::string problem(const char* memory, std::map<int, std::size_t> pages, int cpu_node = 0) {
  return problem_of_region(region_of(memory), seen(std::move(pages)), NodeId{cpu_node},
                           testing::odd());
}

TEST(PlacementWarnings, MetIsNoProblem) {
  EXPECT_THAT(problem("local", {{0, 100}}), IsEmpty());
  EXPECT_THAT(problem("local", {{7, 100}}, 7), IsEmpty());
  EXPECT_THAT(problem("bind:2", {{2, 100}}), IsEmpty());
  EXPECT_THAT(problem("bind:0,2", {{0, 1}, {2, 99}}), IsEmpty());
  EXPECT_THAT(problem("prefer:2", {{2, 100}}), IsEmpty());
  EXPECT_THAT(problem("interleave:0,2", {{0, 50}, {2, 50}}), IsEmpty());
  EXPECT_THAT(problem("weighted:0=3,2=1", {{0, 75}, {2, 25}}), IsEmpty());
  EXPECT_THAT(problem("inherit", {{0, 1}, {7, 99}}), IsEmpty());
}

TEST(PlacementWarnings, UnmetSaysWhatWasAskedAndWhatWasSeen) {
  EXPECT_EQ(problem("local", {{0, 90}, {7, 10}}),
            "placement: memory local: only 90.0 % of the pages are there (90 on node 0, 10 on node "
            "7 of 100 "
            "pages asked)");
  EXPECT_THAT(problem("bind:2", {{0, 100}}), StartsWith("placement: memory bind:2: only 0.0 %"));
  EXPECT_THAT(problem("prefer:2", {{0, 1}, {2, 99}}),
              StartsWith("placement: memory prefer:2: only 99.0 %"));
  EXPECT_THAT(problem("interleave:0,2", {{0, 100}}),
              HasSubstr("node 0 should have 50 pages and has 100"));
  EXPECT_THAT(problem("weighted:0=3,2=1", {{0, 50}, {2, 50}}),
              HasSubstr("node 0 should have 75 pages and has 50"));
  // All on a node that was not asked for.
  EXPECT_THAT(problem("interleave:0,2", {{7, 100}}),
              HasSubstr("node 0 should have 50 pages and has 0"));
}

TEST(PlacementWarnings, AnInheritedPolicyIsJudgedToo) {
  Region region = region_of("inherit");
  const auto problem_of = [&](std::map<int, std::size_t> pages) {
    return problem_of_region(region, seen(std::move(pages)), NodeId{0}, testing::odd());
  };
  EXPECT_THAT(problem_of({{7, 100}}), IsEmpty()) << "the default policy promises nothing";
  region.placement.inherited = MemoryMode::bind;
  region.placement.nodes = {{NodeId{2}, 1}};
  EXPECT_THAT(problem_of({{2, 100}}), IsEmpty());
  EXPECT_THAT(problem_of({{0, 60}, {2, 40}}),
              StartsWith("placement: inherited memory bind:2: only 40.0 % of the pages are there"));
}

TEST(PlacementWarnings, LastRoundOfAPatternMayBeCutOff) {
  EXPECT_THAT(problem("interleave:0,2", {{0, 3}, {2, 2}}), IsEmpty());
  EXPECT_THAT(problem("weighted:0=3,2=1", {{0, 6}, {2, 1}}), IsEmpty());
  EXPECT_THAT(problem("weighted:0=3,2=1", {{0, 7600}, {2, 2400}}), IsEmpty());
  EXPECT_FALSE(problem("weighted:0=3,2=1", {{0, 7700}, {2, 2300}}).empty());
}

TEST(PlacementWarnings, LocalIsNotJudgedWhereItMeansNothing) {
  EXPECT_THAT(problem("local", {{7, 100}}, -1), IsEmpty());  // node of the CPU unknown
  EXPECT_THAT(problem("local", {{0, 100}}, 1), IsEmpty());   // a node without memory
  Machine restricted = testing::odd();
  restricted.allowance.memory_nodes = {NodeId{7}};
  EXPECT_THAT(problem_of_region(region_of("local"), seen({{7, 100}}), NodeId{0}, restricted),
              IsEmpty());
}

TEST(PlacementWarnings, NotObservedIsNotMet) {
  Residency residency = seen({{0, 10}});
  residency.problem = "move_pages: Operation not permitted";
  EXPECT_EQ(
      problem_of_region(region_of("local"), residency, NodeId{0}, testing::odd()),
      "placement-unknown: placement could not be observed: move_pages: Operation not permitted");
  Residency nothing = seen({});
  nothing.pages_total = nothing.pages_asked = nothing.errors = 10;
  for (const char* memory : {"local", "bind:0", "prefer:0", "interleave:0,2", "weighted:0=2,2=1"}) {
    EXPECT_THAT(problem_of_region(region_of(memory), nothing, NodeId{0}, testing::odd()),
                StartsWith("placement-unknown: placement could not be observed"))
        << memory;
  }
}

TEST(PlacementWarnings, PageSizes) {
  const Machine machine = testing::odd();
  const auto of = [&](PageKind kind, double thp, std::uint64_t page) {
    Residency residency = seen({{0, 100}});
    residency.thp_fraction = thp;
    residency.page_size = Bytes{page};
    return problem_of_region(region_of("local", kind), residency, NodeId{0}, machine);
  };
  EXPECT_THAT(of(PageKind::base, 0, 4 * kib), IsEmpty());
  EXPECT_THAT(of(PageKind::thp, 1, 4 * kib), IsEmpty());
  EXPECT_THAT(of(PageKind::huge_2m, 0, 2 * mib), IsEmpty());
  EXPECT_THAT(of(PageKind::huge_1g, 0, gib), IsEmpty());
  EXPECT_EQ(of(PageKind::thp, 0.5, 4 * kib),
            "page-size: pages thp: the kernel gave 4 KiB + 50 % THP");
  EXPECT_THAT(of(PageKind::base, 1, 4 * kib),
              StartsWith("page-size: pages base: the kernel gave 2 MiB THP"));
  EXPECT_EQ(of(PageKind::huge_2m, 0, 4 * kib), "page-size: pages 2M: the kernel gave 4 KiB");
  EXPECT_EQ(of(PageKind::huge_1g, 0, 2 * mib), "page-size: pages 1G: the kernel gave 2 MiB");
}

TEST(PlacementWarnings, OfASourceNothingIsJudgedButThatItWasSeen) {
  for (const char* memory : {"pmem:/mnt/x", "memkind:HBW", "memkind:/mnt/x"}) {
    EXPECT_THAT(problem(memory, {{7, 100}}), IsEmpty()) << memory;
    Residency huge = seen({{0, 100}});
    huge.thp_fraction = 1;
    EXPECT_THAT(problem_of_region(region_of(memory), huge, NodeId{0}, testing::odd()), IsEmpty());
    huge.problem = "nobody tells";
    EXPECT_EQ(problem_of_region(region_of(memory), huge, NodeId{0}, testing::odd()),
              "placement-unknown: placement could not be observed: nobody tells");
  }
}

TEST(PlacementWarnings, BothProblemsAreSaid) {
  Residency residency = seen({{7, 100}});
  const std::string text =
      problem_of_region(region_of("bind:0", PageKind::thp), residency, NodeId{0}, testing::odd());
  EXPECT_THAT(text, StartsWith("placement: memory bind:0: only 0.0 %"));
  EXPECT_THAT(text, HasSubstr("\npage-size: pages thp: the kernel gave 4 KiB"));
}

}  // namespace
}  // namespace numatlas
