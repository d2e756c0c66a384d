#include "benchmarks/loaded/curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/add_once.h"
#include "base/text.h"
#include "base/units.h"
#include "kernels/traits.h"
#include "record/labels.h"

namespace numatlas {
namespace {

constexpr std::size_t least_points = 6;

/// Of a straight line, or of two that meet at `knee`: intercept, slope, and what the second adds to
/// the slope.
struct Fit {
  std::array<double, 3> of{};
  double squares = 0;  ///< of the distances, each in its standard error
  double knee = 0;
};

/// A point with the load as a part of the highest one, and one over the variance of its distance.
struct Weighed {
  double x = 0, y = 0, weight = 0;
};

/// By the normal equations, which at most three unknowns between 0 and 1 do not upset. Without a
/// knee there are two.
Fit fitted(const std::vector<Weighed>& points, const std::optional<double>& knee) {
  const std::size_t unknowns = knee ? 3 : 2;
  const auto basis_of = [&](double x) {
    return std::array<double, 3>{1, x, std::max(0.0, x - knee.value_or(x))};
  };
  std::array<std::array<double, 4>, 3> rows{};
  for (const Weighed& point : points) {
    const auto basis = basis_of(point.x);
    for (std::size_t i = 0; i < unknowns; ++i) {
      for (std::size_t j = 0; j < unknowns; ++j) rows[i][j] += point.weight * basis[i] * basis[j];
      rows[i][3] += point.weight * basis[i] * point.y;
    }
  }
  for (std::size_t i = 0; i < unknowns; ++i) {
    for (std::size_t below = i + 1; below < unknowns; ++below) {
      const double factor = rows[below][i] / rows[i][i];
      for (std::size_t j = i; j < 4; ++j) rows[below][j] -= factor * rows[i][j];
    }
  }
  Fit fit;
  fit.knee = knee.value_or(0);
  for (std::size_t i = unknowns; i-- > 0;) {
    double rest = rows[i][3];
    for (std::size_t j = i + 1; j < unknowns; ++j) rest -= rows[i][j] * fit.of[j];
    fit.of[i] = rest / rows[i][i];
  }
  for (const Weighed& point : points) {
    const auto basis = basis_of(point.x);
    const double away =
        point.y - fit.of[0] * basis[0] - fit.of[1] * basis[1] - fit.of[2] * basis[2];
    fit.squares += point.weight * away * away;
  }
  return fit;
}

/// Half of a 95 % interval is about two standard errors. Nothing of what is unknown.
std::optional<double> error_of(const Estimate& estimate) {
  constexpr double errors = 1.96;
  if (!estimate.low || is_unknown(estimate)) return std::nullopt;
  return (*estimate.high - *estimate.low) / (2 * errors);
}

/// Empty where one has no interval, or is unknown. An error in the load counts times the slope.
std::vector<Weighed> weighed(std::span<const LoadedPoint> points) {
  std::vector<const LoadedPoint*> kept;
  for (const LoadedPoint& point : points)
    if (kept.empty() || point.load.value > kept.back()->load.value) kept.push_back(&point);
  std::vector<Weighed> all;
  if (kept.size() < least_points) return all;
  const double highest = kept.back()->load.value;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const LoadedPoint &point = *kept[i], &before = *kept[i > 0 ? i - 1 : 0],
                      &after = *kept[std::min(i + 1, kept.size() - 1)];
    // Without any load there is none that could be wrong.
    const auto load = point.load.value > 0 ? error_of(point.load) : 0.0;
    const auto latency = error_of(point.latency);
    if (!load || !latency) return {};
    const double slope = std::max(
        0.0, (after.latency.value - before.latency.value) / (after.load.value - before.load.value));
    // No timer and no place of memory is better than that.
    constexpr double least = 0.001;
    const double own = std::max(*latency, least * point.latency.value);
    const double error = std::hypot(own, slope * *load);
    all.push_back({point.load.value / highest, point.latency.value, 1 / (error * error)});
  }
  return all;
}

/// The least quotient of two variances, of 2 and of `degrees` degrees of freedom, that chance
/// exceeds in 1 % of cases.
double least_quotient(double degrees) {
  constexpr double chance = 0.01;
  return degrees / 2 * (std::pow(chance, -2 / degrees) - 1);
}

/// What the points of a curve have alike.
const std::vector<std::string>& curve_labels(const RunReport& report) {
  const bool on_gpus = !report.cases.empty() && find_label(report.cases.front(), "gpus");
  return on_gpus ? curve_of_gpus : curve_of_cpus;
}

constexpr const char* at_80_percent = "latency_at_80_percent";  ///< of each curve once

std::string load_of(const Case& one) { return label_of(one, "load"); }

/// Half the width of an interval, in the estimate's unit; nothing where it has none.
std::optional<double> reach(const Estimate& estimate) {
  const auto width = half_width(estimate);
  return width ? std::optional(*width * std::abs(estimate.value)) : std::nullopt;
}

/// Of a point's load: exactly none where nothing loads.
std::optional<double> load_reach(const Case& one) {
  const auto sum = estimate_of(one, "bandwidth_sum");
  return sum ? reach(*sum) : std::optional(0.0);
}

/// The points of each kernel between the same nodes, and the idle one that these start with.
std::vector<CaseGroup> curves_of(const RunReport& report) {
  return groups_of(report, curve_labels(report));
}

/// Nothing where that cannot be told.
std::optional<Knee> knee_of(const CaseGroup& curve) {
  std::vector<LoadedPoint> points;
  for (const Case* one : curve.cases) {
    if (const auto latency = estimate_of(*one, "latency"))
      points.push_back({estimate_of(*one, "bandwidth_sum").value_or(0), *latency});
  }
  return knee_of(std::span<const LoadedPoint>(points));
}

/// What loads the memory at a point, in B/s; 0 where nothing does.
double load_rate_of(const Case& one) {
  const auto load = estimate_of(one, "load_sum");
  return (load ? load : estimate_of(one, "bandwidth_sum")).value_or(0).value;
}

/// Whether the loaders moved what they were asked to: starved ones are no load of so many percent.
bool reached_its_rate(const Case& one) {
  // Halfway from 50 to 40 % of the peak is 90 % of it: with less a point is nearer to another one.
  constexpr double enough = 0.9;
  const auto asked = estimate_of(one, "rate_asked");
  return !asked || load_rate_of(one) >= enough * asked->value;
}

/// The latency at a part of the peak, on the line between two points of a curve. Its interval is as
/// wide as the points' latencies and loads and the peak itself leave it: an error in a load counts
/// times the slope. Where one of them has no interval, it has none. Nothing where the points are
/// further apart than a third of the peak.
std::optional<Estimate> latency_between(const Case& before, const Case& after, const Case& peak,
                                        double part) {
  const auto low = estimate_of(before, "latency"), high = estimate_of(after, "latency");
  const double wanted = part * load_rate_of(peak), from = load_rate_of(before),
               to = load_rate_of(after);
  if (!low || !high || from > wanted || to < wanted || to <= from) return std::nullopt;
  // A straight line says nothing of a curve's bend between points this far apart.
  constexpr double most_apart = 1.0 / 3;
  if (to - from > most_apart * load_rate_of(peak)) return std::nullopt;
  const double way = (wanted - from) / (to - from);
  Estimate latency = between(*low, *high, way);
  const auto own = reach(latency), first = load_reach(before), second = load_reach(after),
             most = load_reach(peak);
  if (!own || !first || !second || !most) {
    latency.low = latency.high = std::nullopt;
    latency.method = Method::none;
    return latency;
  }
  // The peak may be the second point itself: its error moves both the same way then.
  const double load = &after == &peak ? std::hypot((part - way) * *most, (1 - way) * *first)
                                      : std::hypot(part * *most, (1 - way) * *first, way * *second);
  const double half = std::hypot(*own, (high->value - low->value) / (to - from) * load);
  latency.low = std::max(0.0, latency.value - half);
  latency.high = latency.value + half;
  return latency;
}

/// "knee: 110 GB/s ±2.0 %, 130.2 ns", "no knee up to 136 GB/s".
std::string knee_text(const Knee& knee) {
  if (!knee.load) return "no knee up to " + quantity_text(knee.highest, "B/s");
  return fmt::format("knee: {}, {} ns", estimate_text(*knee.load, "B/s"),
                     short_number(knee.latency * in_ns, 1));
}

/// A load that stays in the caches moves nothing of the memory.
void leave_out_what_was_not_moved(View& view, const CaseGroup& curve) {
  const bool moved = std::ranges::any_of(
      curve.cases, [](const Case* one) { return estimate_of(*one, "traffic_sum").has_value(); });
  if (moved) return;
  view.rows = "bandwidth_sum";
  std::erase_if(view.cells, [](const ViewColumn& cell) { return cell.figure == "traffic_sum"; });
}

/// Adds "at 80 % of the peak: 228.0 ns", "knee: 110 GB/s ±2.0 %, 130.2 ns".
void add_curve_verdict(View& view, const CaseGroup& curve, const RunReport&) {
  leave_out_what_was_not_moved(view, curve);
  for (const Case* one : curve.cases) {
    const auto at_80 = estimate_of(*one, at_80_percent);
    if (!at_80) continue;
    // With the digits of its row.
    const auto width = half_width(*at_80);
    view.verdict = {fmt::format("at 80 % of the peak: {} ns{}",
                                short_number(at_80->value * in_ns, 1),
                                width ? plus_minus_text(*width) : "")};
  }
  if (const auto knee = knee_of(curve)) view.verdict.push_back(knee_text(*knee));
}

/// Who loads which memory.
struct Whereabouts {
  std::vector<std::pair<std::string, std::string>> labels;
  std::string heading, words, loaders;
};

Whereabouts whereabouts_of(const Case& one) {
  if (const std::string gpu = label_of(one, "gpus"); !gpu.empty()) {
    Whereabouts place{{{"gpu", gpu}}, "GPU " + gpu, "GPU " + gpu, "multiprocessors"};
    const std::string memory = label_of(one, "memory");
    if (memory == "own") return place;
    place.labels.emplace_back("memory", memory);
    place.words = place.heading = fmt::format("GPU {}, memory {}", gpu, memory);
    return place;
  }
  const std::string cpus = label_of(one, "cpu_node"), memory = label_of(one, "memory_node");
  return {{{"cpu_node", cpus}, {"memory_node", memory}},
          "node " + cpus,
          fmt::format("CPUs of node {}, memory of node {}", cpus, memory),
          "CPUs"};
}

/// Of a curve of memory under reads; of others while idle. The line tells the knee, or the latency
/// at 80 % of the peak, or that at half of it; and the highest load once.
std::vector<Fact> facts_of(const CaseGroup& curve, std::set<const Case*>& told_idle) {
  const Whereabouts place = whereabouts_of(*curve.cases.back());
  const std::string kernel = label_of(*curve.cases.back(), "load_kernel");
  const bool reads = kernel.empty() || !traits_of(kernel).writes;
  std::vector<Fact> facts;
  const auto add = [&](const char* key, const std::string& words, Unit unit,
                       const std::optional<Estimate>& estimate, const std::string& line) {
    if (!estimate) return;
    facts.push_back({key, place.labels, words + ", " + place.words, unit, *estimate,
                     line.empty() ? "" : "Under load", line});
  };
  std::optional<Estimate> idle, half, at_80, peak, most;
  for (const Case* one : curve.cases) {
    const std::string load = load_of(*one);
    if (!cache_text(*one).empty()) continue;
    const auto latency = host_estimate_of(*one, "latency");
    if (load == idle_load && told_idle.insert(one).second) idle = latency;
    if (load == part_load(50) && reached_its_rate(*one)) half = latency;
    if (load == peak_load) peak = latency;
    if (load == peak_load) most = host_estimate_of(*one, "bandwidth_sum");
    if (const auto its = estimate_of(*one, at_80_percent)) at_80 = its;
  }
  add("loaded_latency_idle", "latency while nothing else runs", "s", idle, "{} idle");
  if (!reads) return facts;
  const bool of_memory = cache_text(*curve.cases.back()).empty();
  const auto knee = of_memory ? knee_of(curve) : std::nullopt;
  const bool bends = knee && knee->load;
  if (bends)
    add("loaded_knee", "load from which on the latency rises steeply", "B/s", knee->load,
        "knee at {}");
  add("loaded_latency_80", "latency at 80 % of the peak of reads", "s", at_80,
      bends ? "" : "{} at 80 % of the peak");
  add("loaded_latency_half", "latency at half of the peak", "s", half,
      bends || at_80 ? "" : "{} at half of the peak");
  add("loaded_latency_peak", "latency at the peak", "s", peak, "{} at the peak");
  add("loaded_bandwidth_peak",
      fmt::format("bandwidth of the loading {} at that peak", place.loaders), "B/s", most,
      knee && !bends ? "" : fmt::format("{{}} read by the loading {}", place.loaders));
  if (knee && !bends)
    add("loaded_no_knee", "load up to which the latency has no knee", "B/s",
        Estimate(knee->highest), "no knee up to {}");
  return facts;
}

}  // namespace

