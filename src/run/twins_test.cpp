#include "run/twins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/test_plan.h"
#include "run/session.h"

namespace numatlas {
namespace {

using testing::Words;

constexpr const char* one_small_node = "numa:1(memory=64GiB) l3:1(size=32MiB) core:2 pu:1";
constexpr const char* two_small_nodes = "numa:2(memory=64GiB) l3:1(size=32MiB) core:2 pu:1";

/// Benchmarks in one session on the null engine, whose flows each have noise of their own.
class TwinSession {
 public:
  explicit TwinSession(const char* machine, bool twins = true)
      : machine_(machine), comm_(make_single_comm()) {
    SessionOptions options;
    options.time = std::chrono::seconds(5);
    options.twins = twins;
    options.null_engine = true;
    session_.emplace(*comm_, options, [](BenchmarkRun&) { return Expected<void>(); });
  }
  void add(const std::string& command, Words words) {
    words.insert(words.end(), {"--engine", "null", "--machine", machine_, "--time", "5s"});
    auto run = parse_run(command, words);
    ASSERT_TRUE(run) << full_text(run.error());
    run->options.time_of_all = true;
    run->options.quiet = true;
    runs_.push_back(*std::move(run));
    auto setup = set_up(runs_.back().benchmark, runs_.back().options, *comm_);
    ASSERT_TRUE(setup) << full_text(setup.error());
    const auto added = session_->add(runs_.back().benchmark, runs_.back().options, hooks_,
                                     *std::move(setup), std::chrono::seconds(1));
    ASSERT_TRUE(added) << full_text(added.error());
  }
  void finish() { ASSERT_TRUE(session_->conclude(session_->finish())); }
  /// What each visit to a case gave; empty where there is no such case.
  std::vector<double> values(const std::string& command, const std::string& name) const {
    for (const auto& benchmark : session_->runs()) {
      for (const Case& result : benchmark->report().cases) {
        if (benchmark->report().command == command && result.name == name && result.visits)
          return result.visits->figures.front().values;
      }
    }
    return {};
  }

 private:
  std::string machine_;
  std::unique_ptr<Comm> comm_;
  RunHooks hooks_;
  std::deque<ParsedRun> runs_;
  std::optional<Session> session_;
};

constexpr const char* of_matrix = "read node 0 to 0 base";

TEST(Twins, AreMeasuredOnce) {
  TwinSession both(one_small_node);
  both.add("matrix", {"--kernels", "read", "--mix", "none"});
  both.add("bandwidth", {"--kernels", "read", "--threads", "1,2"});
  both.finish();
  const auto cell = both.values("matrix", of_matrix);
  EXPECT_GE(cell.size(), 5U);
  EXPECT_EQ(cell, both.values("bandwidth", "read 64MiB base"));
  EXPECT_NE(cell, both.values("bandwidth", "read 128MiB base 1 thread"));
}

TEST(Twins, OnlyWhereTheSessionLooksForThem) {
  TwinSession both(one_small_node, false);
  both.add("matrix", {"--kernels", "read", "--mix", "none"});
  both.add("bandwidth", {"--kernels", "read", "--threads", "2"});
  both.finish();
  EXPECT_NE(both.values("matrix", of_matrix), both.values("bandwidth", "read 64MiB base"));
}

TEST(Twins, LocalMemoryIsThatOfTheWorkersNode) {
  TwinSession both(two_small_nodes);
  both.add("matrix", {"--only", "latency"});
  both.add("latency", {"--cpus", "2", "--size", "256MiB"});
  both.finish();
  const auto its = both.values("latency", "256MiB base");
  EXPECT_FALSE(its.empty());
  EXPECT_EQ(its, both.values("matrix", "latency node 1 to 1 base"));
  EXPECT_NE(its, both.values("matrix", "latency node 0 to 0 base"));
}

TEST(Twins, AnotherSizeIsOtherWork) {
  TwinSession both(one_small_node);
  both.add("matrix", {"--kernels", "read", "--mix", "none"});
  both.add("bandwidth", {"--kernels", "read", "--threads", "2", "--size", "96MiB"});
  both.finish();
  EXPECT_NE(both.values("matrix", of_matrix), both.values("bandwidth", "read 96MiB base"));
}

}  // namespace
}  // namespace numatlas
