// Workers that are to run at the same time do so.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "selftest/check.h"
#include "selftest/together.h"

namespace numatlas {
namespace {

constexpr double least_overlap = 0.9;

class OverlapCheck final : public Check {
 public:
  std::string name() const override { return "overlap"; }
  std::string summary() const override { return "two workers run at the same time"; }
  CheckResult run(const CheckInput& input) const override;
};

CheckResult OverlapCheck::run(const CheckInput& input) const {
  if (input.workers.size() < 2) return skipped("one CPU: nothing runs beside it");
  const auto traces = read_together(input, input.workers, std::chrono::milliseconds(300));
  if (!traces) return failed(full_text(traces.error()), traces.error().hint);
  double overlap = 1;
  for (const Trace& trace : *traces) {
    if (trace.wrong) return failed(full_text(*trace.wrong), "report this line");
    overlap = std::min(overlap, trace.overlap.value_or(0));
  }
  const std::string detail =
      fmt::format("workers on CPUs {} and {} ran concurrently {:.0f} % of the time",
                  to_list(input.workers[0].cpus), to_list(input.workers[1].cpus), overlap * 100);
  if (overlap >= least_overlap) return passed(detail);
  return failed(detail,
                "other programs or a CPU quota of the control group (cpu.max) keep them apart");
}

}  // namespace

std::unique_ptr<Check> make_overlap_check() { return std::make_unique<OverlapCheck>(); }

}  // namespace numatlas