std::optional<Knee> knee_of(std::span<const LoadedPoint> points) {
  const std::vector<Weighed> curve = weighed(points);
  if (curve.empty()) return std::nullopt;
  Knee found;
  for (const LoadedPoint& point : points) found.highest = std::max(found.highest, point.load.value);
  const Fit one = fitted(curve, std::nullopt);
  // A line needs two points.
  const double first = curve[1].x, last = curve[curve.size() - 2].x;
  constexpr int steps = 1000;
  const double step = (last - first) / steps;
  std::vector<Fit> bends;
  for (int i = 0; i <= steps; ++i) {
    const Fit two = fitted(curve, first + i * step);
    if (two.of[2] > 0) bends.push_back(two);
  }
  if (bends.empty()) return found;
  const Fit& best = *std::ranges::min_element(bends, {}, &Fit::squares);
  const auto degrees = static_cast<double>(curve.size() - 4);
  // Where the points are further from both lines than their errors, these are too small.
  const double variance = std::max(1.0, best.squares / degrees);
  constexpr double least_rise = 0.1;
  const bool bent = (one.squares - best.squares) / 2 > least_quotient(degrees) * variance;
  const bool steeper = best.of[2] > std::max(0.0, best.of[1]);
  const bool higher = best.of[2] * (1 - best.knee) > least_rise * curve.front().y;
  if (!bent || !steeper || !higher) return found;
  // As good as the best within a 95 % interval: Student's t of 5 degrees of freedom, squared.
  constexpr double as_good = 2.57 * 2.57;
  double low = best.knee, high = best.knee;
  for (const Fit& two : bends) {
    if (two.squares > best.squares + as_good * variance) continue;
    low = std::min(low, two.knee - step);
    high = std::max(high, two.knee + step);
  }
  const double highest = found.highest;
  Estimate& load = found.load.emplace(best.knee * highest);
  load.low = low * highest;
  load.high = high * highest;
  load.n = curve.size();
  load.method = Method::derived;
  found.latency = best.of[0] + best.of[1] * best.knee;
  return found;
}

