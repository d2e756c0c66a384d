// The rule that names slow nodes, on this machine's own samples: it names the one that was made
// slow, and no other.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "fleet/summary.h"
#include "selftest/check.h"
#include "selftest/together.h"

namespace numatlas {
namespace {

constexpr std::size_t hosts = 8, rounds = 10, planted = 5;
// It takes twice as long as the others: samples of a busy machine vary, but not like that.
constexpr double times_as_long = 2;
constexpr std::size_t bytes = 1 << 20;

/// Samples dealt out to hosts and rounds, one slower than the others.
Fleet fleet_of(const std::vector<Sample>& samples) {
  Fleet fleet;
  fleet.repeats = static_cast<int>(rounds);
  fleet.kernels = {{"read", "memory", "", bytes, bytes}};
  HostKind kind;
  kind.processes = kind.workers = 1;
  fleet.kinds = {kind};
  const std::size_t each = samples.size() / (hosts * rounds);
  for (std::size_t i = 0; i < hosts; ++i) {
    FleetHost host;
    host.name = fmt::format("worker {}", i);
    host.rounds.resize(1);
    for (std::size_t round = 0; round < rounds; ++round) {
      std::vector<double> times;
      for (std::size_t k = 0; k < each; ++k) {
        const Sample& one = samples[(round * each + k) * hosts + i];
        times.push_back(static_cast<double>(one.duration_ns) * 1e-9);
      }
      std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(each / 2),
                       times.end());
      const double time = times[each / 2] * (i == planted ? times_as_long : 1);
      host.rounds[0].push_back({time, 0, time, time, time, 1, 0});
    }
    fleet.hosts.push_back(std::move(host));
  }
  return fleet;
}

class SlowWorkerCheck final : public Check {
 public:
  std::string name() const override { return "slow-worker"; }
  std::string summary() const override {
    return "the slow-host rule names a worker that was made slow, and no other";
  }
  CheckResult run(const CheckInput& input) const override;
};

CheckResult SlowWorkerCheck::run(const CheckInput& input) const {
  const auto traces = read_together(input, {input.workers.front()}, std::chrono::milliseconds(300));
  if (!traces) return failed(full_text(traces.error()), traces.error().hint);
  const std::vector<Sample>& samples = traces->front().samples;
  if (samples.size() < hosts * rounds)
    return skipped(
        fmt::format("{} samples in 300 ms, {} are needed", samples.size(), hosts * rounds));
  const Fleet fleet = fleet_of(samples);
  const SlowReport found = find_slow(fleet);
  const bool right = found.hosts.size() == 1 && found.hosts.front().host == planted;
  const std::string next =
      "the machine's speed changes more than a worker at half its speed: see interference";
  if (right)
    return passed(fmt::format("1 of {} workers at half its speed was named, no other", hosts));
  std::vector<std::string> names;
  for (const SlowHost& slow : found.hosts) names.push_back(fleet.hosts[slow.host].name);
  return failed(names.empty() ? "a worker at half its speed was not noticed"
                              : fmt::format("named {}; worker {} was at half its speed",
                                            names_text(names), planted),
                next);
}

}  // namespace

std::unique_ptr<Check> make_slow_worker_check() { return std::make_unique<SlowWorkerCheck>(); }

}  // namespace numatlas
