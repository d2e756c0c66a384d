#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/statistics.h"
#include "engine/simulated/null_engine.h"
#include "engine/test_engine.h"
#include "placement/test_machines.h"

namespace numatlas {
namespace {

class NullEngine : public ::testing::Test {
 protected:
  Expected<std::vector<Trace>> run(const std::string& memory, Bytes size, std::uint64_t seed = 1,
                                   PageKind pages = PageKind::base, bool strict = false) {
    auto workers = testing::workers_on(machine_, 2, memory);
    if (!workers) return fail(workers.error());
    const auto layout = gather_layout(*comm_, *workers);
    Scenario scenario{"null", {}, {}};
    for (int worker = 0; worker < 2; ++worker) {
      Flow flow;
      flow.worker = worker;
      flow.kernel.seed = seed;
      flow.region.bytes = size;
      flow.region.pages = pages;
      flow.region.placement = (*workers)[static_cast<std::size_t>(worker)].memory;
      scenario.flows.push_back(flow);
    }
    EngineOptions options;
    options.strict = strict;
    return make_null_engine(*comm_, *layout, machine_, options)->run(scenario);
  }
  double median(const std::string& memory, Bytes size, PageKind pages = PageKind::base) {
    const auto traces = run(memory, size, 1, pages);
    return traces ? summarize(nanoseconds_per_step(traces->front()))->median : -1;
  }

  Machine machine_ = [] {
    Machine machine = testing::epyc();
    machine.nodes[0].distance = {{0, 10}, {1, 12}, {2, 32}, {3, 32}};
    machine.caches.push_back({1, "data", Bytes{32 * kib}, Bytes{64}, {CpuId{0}}});
    machine.caches.push_back({2, "unified", Bytes{mib}, Bytes{64}, {CpuId{0}}});
    return machine;
  }();
  std::unique_ptr<Comm> comm_ = make_single_comm();
};

TEST_F(NullEngine, SaysTheSameEveryTime) {
  const auto one = run("local", Bytes{16 * mib});
  const auto two = run("local", Bytes{16 * mib});
  ASSERT_TRUE(one && two);
  ASSERT_EQ(one->size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(nanoseconds_per_step((*one)[i]), nanoseconds_per_step((*two)[i]));
    EXPECT_EQ((*one)[i].address, (*two)[i].address);
    EXPECT_EQ((*one)[i].stop, StopReason::time_cap);
    EXPECT_EQ((*one)[i].flow, static_cast<int>(i));
  }
  EXPECT_NE(nanoseconds_per_step((*one)[0]), nanoseconds_per_step((*one)[1]));
  const auto other = run("local", Bytes{16 * mib}, 2);
  EXPECT_NE(nanoseconds_per_step((*one)[0]), nanoseconds_per_step((*other)[0]));
}

TEST_F(NullEngine, ModelsCachesDistancesAndPages) {
  const double l1 = median("local", Bytes{16 * kib});
  const double l2 = median("local", Bytes{512 * kib});
  const double near = median("local", Bytes{64 * mib});
  const double far = median("bind:2", Bytes{64 * mib});
  const double mixed = median("interleave:0,2", Bytes{64 * mib});
  EXPECT_LT(l1, l2);
  EXPECT_LT(l2, near);
  EXPECT_LT(near, mixed);
  EXPECT_LT(mixed, far);
  EXPECT_LT(median("local", Bytes{64 * mib}, PageKind::thp), near);
}

TEST_F(NullEngine, StrictHearsOfMemoryThatCannotBePlaced) {
  for (Cpu& cpu : machine_.cpus) cpu.node = NodeId{-1};
  const auto traces = run("local", Bytes{mib}, 1, PageKind::base, true);
  ASSERT_FALSE(traces);
  EXPECT_EQ(traces.error().kind, ErrorKind::placement);
}

TEST_F(NullEngine, SharedMemoryLiesWhereItsOwnerPutIt) {
  auto workers = testing::workers_on(machine_, 2, "local");
  ASSERT_TRUE(workers);
  (*workers)[0].cpu_node = NodeId{0};
  (*workers)[1].cpu_node = NodeId{2};
  const auto layout = gather_layout(*comm_, *workers);
  Flow shares;
  shares.kernel.parameters = LoopParameters{Operation::read};
  shares.region.bytes = Bytes{mib};
  shares.region.placement = workers->front().memory;
  Flow owner = shares;
  owner.worker = 1;
  shares.shares = 1;
  const auto traces =
      make_null_engine(*comm_, *layout, machine_, {})->run({"null", {shares, owner}, {}});
  ASSERT_TRUE(traces);
  for (const Trace& trace : *traces) EXPECT_EQ(trace.residency.main_node(), NodeId{2});
  EXPECT_EQ((*traces)[0].address, (*traces)[1].address);
  EXPECT_TRUE((*traces)[0].warnings.empty());
}

}  // namespace
}  // namespace numatlas