std::string part_load(int percent) { return fmt::format("{}%", percent); }

void order_by_load(RunReport& report, const std::vector<std::string>& labels) {
  std::vector<std::vector<std::string>> curves;  // in the order of the plan
  const auto place = [&](const Case& one) {
    std::vector<std::string> curve;
    for (const std::string& label : labels) curve.push_back(label_text(report, one, label));
    const auto asked = estimate_of(one, "rate_asked");
    return std::pair(add_once(curves, std::move(curve)),
                     asked ? asked->value : std::numeric_limits<double>::infinity());
  };
  for (const Case& one : report.cases) place(one);
  std::ranges::stable_sort(report.cases, {}, place);
}

std::vector<Figure> rate_asked(const Case& visit) {
  double asked = 0;
  for (const FlowResult& flow : visit.flows) asked += flow.rate.value_or(0);
  if (!(asked > 0)) return {};
  return {{"rate_asked", "B/s", asked, std::nullopt}};
}

const Case* case_with(const RunReport& report, PageKind pages,
                      const std::vector<std::string>& labels,
                      const std::vector<std::string>& values) {
  const auto found = std::ranges::find_if(report.cases, [&](const Case& one) {
    return one.pages == name_of(pages) &&
           std::ranges::equal(values, labels, {}, {},
                              [&](const auto& label) { return label_of(one, label); });
  });
  return found == report.cases.end() ? nullptr : &*found;
}

