#include "report/notes.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/test_report.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Notes, SkipsWarningsAndWhatConverged) {
  RunReport report = testing::report();
  report.warnings = {{"low-overlap", "1MiB base, worker 0", "slow"},
                     {"low-overlap", "2MiB base, worker 1", "slow"},
                     {"setting", "", "numa_balancing = 1"},
                     {"low-overlap", "4MiB base, worker 3", "slow"},
                     {"placement", "8MiB base, worker 3", "cold"}};
  report.complete = false;
  report.incomplete_reason = "interrupted";
  const std::string text = notes_text(report, true);
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

TEST(Notes, AVirtualMachineIsOneOfMany) {
  RunReport report = testing::report();
  report.engine = "engine";
  report.cases.front().visits.emplace().count = 9;
  EXPECT_THAT(notes_text(report, true), Not(HasSubstr("virtual machine")));
  report.machines.emplace_back().hypervisor = "KVM";
  EXPECT_THAT(notes_text(report, true), HasSubstr("; one run on a virtual machine: another may"));
  report.engine = "null";
  EXPECT_THAT(notes_text(report, true), Not(HasSubstr("virtual machine")))
      << "nothing was measured";
}

TEST(Notes, SayWhatIsMissingToBeConverged) {
  RunReport report = testing::report();
  Case& one = report.cases.front();
  report.precision = 0.01;
  report.time_cap = 13.6901;
  Estimate& estimate = *one.flows.front().figures.front().estimate;
  estimate.low = estimate.value * 0.9999;
  estimate.high = estimate.value * 1.0001;
  one.flows.front().stop = "time_cap";
  one.visits.emplace();
  one.visits->count = 3;
  const std::string text = notes_text(report, true);
  EXPECT_THAT(text, HasSubstr(" workers, only 3 visits)")) << text;
  EXPECT_THAT(text, Not(HasSubstr("to 0.0 %")));
  EXPECT_THAT(text, HasSubstr("within 13.7 s"));
}

TEST(Notes, SayWhichVectorsWereTheFastest) {
  RunReport report = testing::report();
  EXPECT_THAT(notes_text(report, true), Not(HasSubstr("vectors")));
  report.widths = {{"copy", "regular", "base", 2, 16, {16, 32, 64}},
                   {"triad", "non-temporal", "base", 2, 16, {16, 32, 64}},
                   {"read", "", "base", 2, 64, {16, 32, 64}}};
  EXPECT_THAT(notes_text(report, true),
              HasSubstr("copy, triad nt, 16-byte vectors: fastest of 16, 32, 64\n"
                        "read, 64-byte vectors: fastest of 16, 32, 64\n"));
  report.widths = {{"copy", "regular", "base", 1, 16, {16, 32}},
                   {"copy", "regular", "thp", 2, 32, {16, 32}}};
  EXPECT_EQ(widths_text(report),
            "copy base (1 worker), 16-byte vectors: fastest of 16, 32\n"
            "copy thp (2 workers), 32-byte vectors: fastest of 16, 32\n");
}

TEST(Notes, APointThatWasCutOffSaysWhyItHasNoSum) {
  RunReport report = testing::report();
  Case& one = report.cases.front();
  one.status = Status::incomplete;
  one.reason = "interrupted";
  EXPECT_THAT(notes_text(report, true), HasSubstr("1MiB base: incomplete: interrupted\n"));
  one.flows.front().figures.front().key = "bandwidth";
  EXPECT_THAT(notes_text(report, true),
              HasSubstr("incomplete: interrupted; its workers keep what they recorded"));
  one.figures = {{"bandwidth_sum", "B/s", 1e9, {}}};
  EXPECT_THAT(notes_text(report, true), HasSubstr("1MiB base: incomplete: interrupted\n"));
}

}  // namespace
}  // namespace numatlas
