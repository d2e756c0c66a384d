#include "benchmarks/tail.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "base/units.h"
#include "record/labels.h"
#include "run/declare.h"
#include "run/metrics.h"

namespace numatlas {
namespace {

constexpr double slow_times = 2, slow_by = 100e-9;

/// The slowest load of a group that took so long, where the others took what is usual.
class SlowestLoad {
 public:
  SlowestLoad(const Distribution& groups, unsigned loads)
      : others_(percentile_of(groups, 50) * (loads - 1) / loads) {}
  double of(double group) const { return std::max(0.0, group - others_); }

 private:
  double others_;
};

std::uint64_t number_of(const Distribution& groups) {
  std::uint64_t number = 0;
  for (const std::uint64_t count : groups.counts) number += count;
  return number;
}

Figure figure_of(const char* key, Unit unit, double value) {
  return {key, unit, Estimate(value), std::nullopt};
}

bool has_tail(const FlowResult& flow) {
  return !flow.load && find_figure(flow, "tail_timer") != nullptr && !flow.distribution.empty();
}

/// With its interval over visits, widened where that does not hold the value. The longest of all
/// has none.
void set_value(Figure& figure, double value) {
  if (!figure.estimate || figure.key == "tail_max") {
    figure.estimate = value;
    return;
  }
  Estimate& estimate = *figure.estimate;
  estimate.value = value;
  if (estimate.low) estimate.low = std::min(*estimate.low, value);
  if (estimate.high) estimate.high = std::max(*estimate.high, value);
}

}  // namespace

void TailOption::add_to(CLI::App& app, bool is_rare) {
  CLI::Option* const tail =
      app.add_flag(
             "--tail", asked_,
             "how slow single loads are: percentiles, maximum and distribution\n"
             "Groups of loads are timed one by one. Groups in which the CPU was interrupted or "
             "ran something else are set aside and counted")
          ->group("Measurement");
  if (is_rare) rare(tail);
  rare(add_parsed(app, "--tail-group", loads_, "8", "N",
                  fmt::format("loads of each group that --tail times (1 to {})\n"
                              "Small groups show single loads better, large ones disturb them less",
                              most_tail_group),
                  whole<unsigned>(1, most_tail_group)))
      ->needs(tail)
      ->group("Measurement");
}

void TailOption::set(Flow& flow) const {
  if (asked_) flow.kernel.as<ChaseParameters>().tail_group = loads_;
}

std::vector<Figure> tail_figures(const Distribution& groups, unsigned loads) {
  if (groups.empty()) return {};
  const SlowestLoad slowest(groups, loads);
  std::vector<Figure> figures;
  for (const auto& [key, percent] :
       {std::pair("tail_p50", 50.0), std::pair("tail_p90", 90.0), std::pair("tail_p99", 99.0),
        std::pair("tail_p999", 99.9), std::pair("tail_p9999", 99.99), std::pair("tail_max", 100.0)})
    figures.push_back(figure_of(key, "s", slowest.of(percentile_of(groups, percent))));
  const double usual = slowest.of(percentile_of(groups, 50));
  const double least = std::max(slow_times * usual, usual + slow_by);
  double slow = 0, sum = 0;
  for (const auto& [group, count] : middles_of(groups)) {
    const double load = slowest.of(group), number = static_cast<double>(count);
    if (load < least) continue;
    slow += number;
    sum += number * load;
  }
  // A group has no slow load where none of its loads is slow.
  const double share = slow / static_cast<double>(number_of(groups));
  figures.push_back(figure_of("tail_slow", "cost", 1 - std::pow(1 - share, 1.0 / loads)));
  if (slow > 0) figures.push_back(figure_of("tail_slow_time", "s", sum / slow));
  return figures;
}

std::vector<Figure> TailOption::figures(const FlowResult& flow) const {
  return asked_ && !flow.load ? tail_figures(flow.distribution, loads_) : std::vector<Figure>{};
}

void TailOption::conclude(RunReport& report) const {
  if (!asked_) return;
  for (Case& one : report.cases) {
    for (FlowResult& flow : one.flows) {
      if (!has_tail(flow)) continue;
      for (const Figure& figure : tail_figures(flow.distribution, loads_)) {
        const auto mine = std::ranges::find(flow.figures, figure.key, &Figure::key);
        if (mine != flow.figures.end()) set_value(*mine, *figure.value());
      }
    }
  }
}

std::vector<Fact> tail_facts(const Case& one, const std::string& heading) {
  std::vector<Fact> facts;
  const auto add = [&](const std::string& nodes, const std::vector<Figure>& figures) {
    const auto estimate = [&](const char* key) {
      const Figure* const figure = find_figure(figures, key);
      return figure != nullptr ? figure->estimate : std::nullopt;
    };
    const auto p99 = estimate("tail_p99"), p999 = estimate("tail_p999"),
               slow = estimate("tail_slow");
    if (!p99 || !p999 || !slow) return;
    std::vector<std::pair<std::string, std::string>> where{{"size", std::to_string(one.size.value)},
                                                           {"pages", one.pages}};
    if (!nodes.empty()) where.emplace_back("nodes", nodes);
    const std::string of = nodes.empty() ? "" : nodes + ": ";
    const std::string about = fmt::format("{}, {} pages{}{}", to_text(one.size), one.pages,
                                          nodes.empty() ? "" : ", nodes ", nodes);
    constexpr double millionth = 1e-6, least_percent = 0.0005;
    const std::string share = slow->value >= least_percent
                                  ? percent_text(slow->value)
                                  : fmt::format("{:.0f} per million", slow->value / millionth);
    facts.push_back({"tail_p99", where, "slowest load of 99 % of the groups (" + about + ")", "s",
                     *p99, nodes.empty() ? heading : "", nodes.empty() ? "p99 {}" : ""});
    facts.push_back({"tail_p999", where, "slowest load of 99.9 % of the groups (" + about + ")",
                     "s", *p999, heading, fmt::format("{}p99.9 {{}}, {} slow", of, share)});
    facts.push_back({"tail_slow", where, "share of slow loads (" + about + ")", "cost", *slow});
  };
  for (const FlowGroup& group : one.groups) {
    const bool of_all = one.groups.size() > 1 && group.labels.empty();
    if (!of_all)
      add(one.groups.size() > 1 && !group.labels.empty() ? group.labels.front().second : "",
          group.figures);
  }
  for (const FlowResult& flow : one.flows)
    if (one.groups.empty() && !flow.load) add("", flow.figures);
  return facts;
}

std::vector<Table> TailOption::tables(const std::vector<std::string>& labels) const {
  if (!asked_) return {};
  Table table;
  table.level = ViewLevel::groups;
  table.title = fmt::format("Tail of the latency by groups of {}, in ns",
                            count_text(static_cast<int>(loads_), "dependent load"));
  table.notes = {
      "median: the mean load of the middle group; p99: in 99 % of the groups no load took longer, "
      "if the other loads took the median",
      fmt::format("slow: loads of at least {:.0f} times the median and {:.0f} ns more than it, per "
                  "million loads, and the mean of their times",
                  slow_times, slow_by * in_ns),
      fmt::format(
          "set aside: groups in which the CPU took an interrupt (per million), and groups of "
          "at least {:.0f} us, in which it ran something else",
          longest_group_ns * 1e-3)};
  for (const std::string& label : labels) {
    std::string head = label;
    std::ranges::replace(head, '_', ' ');
    table.cells.push_back(label_column(std::move(head), label));
  }
  for (const auto& [head, key] : {std::pair("median", "tail_p50"), std::pair("p90", "tail_p90"),
                                  std::pair("p99", "tail_p99"), std::pair("p99.9", "tail_p999"),
                                  std::pair("p99.99", "tail_p9999"), std::pair("max", "tail_max")})
    table.cells.push_back(figure_column(head, key, in_ns, Part::with_interval, 1));
  table.cells.push_back(figure_column("slow/million", "tail_slow", in_millionths, Part::value, 1));
  table.cells.push_back(figure_column("slow ns", "tail_slow_time", in_ns, Part::value, 0));
  table.cells.push_back(
      figure_column("interrupted", "tail_interrupted", in_millionths, Part::value, 1));
  table.cells.push_back(figure_column("stopped", "tail_stopped", in_millionths, Part::value, 1));
  return {table};
}

}  // namespace numatlas