void conclude_curves(RunReport& report) {
  constexpr double part = 0.8;
  order_by_load(report, curve_labels(report));
  for (CaseGroup& curve : curves_of(report)) {
    const auto mine = [&](const Case& one) -> std::vector<Figure>& {
      return report.cases[static_cast<std::size_t>(&one - report.cases.data())].figures;
    };
    if (const auto knee = knee_of(curve); knee && knee->load) {
      const auto behind = std::ranges::find_if(
          curve.cases, [&](const Case* one) { return load_rate_of(*one) >= knee->load->value; });
      mine(**behind).push_back({"knee", "B/s", *knee->load, std::nullopt});
      mine(**behind).push_back({"knee_latency", "s", Estimate(knee->latency), std::nullopt});
    }
    const auto asked = std::ranges::find_if(curve.cases, [](const Case* one) {
      return load_of(*one) == "80%" && estimate_of(*one, "latency") && reached_its_rate(*one);
    });
    if (asked != curve.cases.end()) {
      mine(**asked).push_back({at_80_percent, "s", estimate_of(**asked, "latency"), std::nullopt});
      continue;
    }
    std::stable_sort(curve.cases.begin(), curve.cases.end(), [](const auto* a, const auto* b) {
      return load_rate_of(*a) < load_rate_of(*b);
    });
    const Case& peak = *curve.cases.back();
    for (std::size_t i = 1; i < curve.cases.size(); ++i) {
      const Case &before = *curve.cases[i - 1], &after = *curve.cases[i];
      const auto latency = latency_between(before, after, peak, part);
      if (!latency) continue;
      mine(after).push_back({at_80_percent, "s", *latency, std::nullopt});
      break;
    }
  }
}

