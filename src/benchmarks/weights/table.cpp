#include "benchmarks/weights/table.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/size_list.h"
#include "benchmarks/weights/search.h"
#include "placement/system_weights.h"
#include "report/worker_table.h"

namespace numatlas {
namespace {

std::string gb(double rate) { return fmt::format("{:.2f}", rate * 1e-9); }

/// Parts of the pages, in per cent.
std::string shares_text(const Weights& weights) {
  double sum = 0;
  for (const auto& [node, weight] : weights) sum += weight;
  std::vector<std::string> parts;
  for (const auto& [node, weight] : weights)
    parts.push_back(fmt::format("{:.0f}", weight / sum * 100));
  return fmt::format("{}", fmt::join(parts, "/"));
}

std::string tried_table(const RunReport& report, const ScenarioResult* best) {
  std::vector<std::vector<std::string>> rows{{"weights", "% of pages", "round", "sum", "+-"}};
  for (const ScenarioResult& point : report.scenarios) {
    const std::string label = label_of(point, weights_label);
    const auto range = range_of(point);
    const double width = range ? (range->high - range->value) / range->value : 0;
    rows.push_back({label == nearest_alone ? "nearest alone" : label,
                    label == nearest_alone ? "-" : shares_text(weights_of(point)),
                    label_of(point, round_label), range ? gb(range->value) : "-",
                    range ? fmt::format("{:.1f}%", width * 100) : "-"});
    if (&point == best) rows.back().front() += " *";
  }
  return aligned(rows, 2);
}

/// "equal weights: +12.3 % (11.8 to 12.9 %)".
std::string against(const std::string& what, const ScenarioResult& best,
                    const ScenarioResult* other) {
  const auto mine = range_of(best);
  const auto its = other != nullptr ? range_of(*other) : std::nullopt;
  if (!mine || !its || other == &best) return "";
  const Range more = difference(*mine, *its);
  const std::string figures = fmt::format("{:+.1f} % ({:+.1f} to {:+.1f} %)", more.value * 100,
                                          more.low * 100, more.high * 100);
  if (surely_more(*mine, *its)) return fmt::format("  against {}: {}\n", what, figures);
  if (surely_more(*its, *mine)) return fmt::format("  against {}: less, {}\n", what, figures);
  return fmt::format("  against {}: no difference that can be told, {}\n", what, figures);
}

std::string confirmed_text(const RunReport& report, const ScenarioResult& best, bool kept) {
  const ScenarioResult& last = report.scenarios.back();
  if (label_of(last, round_label) != confirm_round) return "";
  const auto range = range_of(last);
  if (!range || last.flows.empty()) return "";
  return fmt::format("Set system-wide by --apply: {} GB/s (memory placed by: {}); {}\n{}",
                     gb(range->value), last.flows.front().policy.mechanism,
                     kept ? "they stay" : "the old weights are back",
                     against("the search", last, &best));
}

std::string verdict(const RunReport& report, const ScenarioResult& best, bool kept) {
  const Weights weights = weights_of(best);
  if (weights.size() < 2) {
    return fmt::format("Only node {} takes part: there is nothing to weigh.\n",
                       weights.front().first.value);
  }
  Weights equal = weights;
  for (auto& [node, weight] : equal) weight = 1;
  const ScenarioResult* nearest = point_of(report, nearest_alone);
  const ScenarioResult* even = point_of(report, text_of(equal));
  std::string text =
      fmt::format("Best: {} with {} GB/s\n", text_of(weights), gb(range_of(best)->value));
  text += even == &best ? "  these are equal weights\n" : against("equal weights", best, even);
  text += against("the nearest node alone", best, nearest);
  if (report.ranks > 1) text += "With several ranks the coarse grid is all: nothing is refined.\n";
  text += confirmed_text(report, best, kept);
  if (nearest != nullptr && surely_more(*range_of(*nearest), *range_of(best)))
    return text + "No weights are as fast as the nearest node alone.\n";
  return text + fmt::format(
                    "For all programs under weighted interleave (numactl --weighted-interleave), "
                    "as root:\n  {}\n",
                    fmt::join(system_weight_lines(weights), "\n  "));
}

}  // namespace

std::string weights_table(const RunReport& report, bool kept, bool stats) {
  const ScenarioResult* best = best_point(report);
  const ScenarioResult& any = report.scenarios.front();
  std::string text = fmt::format(
      "Interleave weights: bandwidth in GB/s of {}{} ({} a worker, {} workers, pages: {}, kernels: "
      "{})\n"
      "sum: bytes as STREAM counts them, of all workers over their common time\n",
      any.kernel, any.stores.empty() ? "" : ", " + any.stores + " stores", compact_text(any.size),
      report.workers.size(), any.pages, report.isa);
  text += tried_table(report, best) + (best != nullptr ? "* the best\n\n" : "\n");
  if (best != nullptr) text += verdict(report, *best, kept) + "\n";
  if (stats) text += "All cells (GB/s)\n" + stats_table(report, "bandwidth") + "\n";
  RunReport shown = report;
  // That weights were laid out page by page is how the search works, and nothing to warn of.
  std::erase_if(shown.warnings, [](const std::string& warning) {
    return warning.find("pages were touched node by node") != std::string::npos ||
           warning.find("the same as plain interleave") != std::string::npos;
  });
  return text + notes_text(shown);
}

}  // namespace numatlas
