// The clock that all times come from: it never goes back, on whichever CPU it is read, reading it
// is cheap, and it runs as fast as the hardware's own.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "engine/clock.h"
#include "placement/kept_cpus.h"
#include "selftest/check.h"

namespace numatlas {
namespace {

constexpr int readings = 20'000, most_cpus = 16;
// A sample lasts 100 times as long as a reading; this is about 20 times what a usual one takes.
constexpr std::int64_t most_cost_ns = 1000;
// NTP slews clocks by 500 ppm at most.
constexpr double most_slew = 1e-3;

std::int64_t raw_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::string source_of(const Machine& machine) {
  for (const Setting& setting : machine.settings)
    if (setting.name == "clocksource") return setting.value;
  return "unknown";
}

/// Reads it on one CPU after the other: "" or how it went back. `cpus`: on how many it was read.
std::string went_back(Clock& clock, const CpuSet& usable, int& cpus) {
  const KeptCpus kept;
  std::int64_t last = clock.now_ns();
  for (const CpuId cpu : usable) {
    if (cpus == most_cpus) break;
    if (!bind_thread({cpu})) continue;
    ++cpus;
    for (int i = 0; i < readings; ++i) {
      const std::int64_t now = clock.now_ns();
      if (now < last) return fmt::format("went back by {} ns on CPU {}", last - now, cpu.value);
      last = now;
    }
  }
  return "";
}

class ClockCheck final : public Check {
 public:
  std::string name() const override { return "clock"; }
  std::string summary() const override {
    return "never goes back on any CPU, is cheap to read, and keeps the hardware's pace";
  }
  bool is_quick() const override { return true; }
  CheckResult run(const CheckInput& input) const override;
};

CheckResult ClockCheck::run(const CheckInput& input) const {
  MonotonicClock clock;
  const std::string source = source_of(input.machine);
  const std::string next = fmt::format(
      "the kernel's clock source is {}: see the kernel log for why it is not tsc (x86) or "
      "arch_sys_counter (Arm), and /sys/devices/system/clocksource",
      source);
  int cpus = 0;
  if (const std::string wrong = went_back(clock, input.machine.usable_cpus(), cpus); !wrong.empty())
    return failed(wrong, next);
  const std::int64_t cost = timer_overhead_ns(clock);
  if (cost > most_cost_ns) return failed(fmt::format("one reading takes {} ns", cost), next);
  const std::int64_t raw = raw_ns(), start = clock.now_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const double pace =
      static_cast<double>(clock.now_ns() - start) / static_cast<double>(raw_ns() - raw);
  if (std::abs(pace - 1) > most_slew)
    return failed(fmt::format("runs {:.4f} times as fast as the hardware's", pace), next);
  return passed(fmt::format("{}, {} ns per reading, monotonic on {} CPU{}", source, cost, cpus,
                            cpus == 1 ? "" : "s"));
}

}  // namespace

std::unique_ptr<Check> make_clock_check() { return std::make_unique<ClockCheck>(); }

}  // namespace numatlas
