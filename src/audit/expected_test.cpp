// The claims on what memory can carry: of all CPUs' reads, and of a GPU's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "audit/claim.h"
#include "audit/test_figures.h"
#include "record/test_estimate.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using enum ClaimOutcome;

/// A machine of two Xeon Platinum 8480+ whose CPUs read this much together.
Figures reading(double gb, const std::string& cpu_model = "Intel(R) Xeon(R) Platinum 8480+") {
  Figures figures;
  figures.machine = recorded("two-sockets-four-gpus.json");
  figures.machine.cpu_model = cpu_model;
  StoredCase reads;
  reads.kernel = "read";
  reads.metric = "bandwidth_sum";
  reads.unit = "B/s";
  reads.figure.estimate = about_value(gb * 1e9);
  StoredRun run;
  run.command = "bandwidth";
  run.hosts = {figures.machine.host};
  run.machines = {figures.machine};
  run.worker_cpus = {to_list(figures.machine.all_cpus())};
  run.cases = {reads};
  figures.now = {run};
  return figures;
}

TEST(GpuMemoryClaim, ReadsAgainstTheBus) {
  Figures figures;
  figures.machine = recorded("two-sockets-four-gpus.json");
  figures.machine.gpus.resize(2);
  figures.machine.gpus[0].memory_bandwidth = 3.352e12;
  EXPECT_THAT(figures.judge(make_gpu_memory_claim(), "gpu 1 memory").reason,
              HasSubstr("does not tell the width"));
  const auto reading_of = [&](double gb) {
    Figures its = figures;
    its.add("gpu", {"gpu_read", {{"gpu", "0"}}, "reads", "B/s", about_value(gb * 1e9)});
    return its.judge(make_gpu_memory_claim(), "gpu 0 memory");
  };
  EXPECT_EQ(reading_of(3056).outcome, confirmed);
  EXPECT_EQ(reading_of(1100).outcome, contradicted);
  EXPECT_THAT(reading_of(1100).claimed, HasSubstr("carries 3352 GB/s"));
  figures.machine.gpus[0].mig = true;
  EXPECT_THAT(reading_of(1100).reason, HasSubstr("a slice of a GPU (MIG)"));
}

TEST(ExpectedClaim, AgainstWhatWasPublished) {
  const ClaimVerdict good = reading(490).judge(make_expected_claim(), "reads");
  EXPECT_EQ(good.outcome, confirmed);
  EXPECT_EQ(
      good.found,
      "read 490 GB/s ±2.0 %: 80 % of 614 GB/s (16 x DDR5-4800); published for this model: 481 "
      "to 527 GB/s (1 socket, times 2)");
  const ClaimVerdict low = reading(390).judge(make_expected_claim(), "reads");
  EXPECT_EQ(low.outcome, contradicted);
  EXPECT_THAT(low.next, HasSubstr("NPS or SNC"));
  EXPECT_EQ(low.short_found, "390 GB/s, expected 409 GB/s");
  EXPECT_EQ(reading(410).judge(make_expected_claim(), "reads").outcome, not_measurable);
  const ClaimVerdict more = reading(900).judge(make_expected_claim(), "reads");
  EXPECT_EQ(more.outcome, not_measurable);
  EXPECT_THAT(more.reason, HasSubstr("more than the peak"));
}

TEST(ExpectedClaim, AgainstThePeakWhereNothingWasPublished) {
  const char* const model = "Intel(R) Xeon(R) Platinum 8490H";
  EXPECT_EQ(reading(390, model).judge(make_expected_claim(), "reads").outcome, confirmed);
  const ClaimVerdict low = reading(350, model).judge(make_expected_claim(), "reads");
  EXPECT_EQ(low.outcome, contradicted);
  EXPECT_EQ(low.claimed, "at least 60 % of the peak");
  // `dimms` says the same of the modules, where they are known.
  Figures figures = reading(350, model);
  figures.machine.memory_slots = modules("even");
  EXPECT_THAT(figures.judge(make_expected_claim()), ::testing::IsEmpty());
}

TEST(ExpectedClaim, WhereNothingIsExpected) {
  Figures figures = reading(100, "Acme 9000");
  const ClaimVerdict unknown = figures.judge(make_expected_claim(), "reads");
  EXPECT_EQ(unknown.outcome, not_measurable);
  EXPECT_THAT(unknown.reason, HasSubstr("'Acme 9000' is not in the table"));
  figures = reading(100);
  figures.machine.hypervisor = "KVM";
  const ClaimVerdict guest = figures.judge(make_expected_claim(), "reads");
  EXPECT_EQ(guest.outcome, not_measurable);
  EXPECT_THAT(guest.reason, HasSubstr("virtual machine"));
  EXPECT_THAT(make_expected_claim()->benchmarks(figures.machine), ::testing::IsEmpty());
  figures = reading(100);
  figures.now.clear();
  EXPECT_THAT(figures.judge(make_expected_claim(), "reads").reason,
              HasSubstr("bandwidth did not run"));
}

}  // namespace
}  // namespace numatlas
