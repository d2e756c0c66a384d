#include "report/answer.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/add_once.h"
#include "base/text.h"
#include "base/units.h"
#include "machine/cpu_use.h"
#include "memory/buffer.h"
#include "record/estimate.h"
#include "record/headline.h"
#include "record/labels.h"
#include "report/notes.h"
#include "report/view_text.h"

namespace numatlas {
namespace {

/// Figures of one heading that the answer has, at most.
constexpr std::size_t most_figures = 4;

std::string heading_text(const RunReport& report, const std::string& heading) {
  FactList cells, figures;
  for (const Fact& fact : report.facts) {
    if (fact.heading != heading) continue;
    (fact.line.find("{}") == std::string::npos ? cells : figures).push_back(&fact);
  }
  const Machine* const machine = report.machines.empty() ? nullptr : &report.machines.front();
  if (cells.size() == 1) return fmt::format("{}: {}", heading, cells_text(cells, machine));
  if (!cells.empty())
    return fmt::format("{}: {}", label_of_heading(heading), cells_text(cells, machine));
  // Memory is what most ask for; the latencies of its caches follow, and then where they end. All
  // memories are told, however many.
  const auto others = std::stable_partition(
      figures.begin(), figures.end(), [](const Fact* one) { return one->key == "memory_latency"; });
  std::stable_partition(others, figures.end(),
                        [](const Fact* one) { return one->key != "cache_capacity"; });
  const auto told = static_cast<std::size_t>(others - figures.begin());
  figures.resize(std::min(figures.size(), std::max(most_figures, told)));
  std::vector<std::string> texts;
  for (const Fact* fact : figures) texts.push_back(line_text(*fact));
  return fmt::format("{}: {}", heading, fmt::join(texts, ", "));
}

/// What a case found: over all of its workers, of the only one, or of each of several. The first
/// figure, or if the first table has others, the first of these.
std::vector<const Figure*> figures_of_case(const RunReport& report, const Case& one) {
  const auto is_told = [](const Figure& figure) {
    return figure.unit.is_time_or_rate() && figure.estimate;
  };
  const auto is_shown = [&](const Figure& figure) {
    return report.views.empty() ||
           std::ranges::find(report.views.front().cells, figure.key, &ViewColumn::figure) !=
               report.views.front().cells.end();
  };
  const auto first = [&](const std::vector<Figure>& figures) -> const Figure* {
    const Figure* any = nullptr;
    for (const Figure& figure : figures) {
      if (!is_told(figure)) continue;
      if (is_shown(figure)) return &figure;
      if (any == nullptr) any = &figure;
    }
    return any;
  };
  const auto is_measured = [](const FlowResult& flow) { return !flow.load; };
  if (one.flows.empty() || std::ranges::count_if(one.flows, is_measured) > 1) {
    if (const Figure* const sum = first(one.figures)) return {sum};
  }
  std::vector<const Figure*> all;
  for (const FlowResult& flow : one.flows) {
    const Figure* const its = is_measured(flow) ? first(flow.figures) : nullptr;
    if (its != nullptr && (all.empty() || its->unit == all.front()->unit)) all.push_back(its);
  }
  return all;
}

/// Of a report without facts: each of a few cases, or the span of many.
std::string cases_text(const RunReport& report) {
  std::vector<std::pair<const Case*, std::vector<const Figure*>>> found;
  for (const Case& one : report.cases)
    if (auto figures = figures_of_case(report, one); !figures.empty())
      found.emplace_back(&one, std::move(figures));
  std::vector<std::string> texts;
  std::vector<Unit> units;
  std::map<Unit, std::vector<Estimate>> values;
  for (const auto& [one, figures] : found) {
    std::vector<Estimate> its;
    for (const Figure* const figure : figures) its.push_back(*figure->estimate);
    const Unit unit = figures.front()->unit;
    texts.push_back(fmt::format("{}: {}", one->name, span_text(its, unit)));
    add_once(units, unit);
    values[unit].insert(values[unit].end(), its.begin(), its.end());
  }
  if (found.size() <= most_figures) return fmt::format("{}", fmt::join(texts, "; "));
  texts.clear();
  for (const Unit unit : units) texts.push_back(span_text(values[unit], unit));
  return fmt::format("{}: {}", count_text(found.size(), "case"), fmt::join(texts, ", "));
}

std::vector<std::string> headings_of(const RunReport& report) {
  std::vector<std::string> headings;
  for (const Fact& fact : report.facts)
    if (!fact.heading.empty()) add_once(headings, fact.heading);
  return headings;
}

/// What all cases have in common that is not the default and that no fact says: "page-local order,
/// stride 256B, base pages". A fact that names its pages says them.
std::string choices_text(const RunReport& report) {
  constexpr const char* usual_order = "random";
  std::vector<std::string> orders, strides, pages;
  for (const Case& one : report.cases) {
    const bool of_gpu =
        std::ranges::any_of(one.flows, [](const auto& flow) { return flow.gpu.has_value(); });
    if (one.flows.empty() || of_gpu || !label_of(one, "control").empty()) continue;
    add_once(pages, one.pages);
    if (one.order.empty()) continue;
    add_once(orders, one.order);
    add_once(strides, compact_text(one.stride));
  }
  std::vector<std::string> chosen;
  if (orders.size() == 1 && orders.front() != usual_order)
    chosen.push_back(orders.front() + " order");
  const Machine* const machine = report.machines.empty() ? nullptr : &report.machines.front();
  const Cache* const nearest = machine == nullptr || machine->cpus.empty()
                                   ? nullptr
                                   : machine->cache_of(machine->cpus[0].id, 1);
  const Bytes line = nearest == nullptr ? Bytes{64} : nearest->line_size.value_or(Bytes{64});
  if (strides.size() == 1 && strides.front() != compact_text(line))
    chosen.push_back("stride " + strides.front());
  const bool said = std::ranges::any_of(report.facts, [](const Fact& fact) {
    return !where_of(fact, "pages").empty() || !where_of(fact, "page_kind").empty();
  });
  const bool usual = machine == nullptr || pages.size() != 1 || pages.front().empty() ||
                     pages.front() == name_of(best_pages(*machine).kind);
  if (!said && !usual) chosen.push_back(pages.front() + " pages");
  return fmt::format("{}", fmt::join(chosen, ", "));
}

bool has_cells(const RunReport& report, const std::string& heading) {
  return std::ranges::any_of(
      report.facts, [&](const Fact& fact) { return fact.heading == heading && fact.line.empty(); });
}

/// Of one; "0,1" are several at once.
bool is_of_gpu(const Fact& fact) {
  const std::string gpu = where_of(fact, "gpu");
  return !fact.heading.empty() && !gpu.empty() && gpu.find(',') == gpu.npos &&
         fact.line.find("{}") != std::string::npos;
}

/// What each of several GPUs does, in one text: "each of 4 GPUs: copies to it 41.8 to 55.6 GB/s";
/// "" where there are no several.
std::string gpus_text(const RunReport& report) {
  std::vector<std::string> gpus, lines;
  std::map<std::string, std::vector<const Fact*>> of_line;
  for (const Fact& fact : report.facts) {
    if (!is_of_gpu(fact)) continue;
    add_once(gpus, where_of(fact, "gpu"));
    const std::string line = fact.line.substr(0, fact.line.find("{}"));
    add_once(lines, line);
    of_line[line].push_back(&fact);
  }
  if (gpus.size() < 2) return "";
  std::vector<std::string> texts;
  for (const std::string& line : lines) {
    std::vector<Estimate> values;
    for (const Fact* fact : of_line[line]) values.push_back(fact->estimate);
    texts.push_back(line + span_text(values, of_line[line].front()->unit));
  }
  texts.resize(std::min(texts.size(), most_figures));
  return fmt::format("each of {} GPUs: {}", gpus.size(), fmt::join(texts, ", "));
}

std::string all_figures_text(const RunReport& report) {
  std::string figures = gpus_text(report);
  const bool joined = !figures.empty();
  for (const std::string& heading : headings_of(report)) {
    const auto is_joined = [&](const Fact& fact) {
      return fact.heading == heading && is_of_gpu(fact);
    };
    if (joined && std::ranges::any_of(report.facts, is_joined)) continue;
    const std::string text = heading_text(report, heading);
    constexpr std::size_t widest = 120;
    // Cells are what `matrix` was asked for, however long.
    const bool is_long = !figures.empty() && figures.size() + text.size() > widest;
    if (is_long && !has_cells(report, heading)) break;
    figures += (figures.empty() ? "" : "; ") + text;
  }
  if (figures.empty()) figures = cases_text(report);
  const std::string choices = figures.empty() ? "" : choices_text(report);
  return choices.empty() ? figures : figures + "; " + choices;
}

/// Its name without its pages.
std::string name_but_pages(const Case& one) {
  std::string name;
  std::istringstream words(one.name);
  for (std::string word; words >> word;)
    if (word != one.pages) name += (name.empty() ? "" : " ") + word;
  return name;
}

/// How many times as fast one figure is as another of its unit.
Estimate times_as_fast(const Estimate& one, const Estimate& other, Unit unit) {
  const bool lower = unit.better() == Better::lower;
  const Estimate &above = lower ? other : one, &below = lower ? one : other;
  Estimate times = above.value / below.value;
  if (!one.low || !other.low) return times;
  const Interval interval = interval_of(
      difference(logarithm_of(above, below.value), logarithm_of(below, below.value)), 0.05);
  times.low = std::exp(interval.low);
  times.high = std::exp(interval.high);
  times.method = Method::derived;
  return times;
}

/// "latency", "bandwidth": of a sum what it sums.
std::string words_of(const std::string& key) {
  std::string words = key.ends_with("_sum") ? key.substr(0, key.size() - 4) : key;
  std::ranges::replace(words, '_', ' ');
  return words;
}

/// What tells kinds of pages apart: a rate rather than the time of a page, over all workers.
const Figure* figure_of_pages(const Case& one) {
  const auto flow = std::ranges::find(one.flows, false, &FlowResult::load);
  if (flow == one.flows.end()) return nullptr;
  const Figure* best = nullptr;
  for (const Figure& figure : flow->figures) {
    if (!figure.unit.is_time_or_rate() || !figure.estimate) continue;
    if (best == nullptr || (figure.unit == "B/s" && best->unit == "s")) best = &figure;
  }
  const Figure* const sum =
      best == nullptr ? nullptr : find_figure(one.figures, best->key + "_sum");
  return sum != nullptr && sum->estimate ? sum : best;
}

/// Of cases that were measured in several kinds of pages: "thp 1.31 times (1.25 to 1.37) as fast as
/// base", of several the least and the most; "" where none were.
std::string pages_text(const RunReport& report) {
  // Its key; name without its pages; size.
  using Key = std::tuple<std::string, std::string, std::uint64_t>;
  std::vector<std::string> kinds;
  std::map<std::string, std::map<Key, const Figure*>> by_kind;
  for (const Case& one : report.cases) {
    const Figure* const figure = figure_of_pages(one);
    if (one.pages.empty() || figure == nullptr || !(figure->estimate->value > 0)) continue;
    add_once(kinds, one.pages);
    by_kind[one.pages].try_emplace({figure->key, name_but_pages(one), one.size.value}, figure);
  }
  if (kinds.size() < 2) return "";
  const auto base = std::ranges::find(kinds, "base");
  const std::string reference = base == kinds.end() ? kinds.front() : *base;
  std::vector<std::string> texts;
  for (const std::string& kind : kinds) {
    if (kind == reference) continue;
    std::map<std::string, std::vector<Estimate>> times;  // by key
    for (const auto& [key, figure] : by_kind[kind]) {
      const auto other = by_kind[reference].find(key);
      if (other == by_kind[reference].end()) continue;
      times[words_of(std::get<0>(key))].push_back(
          times_as_fast(*figure->estimate, *other->second->estimate, figure->unit));
    }
    std::vector<std::string> parts;
    for (const auto& [words, values] : times)
      parts.push_back(fmt::format("{}{}{}", span_text(values, "1"),
                                  parts.empty() ? " as fast as " + reference : "",
                                  times.size() > 1 ? " by " + words : ""));
    if (!parts.empty()) texts.push_back(fmt::format("{} {}", kind, fmt::join(parts, ", ")));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// The gravest of the warnings of a code, and how many there are more; "" for none.
std::string warning_text(const RunReport& report, std::string_view code) {
  std::vector<Warning> found;
  std::ranges::copy_if(report.warnings, std::back_inserter(found),
                       [&](const Warning& one) { return one.code == code; });
  return found.empty() ? "" : counted(found).front();
}

constexpr const char* two_speeds = "two-speeds";

using ByHost = std::vector<std::pair<std::string, CpuUse>>;

/// What the hosts' CPUs were used for, over all reports of a run.
ByHost uses_of(std::span<const RunReport> reports) {
  std::vector<std::string> hosts;
  std::map<std::string, std::vector<CpuUse>> parts;
  for (const RunReport& report : reports) {
    for (std::size_t host = 0; host < report.cpu_use.size() && host < report.hosts.size(); ++host) {
      add_once(hosts, report.hosts[host]);
      parts[report.hosts[host]].push_back(report.cpu_use[host]);
    }
  }
  ByHost by_host;
  for (const std::string& host : hosts) by_host.emplace_back(host, use_of_all(parts[host]));
  return by_host;
}

}  // namespace

std::string distrust_of(const RunReport& report) {
  // What judges has watched no CPUs itself: it says what those say that it judges.
  const bool judged = report.cpu_use.empty() && report.trust == "unreliable";
  return judged ? report.doubt : distrust_of(std::span(&report, 1));
}

std::string distrust_of(std::span<const RunReport> reports) {
  std::vector<std::string> all;
  for (const RunReport& report : reports)
    for (const Warning& warning : report.warnings)
      if (warning.code == silent_rank) add_once(all, warning.text);
  if (std::string used = cpu_use_warning(uses_of(reports), is_unreliable); !used.empty())
    all.push_back(std::move(used));
  return fmt::format("{}", fmt::join(all, "; "));
}

std::string reserve_text(const std::string& distrust, const std::string& incomplete) {
  return (distrust.empty() ? "" : "UNRELIABLE: " + distrust) +
         (distrust.empty() || incomplete.empty() ? "" : "; ") +
         (incomplete.empty() ? "" : "INCOMPLETE: " + incomplete);
}

std::string reserve_of(const RunReport& report) {
  const std::string& reason = report.incomplete_reason;
  return reserve_text(distrust_of(report), report.complete  ? ""
                                           : reason.empty() ? "it did not run to its end"
                                                            : reason);
}

std::string with_reserve(const std::string& reserve, const std::string& answer) {
  return reserve.empty() ? answer + "\n" : fmt::format("{}\n({})\n", reserve, answer);
}

std::string doubt_of(const RunReport& report) {
  const auto is_lost = [](const Case& one) {
    return one.status == Status::failed || one.status == Status::incomplete;
  };
  const auto lost = std::ranges::find_if(report.cases, is_lost);
  if (is_null_engine(report.engine)) return null_engine_note;
  if (lost != report.cases.end())
    return fmt::format("{} of {}: {}: {}", std::ranges::count_if(report.cases, is_lost),
                       count_text(report.cases.size(), "case"), name_of(lost->status),
                       lost->reason);
  if (std::string used = cpu_use_warning(uses_of(std::span(&report, 1))); !used.empty())
    return used;
  for (const char* code : {two_speeds, "oversubscribed", "low-overlap", "gpu-slowed", "page-size",
                           "placement", "pages-moved"})
    if (std::string text = warning_text(report, code); !text.empty()) return text;
  if (std::ranges::any_of(report.facts, has_star)) return star_note();
  return guest_note(report.machines);
}

Trust trust_of(std::span<const RunReport> reports) {
  if (reports.empty() || is_null_engine(reports.front().engine)) return {};
  if (std::string why = distrust_of(reports); !why.empty()) return {"unreliable", std::move(why)};
  for (const RunReport& report : reports)
    if (std::string doubt = doubt_of(report); !doubt.empty()) return {"doubtful", std::move(doubt)};
  return {"trusted", ""};
}

std::string answer_text(const RunReport& report) {
  if (!report.answer.empty()) {
    // Of what was measured; who judges others' figures tells the doubts in them.
    const bool measured =
        std::ranges::any_of(report.cases, [](const Case& one) { return !one.flows.empty(); });
    const std::string doubt = measured ? doubt_of(report) : "";
    return with_reserve(reserve_of(report), report.answer) +
           (doubt.empty() ? "" : "! " + doubt + "\n");
  }
  std::string figures = all_figures_text(report);
  if (figures.empty()) return "";
  const std::string star =
      figures.find('*') != std::string::npos ? "; " + star_words() : std::string();
  const std::string speeds = warning_text(report, two_speeds);
  for (const std::string& more : {pages_text(report), speeds})
    if (!more.empty()) figures += "; " + more;
  const std::string reserve = reserve_of(report);
  if (!distrust_of(report).empty()) return with_reserve(reserve + star, figures);
  std::string doubt = doubt_of(report);
  if (doubt == speeds) doubt.clear();
  if (!doubt.empty() && doubt != star_note()) doubt += star;
  return with_reserve(reserve, figures) + (doubt.empty() ? "" : "! " + doubt + "\n");
}

}  // namespace numatlas
