#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/units.h"
#include "benchmarks/survey_words.h"
#include "benchmarks/transfer/transfer.h"
#include "record/labels.h"

namespace numatlas::benchmark_transfer {
namespace {

std::string direction_text(const std::string& direction) {
  if (direction == "h2d") return "host to device";
  if (direction == "d2h") return "device to host";
  return "both directions at the same time, summed";
}

/// A row a place in the host's memory and size, a column a GPU.
View by_gpu(const CaseGroup& group, std::string title, std::vector<ViewColumn> cells) {
  View view;
  view.where = group.labels;
  view.title = std::move(title);
  view.columns = "gpus";
  view.cells = {label_column("memory", "memory"), label_column("size", "size")};
  view.cells.insert(view.cells.end(), cells.begin(), cells.end());
  return view;
}

/// Where each GPU copies fastest at the largest size, unless the intervals of the two best meet.
std::vector<std::string> best_places(const CaseGroup& group) {
  Bytes largest;
  for (const ScenarioResult* one : group.cases) largest = std::max(largest, one->size);
  std::map<std::string, std::vector<std::pair<Estimate, std::string>>> places;  // by GPU
  for (const ScenarioResult* one : group.cases) {
    const auto rate = estimate_of(*one, "bandwidth_sum");
    if (rate && one->size == largest)
      places[label_of(*one, "gpus")].emplace_back(*rate, label_of(*one, "memory"));
  }
  std::vector<std::string> lines;
  for (auto& [gpu, ranked] : places) {
    if (ranked.size() < 2) continue;
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first.value > b.first.value; });
    const auto& [rate, place] = ranked[0];
    const auto& [next_rate, next] = ranked[1];
    const std::string best = fmt::format("best for GPU {} at {}: ", gpu, to_text(largest));
    lines.push_back(
        surely_more(rate, next_rate)
            ? fmt::format("{}{}, {:.1f} % over {}", best, place,
                          (ratio_of(rate, next_rate).value - 1) * 100, next)
            : fmt::format("{}{} and {} do not differ significantly", best, place, next));
  }
  return lines;
}

template <class Test>
bool any(const CaseGroup& group, const Test& test) {
  return std::any_of(group.cases.begin(), group.cases.end(), test);
}

void add_copies(const CaseGroup& group, std::vector<View>& views) {
  const ScenarioResult& first = *group.cases.front();
  const std::string words =
      fmt::format(", {} ({}, {} pages)", direction_text(label_of(first, "direction")),
                  label_of(first, "pinning"), first.pages);
  if (label_of(first, "measure") == "latency") {
    views.push_back(by_gpu(group, "Latency of one copy in us" + words,
                           {figure_column("GPU", "copy_latency", in_us),
                            figure_column("", "copy_latency", in_us, Part::p95),
                            figure_column("", "copy_latency", in_us, Part::p99)}));
    views.back().notes = {
        "each copy waited for, between two events: median, 95th and 99th percentile"};
    return;
  }
  const ViewColumn sum = figure_column("GPU", "bandwidth_sum", in_gb_per_s, Part::with_interval);
  views.push_back(by_gpu(group, "Queued copies in GB/s" + words,
                         {sum, figure_column("", "link_part", in_percent, Part::value, 0, " %")}));
  views.back().notes = {
      "rate of copies queued one after the other: all bytes over the common time, and as a share "
      "of the link's limit"};
  views.back().verdict = best_places(group);
  if (any(group, [](const auto* one) { return find_total(*one, "copies_overlap") != nullptr; })) {
    views.push_back(
        by_gpu(group, "Copies at the same time in GB/s" + words,
               {figure_column("GPU", "event_bandwidth_sum", in_gb_per_s),
                figure_column("", "copies_overlap", in_percent, Part::value, 0, " %")}));
    views.back().notes = {
        "sum by the GPUs' own clocks; share of the active time in which all copies were in flight"};
  }
  // Of several at once each waits for the others.
  if (any(group, [](const auto* one) { return one->flows.size() == 1; })) {
    views.push_back(by_gpu(group, "Cost of pinning in ms" + words,
                           {figure_column("GPU", "pin_time", in_ms, Part::value, 3),
                            figure_column("", "unpin_time", in_ms, Part::value, 3)}));
    views.back().notes = {"to pin and to unpin the memory: medians of three tries"};
  }
}

}  // namespace

