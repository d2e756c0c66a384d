#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/test_report.h"
#include "report/process_memory.h"
#include "report/worker_table.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Aligned, ColumnsLineUpAndNothingTrails) {
  EXPECT_EQ(aligned({{"name", "n"}, {"a", "100"}, {"long name", ""}}, 1),
            "name         n\n"
            "a          100\n"
            "long name\n");
  EXPECT_EQ(aligned({}, 1), "");
}

TEST(WorkerTable, ARowAWorkerAColumnASize) {
  EXPECT_EQ(worker_table(testing::report(), "latency", "base", true),
            R"( =============================================================================
|  MPI  |        CPU     |           MEMORY       |       LATENCY (ns)        |
|-------|---------|------|----------------|-------|--------|---------|--------|
| Ranks | Cores   | NUMA |     Address    | NUMA  | 1MB    | 1536KiB | 1024MB |
|-------|---------|------|----------------|-------|--------|---------|--------|
|  000  | 0,64    |   0  | 0x7f0000000000 |  0,12 | 4.00   | 80.00   | -      |
|  001  | 1       |   1  | 0x7f0000001000 |   -   | 5.12   | -       | -      |
 =============================================================================
)");
}

TEST(WorkerTable, HostsAndThreadsShowWhereThereAreSeveral) {
  RunReport report = testing::report();
  const std::string one = worker_table(report, "latency", "base", false);
  EXPECT_THAT(one, Not(HasSubstr("Host")));
  EXPECT_THAT(one, Not(HasSubstr("Thread")));
  report.hosts.push_back("beta");
  report.workers[1].host = 1;
  report.workers[1].thread = 1;
  const std::string both = worker_table(report, "latency", "base", false);
  EXPECT_THAT(both, HasSubstr("Host"));
  EXPECT_THAT(both, HasSubstr("Thread"));
  EXPECT_THAT(both, HasSubstr("beta"));
}

TEST(WorkerTable, OnlyThePageKindAskedFor) {
  RunReport report = testing::report();
  report.scenarios[1].pages = "thp";
  EXPECT_THAT(worker_table(report, "latency", "base", false), Not(HasSubstr("80.00")));
  EXPECT_THAT(worker_table(report, "latency", "thp", false), HasSubstr("80.00"));
  EXPECT_THAT(worker_table(report, "latency", "", false), HasSubstr("80.00"));
  EXPECT_EQ(page_kinds_of(report), (std::vector<std::string>{"base", "thp"}));
}

TEST(PairTable, MedianAndSpreadOfEachPairOfNodes) {
  RunReport report = testing::report();
  report.workers[1].cpu_node = NodeId{0};
  EXPECT_EQ(pair_table(report, "latency", "base"),
            "CPU node -> memory node  workers           1MiB  1536KiB  1GiB\n"
            "                                     fits    L2       L2     -\n"
            "0 -> 0,12                      2   median  4.56    80.00     -\n"
            "                                   lowest  4.00    80.00     -\n"
            "                                  highest  5.12    80.00     -\n");
}

TEST(PairTable, NodesInTheOrderOfTheirNumbers) {
  RunReport report = testing::report();
  report.workers[0].cpu_node = NodeId{10};
  report.workers[1].cpu_node = NodeId{2};
  const std::string text = pair_table(report, "latency", "base");
  EXPECT_LT(text.find("2 -> 0,12"), text.find("10 -> 0,12")) << text;
}

