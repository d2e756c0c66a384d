#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "legacy/programs.h"

namespace numatlas::legacy {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

Machine machine_with_cores() {
  Machine machine;
  machine.source = "test";
  machine.page_size = Bytes{4096};
  machine.nodes.resize(4);
  for (int i = 0; i < 4; ++i) machine.nodes[static_cast<std::size_t>(i)].id = NodeId{i};
  for (int i : {1, 2, 65, 66}) {
    Cpu cpu;
    cpu.id = CpuId{i};
    cpu.core = i % 64;
    cpu.node = NodeId{0};
    machine.cpus.push_back(cpu);
  }
  return machine;
}

FlowResult flow_on(int worker, int cpu, std::map<int, std::size_t> pages) {
  FlowResult flow;
  flow.worker = worker;
  flow.address = 0x48a2d0;
  flow.cpu_before = flow.cpu_after = CpuId{cpu};
  flow.residency.pages_by_node = std::move(pages);
  flow.residency.page_size = Bytes{4096};
  flow.figures = {{"latency", "s", (126.39 + worker) * 1e-9, std::nullopt}};
  return flow;
}

RunReport report_of_two() {
  RunReport report;
  report.ranks = 2;
  report.hosts = {"here"};
  report.machines = {machine_with_cores()};
  report.workers = {{0, 0, 0, CpuSet{CpuId{1}}, NodeId{0}, "inherit"},
                    {1, 0, 0, CpuSet{CpuId{2}}, NodeId{0}, "inherit"}};
  Case one;
  one.size = Bytes{512 * mib};
  one.flows = {flow_on(0, 1, {{3, 100}}), flow_on(1, 2, {{1, 10}, {3, 90}})};
  report.cases = {one};
  return report;
}

TEST(Mapping, SaysWhatWasObserved) {
  EXPECT_EQ(mapping_csv(report_of_two()), "rank,cpu_id,cpu_numa,memory_numa\n0,1,0,3\n1,2,0,3\n");
}

TEST(Mapping, LeavesTheUnknownEmpty) {
  RunReport report = report_of_two();
  report.cases[0].flows[0].residency.pages_by_node.clear();
  report.cases[0].flows[0].cpu_before = report.cases[0].flows[0].cpu_after = std::nullopt;
  report.cases[0].flows.pop_back();
  EXPECT_EQ(mapping_csv(report), "rank,cpu_id,cpu_numa,memory_numa\n0,,,\n1,,,\n");
}

TEST(SizeMatrix, IsAsTheDocumentsPrintIt) {
  RunReport report = report_of_two();
  report.cases.push_back(report.cases.front());
  report.cases[1].size = Bytes{3 * mib / 2};
  report.cases[1].flows.pop_back();
  EXPECT_EQ(size_matrix_csv(report),
            "size (MB),0,1\n"
            "512,126.39,127.39\n"
            "1.5,126.39,\n");
  report.cases.clear();
  EXPECT_EQ(size_matrix_csv(report), "size (MB),0,1\n");
}

ProcessMemory memory_of_last() {
  const auto mb = [](double value) { return Bytes{static_cast<std::uint64_t>(value * mib)}; };
  ProcessMemory memory;
  memory.pid = 50212;
  memory.command = "numa_mem_bench";
  memory.nodes = {NodeId{0}, NodeId{1}};
  memory.rows = {{"Huge", {mb(0), mb(0)}},
                 {"Heap", {mb(2050.96), mb(0)}},
                 {"Stack", {mb(0.02), mb(0)}},
                 {"Private", {mb(10.35), mb(5.68)}}};
  return memory;
}

TEST(StatisticsBlock, IsAsTheDocumentsPrintIt) {
  const ProcessMemory memory = memory_of_last();
  EXPECT_EQ(statistics_block(memory, 6, Bytes{2048 * mib}),
            "[6] ===================== NUMA Statistics =====================\n"
            "[6] Last Process: Rank 6\n"
            "[6] Process ID: 50212\n"
            "[6] Allocated Memory Size: 2048 MB\n"
            "[6] Running numastat...\n"
            "[6] \n"
            "[6] Per-node process memory usage (in MBs) for PID 50212 (numa_mem_bench)\n"
            "[6]                            Node 0          Node 1           Total\n"
            "[6]                   --------------- --------------- ---------------\n"
            "[6] Huge                         0.00            0.00            0.00\n"
            "[6] Heap                      2050.96            0.00         2050.96\n"
            "[6] Stack                        0.02            0.00            0.02\n"
            "[6] Private                     10.35            5.68           16.03\n"
            "[6] ----------------  --------------- --------------- ---------------\n"
            "[6] Total                     2061.33            5.68         2067.01\n"
            "[6]==========================================================\n");
}

TEST(GivenCpus, AreShownOnlyWhereTheyAreOneCore) {
  RunReport report = report_of_two();
  show_given_cpus(report, {CpuSet{CpuId{1}, CpuId{2}}, CpuSet{CpuId{1}, CpuId{2}, CpuId{65}}});
  EXPECT_EQ(report.workers[0].cpus, CpuSet{CpuId{1}});
  EXPECT_EQ(report.workers[1].cpus, CpuSet{CpuId{2}});
}

TEST(PageSize, IsTheMappingsOwn) {
  Residency residency;
  EXPECT_EQ(page_size_cell(residency), "-");
  residency.page_size = Bytes{4 * kib};
  EXPECT_EQ(page_size_cell(residency), "kB=4");
  residency.thp_fraction = 0.4;
  EXPECT_EQ(page_size_cell(residency), "kB=4,2048");
  residency.thp_fraction = 1;
  EXPECT_EQ(page_size_cell(residency), "kB=2048");
  residency.thp_fraction.reset();
  residency.page_size = Bytes{64 * kib};
  EXPECT_EQ(page_size_cell(residency), "kB=64");
  residency.thp_fraction = 1;
  EXPECT_EQ(page_size_cell(residency), "kB=524288");
}

/// Standard error and exit code of a program that must not get as far as measuring.
template <class Program>
std::pair<int, std::string> refused(Program program, std::vector<std::string> words) {
  testing::internal::CaptureStderr();
  const int code = program(words);
  return {code, testing::internal::GetCapturedStderr()};
}

TEST(Allocator, RefusesMoreThanItTakes) {
  const auto [two, two_text] = refused(allocator, {"5", "6"});
  EXPECT_EQ(two, 2);
  EXPECT_THAT(two_text, HasSubstr("only one size is taken, and '6' follows it"));
  const auto [unknown, text] = refused(allocator, {"--seriall", "5"});
  EXPECT_EQ(unknown, 2);
  EXPECT_THAT(text, HasSubstr("unknown option '--seriall'"));
  EXPECT_THAT(text, HasSubstr("did you mean --serial?"));
}

TEST(TestWords, AreForTheNullEngineOnly) {
  setenv("NUMATLAS_TEST_MACHINE", "numa:2 core:2 pu:1", 1);
  setenv("NUMATLAS_TEST_MEMORY", "bind:1", 1);
  EXPECT_TRUE(test_words().empty());
  setenv("NUMATLAS_ENGINE", "null", 1);
  EXPECT_THAT(test_words(),
              testing::ElementsAre("--machine", "numa:2 core:2 pu:1", "--memory", "bind:1"));
  for (const char* name : {"NUMATLAS_ENGINE", "NUMATLAS_TEST_MACHINE", "NUMATLAS_TEST_MEMORY"}) {
    unsetenv(name);
  }
}

TEST(OwnWords, NamesTheProgramsOptions) {
  const OwnWords own{{{"--size", "SIZE_MB"}, {"--memory", "--nodes"}}};
  Error error{ErrorKind::usage, "5 asked", "", "--size"};
  error.where = "rank 1 on a";
  const Error said = in_its_words(error, own);
  EXPECT_EQ(full_text(said), "rank 1 on a: SIZE_MB: 5 asked");
  EXPECT_EQ(in_its_words(said, own), said) << "in its words already";
  error.subject = "--memory pmem:/mnt/a b";
  EXPECT_EQ(in_its_words(error, own).subject, "--nodes pmem:/mnt/a b");
}

TEST(OwnWords, NameNoOptionThatTheProgramsDoNotHave) {
  const auto subject = [](const char* ours) {
    return in_its_words({ErrorKind::usage, "", "", ours}, {{{"--size", "SIZE_MB"}}}).subject;
  };
  EXPECT_EQ(subject("--sizes"), "sizes");
  EXPECT_EQ(subject("--memory local"), "memory local");
  EXPECT_EQ(subject("--mpi mpich"), "NUMATLAS_MPI mpich");
  EXPECT_EQ(subject("/proc/stat"), "/proc/stat");
  const auto hint = [](Error error) { return full_hint(in_its_words(std::move(error), {})); };
  EXPECT_EQ(hint({ErrorKind::usage, "", "ask for fewer", "--threads", ", or for more --cpus"}),
            "ask for fewer");
  EXPECT_EQ(hint({ErrorKind::usage, "", "2 or more", "--repeats"}), "2 or more");
  EXPECT_THAT(hint({ErrorKind::usage, "", "", "--cpus", "leave --cpus out"}),
              MatchesRegex("see `.+ --help`"));
}

TEST(OwnWords, SayWhatToDoWhereMemoryIsShort) {
  const OwnWords own{{}, "start fewer tasks"};
  const auto said = [&](const char* subject, const char* hint, const char* option_hint) {
    return full_hint(in_its_words({ErrorKind::resource, "", hint, subject, option_hint}, own));
  };
  EXPECT_EQ(said("--size", "", "use a smaller --size"), "start fewer tasks");
  EXPECT_EQ(said("--size", "see ulimit -v", ""), "see ulimit -v");
  EXPECT_EQ(said("", "raise ulimit -v", ", or use fewer --threads"), "raise ulimit -v");
}

const NumaXfer asked_for{"0,1", "2-3", 4294967296, 10, 16};

TEST(NumaXfer, IsACopyOfAPartByEachThread) {
  const std::vector<std::string> words = copy_words(asked_for);
  EXPECT_EQ(words, (std::vector<std::string>{"--from", "interleave:0-1", "--to", "interleave:2-3",
                                             "--side", "any", "--threads", "16", "--size",
                                             "268435456B", "--mpi", "none"}));
  const auto size = [](std::uint64_t bytes, int threads) {
    return copy_words({"0", "0", bytes, 1, threads})[9];
  };
  EXPECT_EQ(size(1000, 1), "960B") << "whole lines";
  EXPECT_EQ(size(1000, 7), "128B");
  EXPECT_EQ(size(1, 1), "128B");
}

TEST(NumaXfer, RefusesBadWords) {
  const auto code = [](const std::string& from, const std::string& bytes, const std::string& n,
                       const std::string& threads) {
    return numa_xfer({"--src_nodes", from, "--dst_nodes", "0", "--benchmark_bytes", bytes,
                      "--iterations_per_bench", n, "--num_threads", threads});
  };
  const int usage = exit_code(ErrorKind::usage);
  EXPECT_EQ(numa_xfer({"--src_nodes", "0"}), usage);
  EXPECT_EQ(code("all", "4096", "1", "1"), usage);
  EXPECT_EQ(code("0", "0", "1", "1"), usage);
  EXPECT_EQ(code("0", "4k", "1", "1"), usage);
  EXPECT_EQ(code("0", "4096", "0", "1"), usage);
  EXPECT_EQ(code("0", "4096", "1", "-1"), usage);
}

TEST(TranslatedRun, HasBasePagesUnlessToldOtherwise) {
  const auto usual = translated_run("latency", {});
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->options.pages, std::vector{PageKind::base});
  const auto told = translated_run("latency", {"--pages", "thp"});
  ASSERT_TRUE(told);
  EXPECT_EQ(told->options.pages, std::vector{PageKind::thp});
}

RunReport two_ranks(std::uint64_t first_address, std::vector<double> seconds) {
  RunReport report;
  report.hosts = {"here"};
  report.workers = {{0, 0, 0, CpuSet{CpuId{1}, CpuId{65}}, NodeId{0}, "local"},
                    {1, 0, 0, CpuSet{CpuId{2}}, NodeId{0}, "local"}};
  std::uint64_t size = mib;
  for (double value : seconds) {
    Case one;
    one.size = Bytes{size};
    size *= 2;
    for (int worker = 0; worker < 2; ++worker) {
      FlowResult flow;
      flow.worker = worker;
      flow.address = first_address;
      flow.residency.pages_by_node = {{3, 1}};
      flow.figures = {{"latency", "s", value * (worker + 1), std::nullopt}};
      one.flows.push_back(flow);
    }
    report.cases.push_back(one);
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
  report.cases[0].flows.pop_back();
  report.cases[0].flows[0].figures[0].estimate.reset();
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
