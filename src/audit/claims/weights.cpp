// The kernel's weights of weighted interleave, which it computes from the firmware's bandwidths
// (Linux 6.16) or an administrator set, against the best ones that `numatlas weights` finds.
#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/claim.h"
#include "benchmarks/weights/search.h"

namespace numatlas {
namespace {

// Below it the choice of weights is a matter of taste.
constexpr double least_gain = 1.1;

const Setting* setting_of(const Machine& machine, const std::string& name) {
  const auto found = std::find_if(machine.settings.begin(), machine.settings.end(),
                                  [&](const Setting& one) { return one.name == name; });
  return found == machine.settings.end() ? nullptr : &*found;
}

/// "0=4,1=4,2=1"; what is no such pair is left out.
Weights read_weights(const std::string& text) {
  Weights weights;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int node = 0, weight = 0;
    const auto [equals, bad_node] = std::from_chars(at, end, node);
    if (bad_node != std::errc{} || equals == end || *equals != '=') break;
    const auto [stop, bad_weight] = std::from_chars(equals + 1, end, weight);
    if (bad_weight != std::errc{}) break;
    weights.emplace_back(NodeId{node}, weight);
    at = stop < end ? stop + 1 : end;
  }
  return weights;
}

/// Of these nodes alone, without a common divisor.
Weights reduced(const Weights& all, const NodeSet& nodes) {
  Weights weights;
  int divisor = 0;
  for (const auto& [node, weight] : all) {
    if (!nodes.contains(node)) continue;
    weights.emplace_back(node, weight);
    divisor = std::gcd(divisor, weight);
  }
  for (auto& [node, weight] : weights) weight /= std::max(divisor, 1);
  return weights;
}

NodeSet nodes_in(const Weights& weights) {
  NodeSet nodes;
  for (const auto& [node, weight] : weights) nodes.insert(node);
  return nodes;
}

std::vector<ClaimVerdict> judge_weights(const AuditInput& input) {
  const Setting* const setting = setting_of(input.machine, "interleave_weights");
  if (setting == nullptr)
    return {not_measurable({"kernel"}, "this kernel has no weighted interleave")};
  if (input.machine.ordinary_memory_nodes().size() < 2)
    return {
        not_measurable({"kernel"}, "only one node has memory, so there is nothing to interleave")};
  ClaimVerdict verdict{.about = "kernel", .unit = "1"};
  const Setting* const automatic = setting_of(input.machine, "interleave_auto");
  const bool computed = automatic != nullptr && automatic->value == "true";
  verdict.claimed = fmt::format("{} are the weights ({})", setting->value,
                                computed ? "the kernel's own" : "set by hand, or the default");
  const RunReport* const found = input.report_of("weights");
  const ScenarioResult* const best = found == nullptr ? nullptr : best_point(*found);
  if (best == nullptr) return {not_measurable(std::move(verdict), input.why_no("weights"))};
  const Weights best_weights = weights_of(*best);
  const NodeSet nodes = nodes_in(best_weights);
  const Weights kernels = reduced(read_weights(setting->value), nodes);
  if (kernels == reduced(best_weights, nodes)) {
    verdict.outcome = ClaimOutcome::confirmed;
    verdict.found = "they are the best found";
    return {verdict};
  }
  std::optional<Estimate> gain;
  for (const ScenarioResult& point : found->scenarios)
    if (!gain && reduced(weights_of(point), nodes) == kernels) gain = gain_of(*found, *best, point);
  if (!gain || !gain->low)
    return {not_measurable(
        std::move(verdict),
        fmt::format("the best found are {}, and those of the kernel were not measured "
                    "often enough beside them",
                    text_of(best_weights)))};
  verdict.measured = gain;
  verdict.found =
      fmt::format("{} give {} the bandwidth", text_of(best_weights), estimate_text(*gain, "1"));
  std::optional<bool> better;
  if (*gain->low > least_gain) better = true;
  if (*gain->high <= least_gain) better = false;
  return {decided(std::move(verdict), true, better,
                  computed ? "the firmware's bandwidths (HMAT, CDAT), from which the kernel made "
                             "them; or set them: numatlas weights prints how"
                           : "numatlas weights prints how to set the best ones")};
}

}  // namespace

const Claim weights_claim{"weights", "the kernel's interleave weights against the best ones found",
                          "weights",
                          [](const Machine& machine) {
                            return setting_of(machine, "interleave_weights") != nullptr &&
                                   machine.ordinary_memory_nodes().size() > 1;
                          },
                          judge_weights};

}  // namespace numatlas
