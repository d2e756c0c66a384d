#include "benchmarks/tail.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
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

constexpr const char* step_label = "slowest";
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

/// From half of the groups down to a few of them, and the longest.
std::vector<double> shares_of(std::uint64_t number) {
  constexpr double few = 5;
  std::vector<double> shares{0.5};
  const auto all = static_cast<double>(number);
  for (double share = 0.1; share * all >= few; share /= 10) {
    if (shares.size() == 1 || 3 * share * all >= few) shares.push_back(3 * share);
    shares.push_back(share);
  }
  shares.push_back(1 / all);
  return shares;
}

/// The steps of one distribution, as cases like `one`.
void add_steps(std::vector<ScenarioResult>& cases, const ScenarioResult& one,
               const std::string& nodes, const Distribution& groups, unsigned loads) {
  const SlowestLoad slowest(groups, loads);
  const std::vector<double> shares = shares_of(number_of(groups));
  for (const double& share : shares) {
    const bool is_last = &share == &shares.back();
    const std::string step = is_last ? "max" : fmt::format("p{:.9g}", 100 * (1 - share));
    const double group = percentile_of(groups, is_last ? 100 : 100 * (1 - share));
    ScenarioResult& made = cases.emplace_back();
    made.name = fmt::format("{} {} {}", one.name, nodes, step);
    made.size = one.size;
    made.pages = one.pages;
    made.order = one.order;
    made.stride = one.stride;
    made.kernel = one.kernel;
    made.stores = one.stores;
    made.labels = one.labels;
    made.labels.emplace_back("nodes", nodes);
    made.labels.emplace_back(step_label, step);
    made.figures = {figure_of("tail_share", "cost", share),
                    figure_of("tail_load", "s", slowest.of(group)),
                    figure_of("tail_group", "s", group)};
  }
}

/// What was set aside, and why.
std::string set_aside_text(const RunReport& report) {
  double interrupted = 0, stopped = 0, all = 0, timer = 0;
  bool sees = false;
  std::uint64_t switches = 0;
  double stolen = 0;
  for (const ScenarioResult& one : report.scenarios) {
    for (const FlowResult& flow : one.flows) {
      if (!has_tail(flow)) continue;
      const auto part = [&](const char* key) {
        const Figure* const figure = find_figure(flow, key);
        return figure != nullptr ? figure->value().value_or(0) : 0;
      };
      sees = sees || find_figure(flow, "tail_interrupted") != nullptr;
      const double away = part("tail_interrupted") + part("tail_stopped");
      const double mine = static_cast<double>(number_of(flow.distribution)) / (1 - away);
      interrupted += part("tail_interrupted") * mine;
      stopped += part("tail_stopped") * mine;
      all += mine;
      timer = std::max(timer, part("tail_timer"));
      switches += flow.involuntary_switches;
    }
    if (!one.visits) continue;
    for (const auto& cpus : one.visits->stolen) stolen = std::max(stolen, cpus.value_or(0));
  }
  std::string text = fmt::format("set aside of {:.0f} groups: ", all);
  text += sees ? fmt::format("{:.0f} in which the CPU took an interrupt", interrupted)
               : "interrupts cannot be seen on this CPU";
  text += fmt::format(
      ", {:.0f} of at least {:.0f} us, in which it ran something else (in all visits the workers "
      "lost their CPUs {} time{}",
      stopped, longest_group_ns * 1e-3, switches, switches == 1 ? "" : "s");
  text += stolen > 0 ? fmt::format("; the hypervisor withheld up to {:.2f} CPUs)", stolen) : ")";
  return text + fmt::format("; the timer's own {:.1f} ns are subtracted", timer * in_ns);
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
                              "Fewer show single loads better, more disturb them less",
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

void conclude_tails(RunReport& report, unsigned loads) {
  std::vector<ScenarioResult> steps;
  for (ScenarioResult& one : report.scenarios) {
    std::vector<std::pair<std::string, Distribution>> of_nodes;
    for (FlowResult& flow : one.flows) {
      if (!has_tail(flow)) continue;
      for (const Figure& figure : tail_figures(flow.distribution, loads)) {
        const auto mine = std::ranges::find(flow.figures, figure.key, &Figure::key);
        if (mine != flow.figures.end()) set_value(*mine, *figure.value());
      }
      const std::string nodes = label_text(report, {&one, nullptr, &flow}, "nodes");
      auto found = std::ranges::find(of_nodes, nodes, &std::pair<std::string, Distribution>::first);
      if (found == of_nodes.end())
        of_nodes.emplace_back(nodes, flow.distribution);
      else
        found->second = merged(found->second, flow.distribution);
    }
    for (const auto& [nodes, groups] : of_nodes) add_steps(steps, one, nodes, groups, loads);
  }
  std::ranges::move(steps, std::back_inserter(report.scenarios));
}

std::vector<Fact> tail_facts(const ScenarioResult& one, const std::string& heading) {
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

bool is_tail_step(const ScenarioResult& one) { return find_label(one, step_label) != nullptr; }

std::vector<View> tail_views(const RunReport& report, unsigned loads,
                             const std::vector<std::string>& labels,
                             const std::function<bool(const ScenarioResult&)>& shown) {
  const std::string of_loads = count_text(static_cast<int>(loads), "dependent load");
  View table;
  table.level = ViewLevel::groups;
  table.title = fmt::format("Tail of the latency by groups of {}, in ns", of_loads);
  table.notes = {
      "median: the mean load of the middle group; p99: in 99 % of the groups no load took longer, "
      "if the other loads took the median",
      fmt::format("slow: loads of at least {:.0f} times the median and {:.0f} ns more than it, per "
                  "million loads, and the mean of their times",
                  slow_times, slow_by * in_ns),
      set_aside_text(report)};
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
  std::vector<View> views{table};
  for (const ScenarioResult& one : report.scenarios) {
    // The longest is the last step.
    if (label_of(one, step_label) != "max" || !shown(one)) continue;
    View view;
    view.kind = ViewKind::curve;
    view.where = {{"pages", one.pages}, {"size", compact_text(one.size)}};
    std::ranges::copy_if(one.labels, std::back_inserter(view.where),
                         [](const auto& label) { return label.first != step_label; });
    view.title = fmt::format("Distribution of groups of {}: {}", of_loads,
                             one.name.substr(0, one.name.rfind(' ')));
    view.notes = {"per million: groups that were at least so slow",
                  "load: the mean of the group at p50, beyond it the slowest load of the group, if "
                  "the others "
                  "took the median; group: all of it"};
    view.rows = "tail_load";
    view.cells = {label_column("", step_label),
                  figure_column("load ns", "tail_load", in_ns, Part::value, 1),
                  figure_column("group ns", "tail_group", in_ns, Part::value, 1),
                  figure_column("per million", "tail_share", in_millionths, Part::value, 1)};
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace numatlas
