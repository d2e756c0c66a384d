#include "run/session.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/parse.h"
#include "benchmarks/test_plan.h"
#include "run/setup.h"

namespace numatlas {
namespace {

using testing::Words;

/// The cases of a session on the null engine that has a tenth of a second for sixteen of them.
std::vector<Case> sixteen_cases(bool keeps_time) {
  const auto comm = make_single_comm();
  std::string sizes;
  for (int i = 1; i <= 16; ++i) sizes += (i > 1 ? "," : "") + std::to_string(4 * i) + "KiB";
  const Words words{"--size",
                    sizes,
                    "--pages",
                    "base",
                    "--cpus",
                    "0",
                    "--engine",
                    "null",
                    "--time",
                    "100ms",
                    "-q",
                    "--machine",
                    "numa:1 core:2 pu:1"};
  auto run = parse_run("latency", words);
  EXPECT_TRUE(run) << full_text(run.error());
  run->options.time_of_all = true;
  auto setup = set_up(run->benchmark, run->options, *comm);
  EXPECT_TRUE(setup) << full_text(setup.error());
  const RunHooks hooks;
  Session session(
      *comm,
      {.time = std::chrono::milliseconds(100), .keeps_time = keeps_time, .null_engine = true},
      [](BenchmarkRun&) { return Expected<void>(); });
  EXPECT_TRUE(session.add(run->benchmark, run->options, hooks, *std::move(setup),
                          std::chrono::milliseconds(100)));
  EXPECT_TRUE(session.conclude(session.finish()));
  return session.runs().front()->report().cases;
}

TEST(Session, EveryPointGetsAValueWhateverTheTime) {
  const auto cases = sixteen_cases(false);
  ASSERT_EQ(cases.size(), 16U);
  for (const Case& one : cases) EXPECT_EQ(one.status, Status::ok) << one.name;
}

TEST(Session, PointsAreSkippedWhereTheTimeIsKept) {
  const auto cases = sixteen_cases(true);
  ASSERT_EQ(cases.size(), 16U);
  int measured = 0;
  for (const Case& one : cases) {
    if (one.status == Status::ok) {
      ++measured;
      continue;
    }
    EXPECT_EQ(one.status, Status::skipped);
    EXPECT_EQ(one.reason, "no time left");
    EXPECT_TRUE(one.flows.empty());
  }
  EXPECT_GE(measured, 1);
  EXPECT_LE(measured, 6) << "each takes 20 ms at least";
}

/// The case of a session of two seconds on a machine that is known well after five visits.
Case two_seconds(const char* hypervisor, const Words& more = {}) {
  const auto comm = make_single_comm();
  Words words{"--size",  "4KiB",         "--cpus", "0",         "--engine",           "null",
              "--noise", "lognormal=1%", "-q",     "--machine", "numa:1 core:2 pu:1", "--time",
              "2s"};
  words.insert(words.end(), more.begin(), more.end());
  auto run = parse_run("latency", words);
  EXPECT_TRUE(run) << full_text(run.error());
  run->options.time_of_all = true;
  auto setup = set_up(run->benchmark, run->options, *comm);
  EXPECT_TRUE(setup) << full_text(setup.error());
  setup->machines.front().hypervisor = hypervisor;
  const RunHooks hooks;
  Session session(*comm,
                  {.time = std::chrono::seconds(2),
                   .visits = run->options.visits,
                   .null_engine = true,
                   .noise = run->options.noise},
                  [](BenchmarkRun&) { return Expected<void>(); });
  EXPECT_TRUE(
      session.add(run->benchmark, run->options, hooks, *std::move(setup), std::chrono::seconds(2)));
  EXPECT_TRUE(session.conclude(session.finish()));
  return session.runs().front()->report().cases.front();
}

TEST(Session, OneThatGaveUpLeavesItsTimeToTheOthers) {
  const auto comm = make_single_comm();
  const auto parsed = [&](const char* sizes) {
    auto run =
        parse_run("latency", {"--size", sizes, "--pages", "base", "--cpus", "0", "--engine", "null",
                              "--time", "2s", "-q", "--machine", "numa:1 core:2 pu:1"});
    EXPECT_TRUE(run) << full_text(run.error());
    run->options.time_of_all = true;
    return run;
  };
  const auto one = parsed("4KiB"), other = parsed("8KiB,12KiB,16KiB,20KiB,24KiB,28KiB");
  const RunHooks hooks;
  Session session(*comm, {.time = std::chrono::seconds(2), .keeps_time = true, .null_engine = true},
                  [](BenchmarkRun&) { return Expected<void>(); });
  for (const auto* run : {&one, &other}) {
    auto setup = set_up((*run)->benchmark, (*run)->options, *comm);
    ASSERT_TRUE(setup) << full_text(setup.error());
    ASSERT_TRUE(session.add((*run)->benchmark, (*run)->options, hooks, *std::move(setup),
                            std::chrono::milliseconds(200)));
  }
  session.runs().back()->give_up({ErrorKind::resource, "no memory", ""});
  ASSERT_TRUE(session.conclude(session.finish()));
  EXPECT_TRUE(session.runs().front()->cases().front().ended);
  EXPECT_EQ(session.runs().back()->cases().front().visits(), 1);
  EXPECT_EQ(session.runs().back()->report().cases.front().flows.front().stop, "interrupted");
}

TEST(Session, VisitsTakeAllOfTheTimeOfAVirtualMachine) {
  const Case bare = two_seconds(""), guest = two_seconds("KVM");
  EXPECT_LT(bare.visits->seconds, 1);
  EXPECT_GT(guest.visits->seconds, 1.7);
  EXPECT_LT(guest.visits->seconds, 2.1);
  EXPECT_GT(guest.visits->count, bare.visits->count);
  for (const Case& one : {bare, guest}) EXPECT_EQ(one.flows.front().stop, "converged");
  EXPECT_EQ(two_seconds("KVM", {"--visits", "3"}).visits->count, 3) << "as it was asked for";
}

TEST(InOptions, NamesWhatWasAskedForAndSaysWhatToDo) {
  Benchmark benchmark{.name = "tlb", .options = {.size = "--page-counts"}};
  PlannedCase planned;
  const auto told = [&](const char* subject, ErrorKind kind, const char* hint = "") {
    const Error error = in_options({kind, "wrong", hint, subject}, planned, benchmark);
    return with_hint(full_text(error), error);
  };
  const std::string less = "; ask for less, or add --skip-too-large to measure the sizes that fit";
  EXPECT_EQ(told("size", ErrorKind::resource), "--page-counts: wrong" + less);
  EXPECT_EQ(told("size", ErrorKind::resource, "see ulimit"), "--page-counts: wrong; see ulimit");
  EXPECT_EQ(told("memory pmem:/a b", ErrorKind::resource), "--memory pmem:/a b: wrong" + less);
  EXPECT_EQ(told("memory pmem:/a", ErrorKind::io), "--memory pmem:/a: wrong");
  EXPECT_EQ(told("pages 2M", ErrorKind::resource), "--pages 2M: wrong");
  EXPECT_EQ(told("/mnt/file", ErrorKind::io), "/mnt/file: wrong");
  planned.size_option = "--control-size";
  EXPECT_EQ(told("--size", ErrorKind::usage), "--control-size: wrong") << "of a kernel";
  benchmark.reduced_to_hosts.emplace();
  EXPECT_EQ(told("size", ErrorKind::resource),
            "--control-size: wrong; use a smaller --size or fewer workers (--cpus)");
}

}  // namespace
}  // namespace numatlas
