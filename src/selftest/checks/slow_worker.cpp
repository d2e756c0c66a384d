// The rule that names slow nodes, on this machine's own samples: it names the one that was made
// slow, and no other.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/peers.h"
#include "base/statistics.h"
#include "base/text.h"
#include "selftest/check.h"
#include "selftest/together.h"

namespace numatlas {
namespace {

constexpr std::size_t hosts = 8, rounds = 10, planted = 5;
// It takes twice as long as the others: samples of a busy machine vary, but not like that.
constexpr double times_as_long = 2;

/// Samples dealt out to hosts and rounds, one slower than the others.
PeerInput peers_of(const std::vector<Sample>& samples) {
  PeerInput peers;
  peers.kind_texts = {"worker"};
  peers.cases = {"read"};
  peers.rates.resize(1);
  const std::size_t each = samples.size() / (hosts * rounds);
  for (std::size_t i = 0; i < hosts; ++i) {
    peers.hosts.push_back(fmt::format("worker {}", i));
    peers.kinds.push_back(0);
    PeerRate rate;
    for (std::size_t round = 0; round < rounds; ++round) {
      std::vector<double> rates;
      for (std::size_t k = 0; k < each; ++k) {
        const Sample& one = samples[(round * each + k) * hosts + i];
        rates.push_back(1e9 / static_cast<double>(std::max<std::int64_t>(1, one.duration_ns)));
      }
      rate.rounds.push_back(summarize(rates)->median / (i == planted ? times_as_long : 1));
    }
    rate.rate = summarize(rate.rounds)->median;
    rate.run = 1;
    peers.rates.front().emplace_back(std::move(rate));
  }
  return peers;
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
  const PeerInput peers = peers_of(samples);
  const SlowReport found = judge_peers(peers, {});
  const bool right = found.hosts.size() == 1 && found.hosts.front().host == planted;
  const std::string next =
      "the machine's speed changes more than a worker at half its speed: see interference";
  if (right)
    return passed(fmt::format("1 of {} workers at half its speed was named, no other", hosts));
  std::vector<std::string> names;
  for (const SlowHost& slow : found.hosts) names.push_back(peers.hosts[slow.host]);
  return failed(names.empty() ? "a worker at half its speed was not noticed"
                              : fmt::format("named {}; worker {} was at half its speed",
                                            names_text(names), planted),
                next);
}

}  // namespace

std::unique_ptr<Check> make_slow_worker_check() { return std::make_unique<SlowWorkerCheck>(); }

}  // namespace numatlas
