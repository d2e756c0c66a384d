#include "benchmarks/migrate/views.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/extremes.h"
#include "record/labels.h"

namespace numatlas {
namespace {

/// What the reader of a case takes for its work, of any kind: seconds a load, or a byte.
std::optional<Estimate> reader_cost(const ScenarioResult& one) {
  for (const FlowResult& flow : one.flows) {
    if (const Figure* latency = find_figure(flow.figures, "latency")) return latency->estimate;
    const Figure* const rate = find_figure(flow.figures, "bandwidth");
    if (rate != nullptr && rate->value().value_or(0) > 0) return divided_into(1, *rate->estimate);
  }
  return std::nullopt;
}

bool are_alike(const ScenarioResult& one, const ScenarioResult& other) {
  for (const char* label : {"from", "to", "reader"}) {
    if (label_of(one, label) != label_of(other, label)) return false;
  }
  return one.pages == other.pages && one.size == other.size;
}

const ScenarioResult* find_rest(const RunReport& report, const ScenarioResult& one,
                                const char* run) {
  for (const ScenarioResult& other : report.scenarios) {
    if (label_of(other, "run") == run && are_alike(one, other)) return &other;
  }
  return nullptr;
}

}  // namespace

void compare_readers(RunReport& report) {
  for (ScenarioResult& one : report.scenarios) {
    if (label_of(one, "run") != "beside") continue;
    const ScenarioResult* const before = find_rest(report, one, "rest before");
    const ScenarioResult* const after = find_rest(report, one, "rest after");
    const auto cost = reader_cost(one);
    if (before == nullptr || after == nullptr || !cost) continue;
    const auto first = reader_cost(*before), last = reader_cost(*after);
    if (!first || !last) continue;
    // On average half of the pages have gone.
    const Estimate times = ratio_of(*cost, between(*first, *last, 0.5));
    one.figures.push_back({"reader_times", "cost", times, std::nullopt});
  }
}

std::vector<View> migrate_views(const RunReport& report) {
  std::vector<View> views;
  for (const CaseGroup& group : groups_of(report, {"run", "how", "pages", "threads"})) {
    const ScenarioResult& any = *group.cases.front();
    if (label_of(any, "run") != "move") continue;
    View view;
    view.kind = ViewKind::matrix;
    view.where = group.labels;
    view.title = fmt::format("Migration by {} in GB/s ({} pages, {} thread{})",
                             label_of(any, "how"), any.pages, label_of(any, "threads"),
                             label_of(any, "threads") == "1" ? "" : "s");
    view.notes = {"rows: source nodes; columns: destination nodes"};
    view.rows = "from";
    view.columns = "to";
    view.cells = {figure_column("", "move_rate_sum", in_gb_per_s)};
    views.push_back(std::move(view));
  }
  View view;
  view.title = "Migration and a concurrent reader";
  view.notes = {
      "run: move, no reader; rest before and after, the reader alone with the pages on the first "
      "and on the second node; beside, both at the same time",
      "left: share of the pages that did not arrive; times: the reader's time relative to its time "
      "with the pages at rest, midway between both nodes"};
  view.cells = {label_column("run", "run"),
                label_column("how", "how"),
                label_column("pages", "pages"),
                label_column("from", "from"),
                label_column("to", "to"),
                label_column("threads", "threads"),
                label_column("reader", "reader"),
                figure_column("us/page", "move_time", in_us, Part::value, 3),
                figure_column("GB/s", "move_rate_sum", in_gb_per_s, Part::with_interval),
                figure_column("left", "left_behind", in_percent, Part::value, 1, " %"),
                figure_column("chase ns", "latency", in_ns, Part::with_interval),
                figure_column("read GB/s", "bandwidth", in_gb_per_s, Part::with_interval),
                figure_column("times", "reader_times", 1)};
  views.push_back(std::move(view));
  return views;
}

std::vector<Fact> migrate_facts(const RunReport& report) {
  const auto rate = [](const ScenarioResult& one) {
    return label_of(one, "run") == "move" ? value_of(estimate_of(one, "move_rate_sum"))
                                          : std::nullopt;
  };
  const auto times = [](const ScenarioResult& one) {
    return value_of(estimate_of(one, "reader_times"));
  };
  const auto* const slowest = lowest_of(report.scenarios, rate);
  const auto* const worst = highest_of(report.scenarios, times);
  std::vector<Fact> facts;
  const auto add = [&](const char* key, const ScenarioResult& one, Unit unit, const char* figure,
                       const std::string& what, const std::string& line) {
    facts.push_back(
        {key,
         {{"from", label_of(one, "from")}, {"to", label_of(one, "to")}, {"pages", one.pages}},
         fmt::format("{} from node {} to node {} ({} pages)", what, label_of(one, "from"),
                     label_of(one, "to"), one.pages),
         unit,
         *estimate_of(one, figure),
         "Migration",
         fmt::format("{} (node {} to {}, {} pages)", line, label_of(one, "from"),
                     label_of(one, "to"), one.pages)});
  };
  if (slowest != nullptr)
    add("migration_rate", *slowest, "B/s", "move_rate_sum", "moving pages", "slowest {}");
  if (worst != nullptr) {
    add("migration_reader_times", *worst, "1", "reader_times",
        "a reader of pages that are moved, against the same at rest,",
        "a concurrent reader's time {}");
  }
  return facts;
}

}  // namespace numatlas
