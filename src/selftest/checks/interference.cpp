// What else uses the CPUs, and settings that change speed while something is measured.
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/tree.h"
#include "machine/cpu_use.h"
#include "selftest/check.h"

namespace numatlas {
namespace {

class InterferenceCheck final : public Check {
 public:
  std::string name() const override { return "interference"; }
  std::string summary() const override {
    return "no other program, hypervisor or changing frequency disturbs";
  }
  CheckResult run(const CheckInput& input) const override;
};

CheckResult InterferenceCheck::run(const CheckInput& input) const {
  const Tree& tree = running_system();
  std::vector<std::string> settings;
  for (const Setting& setting : input.machine.settings) {
    if (!setting.warning.empty())
      settings.push_back(fmt::format("{} = {}", setting.name, setting.value));
  }
  const CpuId cpu = input.workers.front().cpus.empty() ? CpuId{0} : input.workers.front().cpus[0];
  const auto before = cpu_frequency(tree, cpu);
  const CpuWatch watch(tree, input.comm.local_pids());
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const CpuUse use = watch.use();
  const auto after = cpu_frequency(tree, cpu);
  const std::string seen = settings.empty()
                               ? ""
                               : fmt::format(
                                     "; settings that may disturb: {} (numatlas topology "
                                     "says how)",
                                     fmt::join(settings, ", "));
  const std::string speed = before && after ? fmt::format("; CPU {} at {:.2f} to {:.2f} GHz",
                                                          cpu.value, *before * 1e-9, *after * 1e-9)
                                            : "";
  if (!use.others) return skipped("cannot be seen: " + use.reason + seen);
  if (is_disturbed(use))
    return failed(cpu_use_warning({{"", use}}),
                  "stop other programs, or measure on CPUs that are "
                  "idle (--cpus)" +
                      speed + seen);
  return passed(fmt::format("other programs used {:.2f} of {} CPUs", *use.others, use.cpus) +
                speed + seen);
}

}  // namespace

std::unique_ptr<Check> make_interference_check() { return std::make_unique<InterferenceCheck>(); }

}  // namespace numatlas
