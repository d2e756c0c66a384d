// Byte for byte the layout that the documents of Numa-Mem-Bench print.
#include "legacy/grouped_table.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "legacy/mem_bench.h"

namespace numatlas::legacy {
namespace {

RunReport two_ranks(std::uint64_t first_address, std::vector<double> seconds) {
  RunReport report;
  report.hosts = {"here"};
  report.workers = {{0, 0, 0, CpuSet{CpuId{1}, CpuId{65}}, NodeId{0}, "local"},
                    {1, 0, 0, CpuSet{CpuId{2}}, NodeId{0}, "local"}};
  std::uint64_t size = mib;
  for (double value : seconds) {
    ScenarioResult point;
    point.size = Bytes{size};
    size *= 2;
    for (int worker = 0; worker < 2; ++worker) {
      FlowResult flow;
      flow.worker = worker;
      flow.address = first_address;
      flow.residency.pages_by_node = {{3, 1}};
      flow.figures = {{"latency", "s", value * (worker + 1), std::nullopt}};
      point.flows.push_back(flow);
    }
    report.scenarios.push_back(point);
  }
  return report;
}

TEST(WorkerTable, IsThatOfNumaMemBench) {
  EXPECT_EQ(worker_table(two_ranks(0x52a260, {10.4e-9, 13.256e-9, 404.09e-9})),
            R"( =======================================================================
|  MPI  |        CPU     |         MEMORY    |       LATENCY (ns)       |
|-------|---------|------|-----------|-------|--------|--------|--------|
| Ranks | Cores   | NUMA |  Address  | NUMA  | 1MB    | 2MB    | 4MB    |
|-------|---------|------|-----------|-------|--------|--------|--------|
|  000  | 1,65    |   0  | 0x52a260  |   3   | 10.40  | 13.26  | 404.09 |
|  001  | 2       |   0  | 0x52a260  |   3   | 20.80  | 26.51  | 808.18 |
 =======================================================================
)");
}

TEST(WorkerTable, GrowsWithItsCells) {
  EXPECT_EQ(worker_table(two_ranks(0x7f0000000000, {1234.5e-9})),
            R"( ================================================================
|  MPI  |        CPU     |           MEMORY       | LATENCY (ns) |
|-------|---------|------|----------------|-------|--------------|
| Ranks | Cores   | NUMA |     Address    | NUMA  | 1MB          |
|-------|---------|------|----------------|-------|--------------|
|  000  | 1,65    |   0  | 0x7f0000000000 |   3   | 1234.50      |
|  001  | 2       |   0  | 0x7f0000000000 |   3   | 2469.00      |
 ================================================================
)");
}

TEST(WorkerTable, HostsShowWhereThereAreSeveral) {
  RunReport report = two_ranks(0x52a260, {1e-9});
  EXPECT_EQ(worker_table(report).find("Host"), std::string::npos);
  report.hosts.push_back("beta");
  report.workers[1].host = 1;
  EXPECT_NE(worker_table(report).find("| here "), std::string::npos);
  EXPECT_NE(worker_table(report).find("| beta "), std::string::npos);
}

TEST(WorkerTable, ShowsThatNothingCame) {
  RunReport report = two_ranks(0x52a260, {1e-9});
  report.scenarios[0].flows.pop_back();
  report.scenarios[0].flows[0].figures[0].estimate.reset();
  const std::string table = worker_table(report);
  EXPECT_NE(table.find("|  000  | 1,65    |   0  | 0x52a260  |   3   | -            |"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("|  001  | 2       |   0  | -         |   -   | -            |"),
            std::string::npos)
      << table;
}

TEST(GroupedTable, WidensColumnsAndGroups) {
  EXPECT_EQ(grouped_table({{"A", {{"x", 3}}, 2}, {"a long title", {{"y", 1}}, std::nullopt}},
                          {{"wide cell", "1"}}),
            R"( ==========================
|      A    | a long title |
|-----------|--------------|
| x         | y            |
|-----------|--------------|
| wide cell | 1            |
 ==========================
)");
}

}  // namespace
}  // namespace numatlas::legacy
