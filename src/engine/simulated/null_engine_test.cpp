#include <cstddef>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/simulated/null_engine.h"
#include "engine/test_engine.h"
#include "placement/test_machines.h"

namespace numatlas {
namespace {

/// What the null engine says of the flows of two workers of a machine, on these nodes.
Expected<std::vector<Trace>> run_on(const std::vector<NodeId>& cpu_nodes, std::vector<Flow> flows,
                                    const EngineOptions& options = {}) {
  const Machine machine = testing::epyc();
  const auto comm = make_single_comm();
  auto workers = TRY(testing::workers_on(machine, 2, "local"));
  for (std::size_t i = 0; i < 2; ++i) workers[i].cpu_node = cpu_nodes[i];
  for (Flow& flow : flows) flow.region.placement = workers.front().memory;
  const auto layout = TRY(gather_layout(*comm, workers));
  return make_null_engine(*comm, layout, machine, options)->run({"null", std::move(flows), {}});
}

TEST(NullEngine, StrictHearsOfMemoryThatCannotBePlaced) {
  Flow flow;
  flow.region.bytes = Bytes{mib};
  EngineOptions options;
  options.strict = true;
  const auto traces = run_on({NodeId{-1}, NodeId{-1}}, {flow}, options);
  ASSERT_FALSE(traces);
  EXPECT_EQ(traces.error().kind, ErrorKind::placement);
}

TEST(NullEngine, SharedMemoryLiesWhereItsOwnerPutIt) {
  Flow shares;
  shares.kernel.parameters = LoopParameters{Operation::read};
  shares.region.bytes = Bytes{mib};
  Flow owner = shares;
  owner.worker = 1;
  shares.shares = 1;
  const auto traces = run_on({NodeId{0}, NodeId{2}}, {shares, owner});
  ASSERT_TRUE(traces);
  for (const Trace& trace : *traces) EXPECT_EQ(trace.residency.main_node(), NodeId{2});
  EXPECT_EQ((*traces)[0].address, (*traces)[1].address);
  EXPECT_TRUE((*traces)[0].warnings.empty());
}

}  // namespace
}  // namespace numatlas
