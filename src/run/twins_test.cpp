#include "run/twins.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "run/test_session.h"

namespace numatlas {
namespace {

constexpr const char* one_small_node = "numa:1(memory=64GiB) l3:1(size=32MiB) core:2 pu:1";
constexpr const char* two_small_nodes = "numa:2(memory=64GiB) l3:1(size=32MiB) core:2 pu:1";

class TwinSession : public testing::NullSession {
 public:
  explicit TwinSession(const char* machine, bool twins = true)
      : NullSession(machine, {.time = std::chrono::seconds(5), .twins = twins}) {}
  /// What each visit to a case gave; empty where there is no such case.
  std::vector<double> values(const std::string& command, const std::string& name) {
    for (const auto& benchmark : session().runs()) {
      for (const Case& result : benchmark->report().cases) {
        if (benchmark->report().command == command && result.name == name && result.visits)
          return result.visits->figures.front().values;
      }
    }
    return {};
  }
};

constexpr const char* of_matrix = "read node 0 to 0 base";

TEST(Twins, AreMeasuredOnce) {
  TwinSession both(one_small_node);
  both.add("matrix", {"--kernels", "read", "--mix", "none"}, 1);
  both.add("bandwidth", {"--kernels", "read", "--threads", "1,2"}, 1);
  both.finish();
  const auto cell = both.values("matrix", of_matrix);
  EXPECT_GE(cell.size(), 5U);
  EXPECT_EQ(cell, both.values("bandwidth", "read 64MiB base"));
  EXPECT_NE(cell, both.values("bandwidth", "read 128MiB base 1 thread"));
}

TEST(Twins, OnlyWhereTheSessionLooksForThem) {
  TwinSession both(one_small_node, false);
  both.add("matrix", {"--kernels", "read", "--mix", "none"}, 1);
  both.add("bandwidth", {"--kernels", "read", "--threads", "2"}, 1);
  both.finish();
  EXPECT_NE(both.values("matrix", of_matrix), both.values("bandwidth", "read 64MiB base"));
}

TEST(Twins, LocalMemoryIsThatOfTheWorkersNode) {
  TwinSession both(two_small_nodes);
  both.add("matrix", {"--only", "latency"}, 1);
  both.add("latency", {"--cpus", "2", "--size", "256MiB"}, 1);
  both.finish();
  const auto its = both.values("latency", "256MiB base");
  EXPECT_FALSE(its.empty());
  EXPECT_EQ(its, both.values("matrix", "latency node 1 to 1 base"));
  EXPECT_NE(its, both.values("matrix", "latency node 0 to 0 base"));
}

TEST(Twins, AnotherSizeIsOtherWork) {
  TwinSession both(one_small_node);
  both.add("matrix", {"--kernels", "read", "--mix", "none"}, 1);
  both.add("bandwidth", {"--kernels", "read", "--threads", "2", "--size", "96MiB"}, 1);
  both.finish();
  EXPECT_NE(both.values("matrix", of_matrix), both.values("bandwidth", "read 96MiB base"));
}

}  // namespace
}  // namespace numatlas
