#include "run/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "run/test_session.h"

namespace numatlas {
namespace {

using testing::NullSession;
using testing::typed;

constexpr const char* two_cpus = "numa:1 core:2 pu:1";

/// The cases of a session on the null engine that has a tenth of a second for sixteen of them, and
/// for what follows it.
std::vector<Case> sixteen_cases(bool keeps_time, double for_end = 0) {
  std::string sizes;
  for (int i = 1; i <= 16; ++i) sizes += (i > 1 ? "," : "") + std::to_string(4 * i) + "KiB";
  NullSession session(two_cpus, {.time = std::chrono::milliseconds(100), .keeps_time = keeps_time});
  session.session().keep_for_end(Session::Seconds(for_end));
  session.add("latency", {"--size", sizes, "--pages", "base", "--cpus", "0"}, 0.1);
  session.finish();
  return session.session().runs().front()->report().cases;
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

TEST(Session, WhatFollowsItHasItsTime) {
  const auto cases = sixteen_cases(true, 0.06);
  const auto measured = std::ranges::count(cases, Status::ok, &Case::status);
  EXPECT_GE(measured, 1);
  EXPECT_LE(measured, 3) << "40 ms are left";
}

/// The case of a session of two seconds on a machine that is known well after five visits.
Case two_seconds(const char* hypervisor, int visits = 0) {
  Noise noise;
  noise.samples = 0.01;
  NullSession session(two_cpus,
                      {.time = std::chrono::seconds(2), .visits = visits, .noise = noise});
  testing::Words words = typed("--size 4KiB --cpus 0 --noise lognormal=1%");
  if (visits > 0) words.insert(words.end(), {"--visits", std::to_string(visits)});
  session.add("latency", words, 2, hypervisor);
  session.finish();
  return session.session().runs().front()->report().cases.front();
}

TEST(Session, OneThatGaveUpLeavesItsTimeToTheOthers) {
  NullSession both(two_cpus, {.time = std::chrono::seconds(2), .keeps_time = true});
  both.add("latency", typed("--size 4KiB --pages base --cpus 0"), 0.2);
  both.add("latency", typed("--size 8KiB,12KiB,16KiB,20KiB,24KiB,28KiB --pages base --cpus 0"),
           0.2);
  const auto& runs = both.session().runs();
  runs.back()->give_up({ErrorKind::resource, "no memory", ""});
  both.finish();
  EXPECT_TRUE(runs.front()->cases().front().ended);
  EXPECT_EQ(runs.back()->cases().front().visits(), 1);
  EXPECT_EQ(runs.back()->report().cases.front().flows.front().stop, "interrupted");
}

TEST(Session, VisitsTakeAllOfTheTimeOfAVirtualMachine) {
  const Case bare = two_seconds(""), guest = two_seconds("KVM");
  EXPECT_LT(bare.visits->seconds, 1);
  EXPECT_GT(guest.visits->seconds, 1.7);
  EXPECT_LT(guest.visits->seconds, 2.1);
  EXPECT_GT(guest.visits->count, bare.visits->count);
  for (const Case& one : {bare, guest}) EXPECT_EQ(one.flows.front().stop, "converged");
  EXPECT_EQ(two_seconds("KVM", 3).visits->count, 3) << "as it was asked for";
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