std::vector<View> views(const RunReport& report) {
  View gpus;
  gpus.level = ViewLevel::flows;
  gpus.title = "GPUs";
  gpus.where = {{"measure", label_of(report.scenarios.front(), "measure")}};
  gpus.cells = {label_column("GPU", "gpu"),
                label_column("name", "gpu_name"),
                label_column("address", "gpu_address"),
                label_column("node", "gpu_node"),
                label_column("link while measured", "link"),
                label_column("its limit", "link_limit")};
  std::vector<View> views{gpus};
  for (const CaseGroup& group : groups_of(report, {"measure", "direction", "pinning", "pages"}))
    if (find_label(*group.cases.front(), "direction") != nullptr) add_copies(group, views);
  for (const CaseGroup& group : groups_of(report, {"measure", "pages"})) {
    if (label_of(*group.cases.front(), "measure") != "chase") continue;
    views.push_back(
        by_gpu(group,
               fmt::format("Latency of a GPU's loads from memory of the host in ns ({} pages)",
                           group.cases.front()->pages),
               {figure_column("GPU", "latency", in_ns, Part::with_interval, 1)}));
  }
  for (const CaseGroup& group : groups_of(report, {"measure", "size"})) {
    if (label_of(*group.cases.front(), "measure") != "peer") continue;
    View peers;
    peers.kind = ViewKind::matrix;
    peers.where = group.labels;
    peers.title =
        fmt::format("Copies between GPUs in GB/s ({} each)", to_text(group.cases.front()->size));
    peers.notes = {"one row per GPU copied from, one column per GPU copied to"};
    peers.rows = "from_gpu";
    peers.columns = "to_gpu";
    peers.cells = {figure_column("", "bandwidth_sum", in_gb_per_s, Part::with_interval),
                   label_column("", "gpu_how")};
    views.push_back(std::move(peers));
  }
  return views;
}

namespace {

/// What the words of its facts begin with.
std::string prefix_of(const std::string& gpu) { return fmt::format("GPU {}: ", gpu); }

/// What of a GPU is told of one direction: the place with the highest rate.
void show_best(std::vector<Fact>& facts, const std::string& gpu) {
  for (const auto& [direction, words] :
       {std::pair("h2d", "to it"), std::pair("d2h", "from it"), std::pair("both", "both ways")}) {
    Fact* best = nullptr;
    for (Fact& fact : facts) {
      if (fact.key == "gpu_copy_rate" && where_of(fact, "gpu") == gpu &&
          where_of(fact, "direction") == direction &&
          (best == nullptr || fact.estimate.value > best->estimate.value))
        best = &fact;
    }
    if (best == nullptr) continue;
    best->heading = "GPU " + gpu;
    best->line = fmt::format("copies {} {{}} ({})", words, place_words(where_of(*best, "memory")));
  }
  for (Fact& fact : facts) {
    if (fact.key != "gpu_latency" || where_of(fact, "gpu") != gpu) continue;
    fact.heading = "GPU " + gpu;
    fact.line = fact.words.substr(prefix_of(gpu).size()) + " {}";
    return;
  }
}

void choose_shown(std::vector<Fact>& facts) {
  std::vector<std::string> gpus;
  for (const Fact& fact : facts) {
    const std::string gpu = where_of(fact, "gpu");
    if (fact.key == "gpu_copy_rate" && std::find(gpus.begin(), gpus.end(), gpu) == gpus.end())
      gpus.push_back(gpu);
  }
  for (const std::string& gpu : gpus) show_best(facts, gpu);
  for (Fact& fact : facts) {
    if (fact.key != "gpu_peer_rate") continue;
    fact.heading = "GPUs";
    fact.line = fact.words + " {}";
    return;
  }
}

}  // namespace

std::vector<Fact> facts(const RunReport& report) {
  std::vector<Fact> facts;
  for (const ScenarioResult& point : report.scenarios) {
    const std::string measure = label_of(point, "measure"), gpu = label_of(point, "gpus"),
                      memory = label_of(point, "memory"), direction = label_of(point, "direction");
    std::vector<std::pair<std::string, std::string>> where{{"gpu", gpu}};
    if (!memory.empty()) where.emplace_back("memory", memory);
    if (!direction.empty()) where.emplace_back("direction", direction);
    const std::string size = to_text(point.size), place = place_words(memory);
    const char* const way = direction == "h2d"   ? "to the GPU from"
                            : direction == "d2h" ? "from the GPU to"
                                                 : "both ways at once, GPU and";
    const auto add = [&](const char* key, const char* figure, Unit unit, std::string words) {
      if (const auto estimate = host_estimate_of(point, figure))
        facts.push_back({key, where, std::move(words), unit, *estimate});
    };
    if (measure == "copies") {
      where.emplace_back("pinning", label_of(point, "pinning"));
      add("gpu_copy_rate", "bandwidth_sum", "B/s",
          fmt::format("{}queued copies of {} {} {}", prefix_of(gpu), size, way, place));
    } else if (measure == "latency") {
      where.emplace_back("size", std::to_string(point.size.value));
      add("gpu_copy_latency", "copy_latency", "s",
          fmt::format("{}latency of one copy of {} {} {}", prefix_of(gpu), size, way, place));
    } else if (measure == "chase") {
      where.emplace_back("size", std::to_string(point.size.value));
      add("gpu_latency", "latency", "s",
          fmt::format("{}a load from {} of memory of {}", prefix_of(gpu), size, place));
    } else if (measure == "peer") {
      where = {{"gpus", gpu}};
      add("gpu_peer_rate", "bandwidth_sum", "B/s",
          fmt::format("copies of {} between GPUs {}", size, gpu));
    }
  }
  choose_shown(facts);
  return facts;
}

}  // namespace numatlas::benchmark_transfer