Table curve_table() {
  return {
      .title =
          "Loaded latency in ns: CPUs of node {cpu_node} to memory of node {memory_node} "
          "(load: {kernel} by {loaders|CPU}, {size} each[, {stores} stores], {pages} "
          "pages)",
      .kind = ViewKind::curve,
      .apart = curve_of_cpus,
      .rows = "traffic_sum",
      .cells = {label_column("load", "load"), figure_column("asked", "rate_asked", in_gb_per_s),
                figure_column("achieved", "bandwidth_sum", in_gb_per_s),
                figure_column(plus_minus(), "bandwidth_sum", in_gb_per_s, Part::half_width),
                figure_column("moved", "traffic_sum", in_gb_per_s),
                figure_column("latency", "latency", in_ns, Part::value, 1),
                figure_column(plus_minus(), "latency", in_ns, Part::half_width),
                figure_column("p95", "latency", in_ns, Part::p95, 1),
                figure_column("above idle", "latency_added", in_ns, Part::value, 1),
                figure_column("of peak", "peak_share", in_percent, Part::value, 0, " %"),
                label_column("in cache", "cache")},
      .notes = {"achieved: bandwidth in GB/s as STREAM counts it, in the time in which the latency "
                "was measured; moved: with the lines that are read before they are written; "
                "latency: the mean and the 95th percentile of blocks of loads"},
      .finish = add_curve_verdict};
}

std::vector<Warning> curve_warnings(const RunReport& report) {
  // Half a step between most parts of the peak: wider, and two of them cannot be told apart.
  constexpr double widest_peak = 0.05;
  std::vector<Warning> warnings;
  for (const Case& one : report.cases) {
    if (one.flows.empty()) continue;
    const auto asked = estimate_of(one, "rate_asked"), sum = estimate_of(one, "bandwidth_sum");
    if (asked && !reached_its_rate(one)) {
      warnings.push_back(
          {"rate-not-reached", one.name,
           fmt::format(
               "reached {:.0f} % of the requested rate; the latency is that at the achieved rate",
               load_rate_of(one) / asked->value * 100)});
    }
    const auto width = sum ? half_width(*sum) : std::nullopt;
    // Loads of GPUs are no fractions of it.
    if (load_of(one) != peak_load || !label_of(one, "gpus").empty() ||
        (width && *width <= std::max(widest_peak, report.precision)))
      continue;
    warnings.push_back(
        {"peak-uncertain", one.name,
         fmt::format("the peak, and with it each fraction of it, is known {}; increase --time",
                     width ? fmt::format("to {}{} only", plus_minus(), half_text(*width))
                           : "from too few samples for an interval")});
  }
  return warnings;
}

std::vector<Fact> loaded_facts(const RunReport& report) {
  std::vector<Fact> facts;
  std::set<const Case*> told_idle;
  // One pair of nodes is shown, and how many more there are: all are in the files.
  std::vector<std::string> pairs;
  const auto is_shown = [](const Fact& fact) { return !fact.heading.empty(); };
  for (const CaseGroup& curve : curves_of(report)) {
    const Whereabouts place = whereabouts_of(*curve.cases.back());
    std::vector<Fact> its = facts_of(curve, told_idle);
    if (its.empty()) continue;
    const bool hidden = add_once(pairs, place.words) > 0;
    const auto first = std::ranges::find_if(its, is_shown);
    if (facts.empty() && first != its.end()) first->line = place.heading + ": " + first->line;
    for (Fact& fact : its) {
      if (hidden) fact.heading = fact.line = "";
      facts.push_back(std::move(fact));
    }
  }
  const auto last = std::ranges::find_if(facts.rbegin(), facts.rend(), is_shown);
  if (pairs.size() > 1 && last != facts.rend())
    last->line += fmt::format("; {} of nodes", count_text(pairs.size() - 1, "more pair"));
  return facts;
}

}  // namespace numatlas
