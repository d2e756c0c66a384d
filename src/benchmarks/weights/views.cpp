#include "benchmarks/weights/views.h"

#include <optional>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/size_list.h"
#include "benchmarks/weights/search.h"
#include "placement/system_weights.h"
#include "record/cache_level.h"

namespace numatlas {
namespace {

std::string gb(double rate) { return fmt::format("{:.2f}", rate * 1e-9); }

bool is_less(const Estimate& times) { return times.high && *times.high < 1; }

/// "equal weights: +12.3 % (11.8 to 12.9 %)".
std::string against(const std::string& what, const RunReport& report, const ScenarioResult& best,
                    const ScenarioResult* other) {
  const auto times = other != nullptr && other != &best ? gain_of(report, best, *other)
                                                        : std::optional<Estimate>();
  if (!times) return "";
  const auto percent = [](double ratio) { return (ratio - 1) * 100; };
  const std::string range = times->low ? fmt::format(" ({:+.1f} to {:+.1f} %)",
                                                     percent(*times->low), percent(*times->high))
                                       : " (too few samples for an interval)";
  const std::string figures = fmt::format("{:+.1f} %", percent(times->value)) + range;
  if (times->low && *times->low > 1) return fmt::format("  against {}: {}\n", what, figures);
  if (is_less(*times)) return fmt::format("  against {}: less, {}\n", what, figures);
  return fmt::format("  against {}: no significant difference, {}\n", what, figures);
}

std::string confirmed_text(const RunReport& report, const ScenarioResult& best, bool kept) {
  const ScenarioResult& last = report.scenarios.back();
  if (label_of(last, round_label) != confirm_round) return "";
  const auto rate = rate_of(last);
  if (!rate || last.flows.empty()) return "";
  return fmt::format("Set system-wide by --apply: {} GB/s (memory placed by: {}); {}\n{}",
                     gb(rate->value), last.flows.front().policy.mechanism,
                     kept ? "they stay" : "the old weights are restored",
                     against("the search", report, last, &best));
}

std::string verdict(const RunReport& report, const ScenarioResult& best, bool kept) {
  const Weights weights = weights_of(best);
  if (weights.size() < 2) {
    return fmt::format("Only node {} takes part, so there is nothing to weight.\n",
                       weights.front().first.value);
  }
  Weights equal = weights;
  for (auto& [node, weight] : equal) weight = 1;
  const ScenarioResult* nearest = point_of(report, nearest_alone);
  const ScenarioResult* even = point_of(report, text_of(equal));
  std::string text =
      fmt::format("Best: {} with {} GB/s\n", text_of(weights), gb(rate_of(best)->value));
  text +=
      even == &best ? "  these are equal weights\n" : against("equal weights", report, best, even);
  text += against("the nearest node alone", report, best, nearest);
  if (report.ranks > 1) text += "With several ranks only the coarse grid is measured.\n";
  text += confirmed_text(report, best, kept);
  const auto times = nearest != nullptr ? gain_of(report, best, *nearest) : std::nullopt;
  if (times && is_less(*times)) return text + "No weights are as fast as the nearest node alone.\n";
  return text + fmt::format(
                    "For all programs under weighted interleave (numactl --weighted-interleave), "
                    "as root:\n  {}\n",
                    fmt::join(system_weight_lines(weights), "\n  "));
}

}  // namespace

std::vector<View> weights_views(const RunReport& report, bool kept) {
  const ScenarioResult* best = best_point(report);
  const ScenarioResult& any = report.scenarios.front();
  View view;
  view.title = fmt::format(
      "Interleave weights: bandwidth in GB/s of {}{} ({} a worker, {} workers, pages: {}, kernels: "
      "{})",
      any.kernel, any.stores.empty() ? "" : ", " + any.stores + " stores", to_text(any.size),
      report.workers.size(), any.pages, report.isa);
  view.notes = {"sum: all workers over their common time, bytes counted as STREAM does"};
  view.cells = {label_column("weights", weights_label), label_column("round", round_label),
                figure_column("sum", "bandwidth_sum", in_gb_per_s),
                figure_column(plus_minus(), "bandwidth_sum", in_gb_per_s, Part::half_width)};
  if (best != nullptr) {
    std::istringstream lines(verdict(report, *best, kept));
    for (std::string line; std::getline(lines, line);) view.verdict.push_back(line);
  }
  return {view};
}

std::vector<Fact> weights_facts(const RunReport& report) {
  const ScenarioResult* const best = best_point(report);
  const auto rate = best != nullptr ? rate_of(*best) : std::nullopt;
  if (!rate) return {};
  const std::string weights = text_of(weights_of(*best));
  NodeSet nodes;
  for (const WorkerRow& worker : report.workers) {
    if (worker.cpu_node.value >= 0) nodes.insert(worker.cpu_node);
  }
  const std::string cpu_nodes =
      nodes.empty() ? "" : (nodes.size() > 1 ? "nodes " : "node ") + to_list(nodes);
  const ScenarioResult* const nearest = point_of(report, nearest_alone);
  const auto times = nearest != nullptr ? gain_of(report, *best, *nearest) : std::nullopt;
  const std::string cache = cache_text(*best).empty() ? "" : " in " + cache_text(*best);
  const std::string how = best->kernel + (cpu_nodes.empty() ? "" : ", CPUs of " + cpu_nodes);
  const bool several = weights_of(*best).size() > 1;
  std::vector<Fact> facts{
      {"weights_bandwidth",
       {{"weights", weights}, {"kernel", best->kernel}, {"cpu_nodes", to_list(nodes)}},
       fmt::format("{} of {} CPUs{} over memory interleaved by the best weights found ({})",
                   best->kernel, report.workers.size(),
                   cpu_nodes.empty() ? "" : " (" + cpu_nodes + ")", weights),
       "B/s",
       *rate,
       "Interleave",
       several ? fmt::format("{{}} with weights {}{} ({})", weights, cache, how)
               : fmt::format("{{}} on node {} alone{} ({})",
                             to_list(NodeSet{weights_of(*best).front().first}), cache, how)}};
  if (times && several) {
    facts.push_back({"weights_times",
                     {{"weights", weights}},
                     "that against each CPU's nearest node alone",
                     "1",
                     *times,
                     "Interleave",
                     "{} that of the nearest node alone"});
  }
  return facts;
}

}  // namespace numatlas