TEST(StatsTable, ARowACell) {
  const std::string text = stats_table(testing::report(), "latency");
  EXPECT_THAT(text, HasSubstr("98%"));
  EXPECT_THAT(text, HasSubstr("converged"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);  // head and three cells with samples
}

TEST(PageKindTable, DifferenceToTheFirstKind) {
  RunReport report = testing::report();
  EXPECT_EQ(page_kind_table(report, "latency"), "");
  report.scenarios[1].size = report.scenarios[0].size;
  report.scenarios[1].pages = "thp";
  report.scenarios.pop_back();
  report.scenarios[0].flows = {testing::flow(0, 100e-9)};
  report.scenarios[1].flows = {testing::flow(0, 80e-9)};
  EXPECT_EQ(page_kind_table(report, "latency"),
            "pages         1MiB\n"
            "base        100.00\n"
            "thp          80.00\n"
            "base - thp   20.00\n");
}

TEST(PageKindTable, DifferencesWithinTheIntervalsAreNoise) {
  RunReport report = testing::report();
  report.scenarios.pop_back();
  report.scenarios[1].size = report.scenarios[0].size;
  report.scenarios[1].pages = "thp";
  report.scenarios[0].flows = {testing::flow(0, 100e-9)};
  report.scenarios[1].flows = {testing::flow(0, 99e-9)};
  // Each is known to 0.78 % only.
  EXPECT_THAT(page_kind_table(report, "latency"), HasSubstr("base - thp   noise\n"));
  report.scenarios[1].flows = {testing::flow(0, 98e-9)};
  EXPECT_THAT(page_kind_table(report, "latency"), HasSubstr("base - thp    2.00\n"));
}

TEST(Notes, SkipsWarningsAndWhatConverged) {
  RunReport report = testing::report();
  report.warnings = {{"low-overlap", "1MiB base, worker 0", "slow"},
                     {"low-overlap", "2MiB base, worker 1", "slow"},
                     {"setting", "", "numa_balancing = 1"},
                     {"low-overlap", "4MiB base, worker 3", "slow"},
                     {"placement", "8MiB base, worker 3", "cold"}};
  report.complete = false;
  report.incomplete_reason = "interrupted";
  const std::string text = notes_text(report);
  EXPECT_THAT(text, HasSubstr("1GiB base: skipped: --size: does not fit\n"));
  EXPECT_THAT(
      text,
      HasSubstr("3 of 4 cells converged to 1 % within 0.5 s; not converged: 1536KiB base (1 of 2 "
                "workers, too few samples)\n"));
  EXPECT_THAT(text, HasSubstr("incomplete: interrupted\n"));
  EXPECT_THAT(text, HasSubstr("warning: 1MiB base, worker 0: slow (and 2 more)\n"));
  EXPECT_THAT(text, HasSubstr("warning: numa_balancing = 1\n"));
  EXPECT_THAT(text, HasSubstr("warning: 8MiB base, worker 3: cold\n"));
  EXPECT_THAT(text, Not(HasSubstr("4MiB base")));
}

TEST(ProcessMemoryTable, AsNumastatShowsIt) {
  ProcessMemory memory;
  memory.pid = 42;
  memory.command = "numatlas";
  memory.nodes = {NodeId{0}, NodeId{2}};
  memory.rows = {{"Huge", {Bytes{0}, Bytes{2 * mib}}}, {"Heap", {Bytes{mib / 2}, Bytes{0}}}};
  EXPECT_EQ(process_memory_table(memory),
            "Per-node process memory usage (in MBs) for PID 42 (numatlas)\n"
            "                           Node 0          Node 2           Total\n"
            "                  --------------- --------------- ---------------\n"
            "Huge                         0.00            2.00            2.00\n"
            "Heap                         0.50            0.00            0.50\n"
            "----------------  --------------- --------------- ---------------\n"
            "Total                        0.50            2.00            2.50\n");
}

TEST(WithPrefix, EveryLineOnce) {
  EXPECT_EQ(with_prefix("[1] ", "a\nb\n"), "[1] a\n[1] b\n");
  EXPECT_EQ(with_prefix("[1] ", "a"), "[1] a\n");
  EXPECT_EQ(with_prefix("[1] ", ""), "");
}

TEST(Notes, APointThatWasCutOffSaysWhyItHasNoSum) {
  RunReport report = testing::report();
  ScenarioResult& point = report.scenarios.front();
  point.status = Status::incomplete;
  point.reason = "interrupted";
  EXPECT_THAT(notes_text(report), HasSubstr("1MiB base: incomplete: interrupted\n"));
  point.flows.front().figures.front().key = "bandwidth";
  EXPECT_THAT(notes_text(report),
              HasSubstr("incomplete: interrupted; its workers have what they had recorded"));
  point.figures = {{"bandwidth_sum", "B/s", 1e9, {}}};
  EXPECT_THAT(notes_text(report), HasSubstr("1MiB base: incomplete: interrupted\n"));
}

}  // namespace
}  // namespace numatlas
