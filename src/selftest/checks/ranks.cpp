// Ranks agree: on the version, on what they would run, and on the time.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/version.h"
#include "comm/clock_offset.h"
#include "kernels/kernel.h"
#include "selftest/check.h"

namespace numatlas {
namespace {

// What a common start can be late by without harm to samples of a second.
constexpr double most_error = 1e-3;

class RanksCheck final : public Check {
 public:
  std::string name() const override { return "ranks"; }
  std::string summary() const override {
    return "all ranks have the same version, kernels and clock";
  }
  bool of_all_ranks() const override { return true; }
  CheckResult run(const CheckInput& input) const override;
};

CheckResult RanksCheck::run(const CheckInput& input) const {
  Comm& comm = input.comm;
  if (comm.size() == 1) return skipped("one rank; mpirun or srun starts more");
  const std::string mine =
      fmt::format("{} with {}; {}", version, instruction_set(), fmt::join(kernel_names(), ","));
  const auto all = comm.all_gather(mine);
  if (!all) return failed(full_text(all.error()), all.error().hint);
  const auto offsets = measure_clock_offsets(comm);
  if (!offsets) return failed(full_text(offsets.error()), offsets.error().hint);
  for (std::size_t rank = 1; rank < all->size(); ++rank) {
    if ((*all)[rank] == all->front()) continue;
    const auto short_text = [](const std::string& text) { return text.substr(0, text.find(';')); };
    return failed(fmt::format("rank {} is numatlas {}, rank 0 is {}", rank,
                              short_text((*all)[rank]), short_text(all->front())),
                  "start the same installation on all hosts; --isa chooses a set that all have");
  }
  Nanoseconds error{0};
  for (const ClockOffset& one : *offsets) error = std::max(error, one.precision);
  const double seconds = std::chrono::duration<double>(error).count();
  const std::string detail = fmt::format(
      "{} ranks on {} host{}: same version and kernels, clocks known to {:.0f} us", comm.size(),
      comm.layout().hosts.size(), comm.layout().hosts.size() == 1 ? "" : "s", seconds * 1e6);
  if (seconds > most_error)
    return failed(detail, "the network between the hosts is slow or busy: start times differ");
  return passed(detail);
}

}  // namespace

std::unique_ptr<Check> make_ranks_check() { return std::make_unique<RanksCheck>(); }

}  // namespace numatlas
