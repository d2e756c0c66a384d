#include "report/notes.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "machine/identity.h"
#include "record/labels.h"
#include "record/unit.h"
#include "report/text_table.h"

namespace numatlas {
namespace {

using Row = std::vector<std::string>;

/// How rates and times are shown.
struct Shown {
  const char* unit;
  double scale;
};
Shown shown_in(Unit unit) {
  if (unit == "1/s") return {"M/s", in_millions};
  return unit == "B/s" ? Shown{"GB/s", in_gb_per_s} : Shown{"ns", in_ns};
}

/// Every flow that has samples of a figure: n, interval, percentiles, why it ended.
std::string stats_table(const RunReport& report, const Figure& wanted, const TextStyle& style) {
  std::vector<TextRow> rows{{"case", "pages", "observed", "rank", "thread", "n", "value",
                             "ci95 low", "ci95 high", plus_minus(), "p5", "p25", "p75", "p95",
                             "p99", "min", "max", "overlap", "stop"}};
  const double scale = shown_in(wanted.unit).scale;
  const auto number = [&](const std::optional<double>& value) {
    return value ? short_number(*value * scale, 2) : "-";
  };
  for (const Case& one : report.cases) {
    for (const FlowResult& flow : one.flows) {
      const Figure* const figure = find_figure(flow, wanted.key);
      if (figure == nullptr || !figure->summary) continue;
      const Summary& s = *figure->summary;
      const Estimate estimate = figure->estimate.value_or(Estimate{});
      const auto width = half_width(*figure);
      TextRow row{one.name};
      const auto add_labels = [&](std::initializer_list<const char*> names) {
        for (const char* name : names)
          row.emplace_back(label_text(report, {&one, nullptr, &flow}, name));
      };
      add_labels({"pages", "page_size", "rank", "thread"});
      row.emplace_back(std::to_string(s.n));
      for (const auto& value : {std::optional(estimate.value), estimate.low, estimate.high})
        row.emplace_back(number(value));
      row.emplace_back(width ? half_text(*width) : "-");
      for (double value : {s.p5, s.p25, s.p75, s.p95, s.p99, s.min, s.max})
        row.emplace_back(number(value));
      add_labels({"overlap", "stop"});
      rows.push_back(std::move(row));
    }
  }
  return fitted_lines(std::move(rows), 4, style);
}

/// Every pilot, with the second of the run at which it began.
std::string pilot_table(const PilotSeries& pilot) {
  const Shown shown = shown_in(pilot.unit);
  std::vector<Row> rows{{"at s", shown.unit}};
  for (std::size_t i = 0; i < pilot.values.size(); ++i)
    rows.push_back({fmt::format("{:.2f}", pilot.start[i]),
                    fmt::format("{:.2f}", pilot.values[i] * shown.scale)});
  return fmt::format("Pilot: {} by {}, {} each\n{}\n", pilot.kernel,
                     count_text(pilot.workers, "worker"), to_text(pilot.size), aligned(rows, 2));
}

/// "pilot: read, 24 times: 45.2 GB/s (38.1 to 81.7)"
std::string pilots_text(const RunReport& report) {
  std::string text;
  for (const PilotSeries& pilot : report.pilots) {
    if (!pilot.estimate) continue;
    const Shown shown = shown_in(pilot.unit);
    const auto [least, most] = std::ranges::minmax_element(pilot.values);
    text +=
        fmt::format("pilot: {}, {}: {:.1f} {} ({:.1f} to {:.1f})\n", pilot.kernel,
                    count_text(pilot.values.size(), "time"), pilot.estimate->value * shown.scale,
                    shown.unit, *least * shown.scale, *most * shown.scale);
  }
  return text;
}

/// Of a case that was cut off: why its workers have figures and all of them together have none.
std::string missing_sum_text(const Case& one) {
  const bool rates = std::ranges::any_of(
      one.flows, [](const FlowResult& flow) { return find_figure(flow, "bandwidth") != nullptr; });
  const bool without = one.status == Status::incomplete && rates && one.figures.empty();
  return without ? "; its workers keep what they recorded, but without a common end there is no sum"
                 : "";
}

}  // namespace

std::string guest_note(const std::vector<Machine>& machines) {
  if (std::ranges::none_of(machines, is_virtual)) return "";
  return "one run on a virtual machine: another may differ by more than these intervals say";
}

std::string stats_text(const RunReport& report, const TextStyle& style) {
  std::vector<Figure> shown;  // one of each key, in order
  for (const Case& one : report.cases) {
    for (const FlowResult& flow : one.flows) {
      for (const Figure& figure : flow.figures)
        if (figure.summary && find_figure(shown, figure.key) == nullptr) shown.push_back(figure);
    }
  }
  std::string text;
  for (const Figure& figure : shown)
    text += fmt::format("All workers: {} ({})\n{}\n", figure.key, shown_in(figure.unit).unit,
                        stats_table(report, figure, style));
  for (const PilotSeries& pilot : report.pilots) text += pilot_table(pilot);
  return text;
}

namespace {

std::string range_text(const std::string& least, const std::string& most) {
  return least == most ? least : least + " to " + most;
}

/// "visits: 5 to 10 per case, spread over 0.3 to 1.2 s; memory reused between visits of 2 cases".
std::string visits_text(const RunReport& report) {
  std::vector<int> counts;
  std::vector<double> seconds;
  std::size_t few = 0, kept = 0;
  int all = 0, repeated = 0, disturbed = 0;
  for (const Case& scenario : report.cases) {
    if (!scenario.visits) continue;
    counts.push_back(scenario.visits->count);
    seconds.push_back(scenario.visits->seconds);
    few += scenario.visits->count < static_cast<int>(least_visits) ? 1 : 0;
    kept += scenario.visits->memory_kept > 0 ? 1 : 0;
    all += scenario.visits->count;
    repeated += scenario.visits->repeated;
    disturbed += scenario.visits->disturbed;
  }
  if (counts.empty()) return "";
  std::ranges::sort(counts);
  std::ranges::sort(seconds);
  std::string text = fmt::format(
      "visits: {} per case, spread over {} s",
      range_text(std::to_string(counts.front()), std::to_string(counts.back())),
      range_text(fmt::format("{:.1f}", seconds.front()), fmt::format("{:.1f}", seconds.back())));
  if (kept > 0)
    text += fmt::format("; memory reused between visits of {}", count_text(kept, "case"));
  if (repeated > 0)
    text += fmt::format("; {} repeated because the first try was disturbed",
                        count_text(repeated, "visit"));
  if (disturbed > 0)
    text += fmt::format("; {} of {} {} disturbed and kept", disturbed, count_text(all, "visit"),
                        disturbed == 1 ? "was" : "were");
  if (few > 0)
    text += fmt::format("; {} {} fewer than {} visits: {} not cover changes between visits",
                        count_text(few, "case"), few == 1 ? "has" : "have", least_visits,
                        few == 1 ? "its interval does" : "their intervals do");
  const std::string guest = is_null_engine(report.engine) ? "" : guest_note(report.machines);
  return text + (guest.empty() ? "" : "; " + guest) + "\n";
}

/// Why a case is not as sure as was asked for, of which the widest interval is known.
std::string why_open(const RunReport& report, const Case& one,
                     const std::optional<double>& widest) {
  if (!widest) return "too few samples";
  // Narrow as it is, it does not cover changes between visits.
  if (*widest <= one.precision.value_or(report.precision) && one.visits)
    return fmt::format("only {}", count_text(one.visits->count, "visit"));
  return fmt::format("to {:.1f} %", *widest * 100);
}

/// To three digits, whole from 100 on.
std::string rounded(double value) {
  return value < 100 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

}  // namespace

std::string widths_text(const RunReport& report) {
  const auto several = [&](auto of) {
    return std::ranges::any_of(report.widths, [&](const VectorWidth& one) {
      return of(one) != of(report.widths.front());
    });
  };
  const bool pages = several([](const VectorWidth& one) { return one.pages; });
  const bool workers = several([](const VectorWidth& one) { return one.workers; });
  std::map<std::string, std::vector<std::string>> kernels;
  for (const VectorWidth& one : report.widths) {
    std::string name = one.kernel + (one.stores == name_of(Stores::non_temporal) ? " nt" : "");
    if (pages) name += " " + one.pages;
    if (workers) name += fmt::format(" ({})", count_text(one.workers, "worker"));
    kernels[fmt::format("{}-byte vectors: fastest of {}", one.width, fmt::join(one.tried, ", "))]
        .push_back(name);
  }
  std::string text;
  for (const auto& [what, names] : kernels)
    text += fmt::format("{}, {}\n", fmt::join(names, ", "), what);
  return text;
}

namespace {

/// How it was measured.
std::string details_text(const RunReport& report) {
  std::string text;
  std::map<std::string, std::set<std::string>> observed;
  std::size_t cells = 0;
  std::size_t converged = 0;
  std::vector<std::string> not_converged;
  for (const Case& scenario : report.cases) {
    std::size_t open = 0;
    std::size_t measured = 0;
    std::optional<double> widest;
    for (const FlowResult& flow : scenario.flows) {
      // A load has no figure, and perhaps no memory of its own.
      if (flow.load || flow.wrong) continue;
      const bool between_gpus = flow.gpu && flow.gpu->direction == "p2p";
      if (!between_gpus) observed[scenario.pages].insert(observed_memory(flow).page_text());
      ++measured;
      if (flow.stop == "converged") continue;
      ++open;
      if (const auto width = half_width(flow)) widest = std::max(widest.value_or(0), *width);
    }
    cells += measured;
    converged += measured - open;
    if (open > 0) {
      not_converged.push_back(fmt::format("{} ({} of {} workers, {})", scenario.name, open,
                                          measured, why_open(report, scenario, widest)));
    }
  }
  if (!report.cases.empty()) {
    const Case& first = report.cases.front();
    if (!first.order.empty()) {
      text += fmt::format("order: {}, stride {}, seed {}\n", first.order, to_text(first.stride),
                          report.seed);
    }
  }
  for (const auto& [kind, sizes] : observed) {
    text += fmt::format("pages: {} asked, {} observed\n", kind, fmt::join(sizes, " and "));
  }
  text += widths_text(report) + visits_text(report) + pilots_text(report);
  const bool own_rules =
      std::ranges::any_of(report.cases, [](const Case& s) { return s.precision || s.time_cap; });
  if (cells > 0)
    text += fmt::format(
        "{} of {} cells converged to {} within {}", converged, cells,
        own_rules ? "their precision" : fmt::format("{:g} %", report.precision * 100),
        own_rules
            ? "their time"
            : fmt::format("{} s{}", rounded(report.time_cap), report.time_of_all ? " in all" : ""));
  constexpr std::size_t most_named = 4;
  const std::size_t unnamed =
      not_converged.size() > most_named ? not_converged.size() - most_named : 0;
  not_converged.resize(not_converged.size() - unnamed);
  if (!not_converged.empty())
    text += fmt::format("; not converged: {}", fmt::join(not_converged, ", "));
  if (unnamed > 0) text += fmt::format(" and {} more", count_text(unnamed, "case"));
  return cells > 0 ? text + "\n" : text;
}

std::string status_text(const Case& one) {
  return fmt::format("{}: {}: {}{}\n", one.name, name_of(one.status), one.reason,
                     missing_sum_text(one));
}

}  // namespace

std::string short_notes_text(const RunReport& report, const std::string& said) {
  constexpr std::size_t most = 2;
  std::vector<std::string> lines, skipped;
  for (const Case& one : report.cases)
    if (one.status != Status::ok)
      (one.status == Status::skipped ? skipped : lines).push_back(status_text(one));
  std::vector<Warning> of_placement, others, settings;
  for (const Warning& one : report.warnings) {
    const bool placed = one.code.starts_with("placement") || one.code.starts_with("page") ||
                        one.code.starts_with("memory");
    (one.code == "setting" ? settings : placed ? of_placement : others).push_back(one);
  }
  const auto add = [&](const std::vector<Warning>& warnings) {
    for (const std::string& one : counted(warnings))
      if (said.find(one) == std::string::npos) lines.push_back("warning: " + one + "\n");
  };
  add(of_placement);
  lines.insert(lines.end(), skipped.begin(), skipped.end());
  add(others);
  add(settings);
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < most; ++i) text += lines[i];
  if (lines.size() > most)
    text += fmt::format("and {}: --stats\n", count_text(lines.size() - most, "more note"));
  return text;
}

std::string notes_text(const RunReport& report, bool details) {
  std::string text;
  for (const Case& one : report.cases)
    if (one.status != Status::ok) text += status_text(one);
  if (details) text += details_text(report);
  if (is_null_engine(report.engine)) text += fmt::format("{}\n", null_engine_note);
  if (!report.complete) text += fmt::format("incomplete: {}\n", report.incomplete_reason);
  for (const std::string& warning : counted(report.warnings)) text += "warning: " + warning + "\n";
  return text;
}

}  // namespace numatlas
