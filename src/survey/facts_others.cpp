// Facts of what is between places: CPUs, nodes, GPUs.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/size_list.h"
#include "benchmarks/metrics.h"
#include "benchmarks/touch/patterns.h"
#include "benchmarks/weights/search.h"
#include "record/cache_level.h"
#include "survey/facts.h"

namespace numatlas {
namespace {

/// "bind:2" is node 2.
std::string place_words(const std::string& memory) {
  return memory.starts_with("bind:") ? "node " + memory.substr(5) : memory;
}

std::string worker_words(const RunReport& report, int index) {
  const WorkerRow& worker = report.workers[static_cast<std::size_t>(index)];
  return fmt::format("CPU {} (node {})", to_list(worker.cpus),
                     worker.cpu_node.value < 0 ? "-" : std::to_string(worker.cpu_node.value));
}

}  // namespace

std::vector<SurveyFact> cores_facts(const RunReport& report) {
  const ScenarioResult *nearest = nullptr, *farthest = nullptr;
  const auto value = [](const ScenarioResult& point) {
    return median_over_flows(point, "hand_over")->value;
  };
  for (const ScenarioResult& point : report.scenarios) {
    if (!median_over_flows(point, "hand_over")) continue;
    if (nearest == nullptr || value(point) < value(*nearest)) nearest = &point;
    if (farthest == nullptr || value(point) > value(*farthest)) farthest = &point;
  }
  std::vector<SurveyFact> facts;
  const auto add = [&](const char* key, const ScenarioResult& point) {
    const std::string first = label_of(point, "first_cpu"), second = label_of(point, "second_cpu");
    const std::string nearness = label_of(point, "nearness");
    facts.push_back(fact_of(key,
                            {{"first_cpu", first}, {"second_cpu", second}, {"nearness", nearness}},
                            fmt::format("hand-over of a cache line between CPUs {} and {} ({})",
                                        first, second, nearness),
                            "s", *median_over_flows(point, "hand_over")));
  };
  if (nearest != nullptr) add("hand_over_nearest", *nearest);
  if (farthest != nearest) add("hand_over_farthest", *farthest);
  return facts;
}

std::vector<SurveyFact> copy_facts(const RunReport& report) {
  std::vector<SurveyFact> facts;
  for (const ScenarioResult& point : report.scenarios) {
    const auto rate = sum_of(point, "copy_rate");
    if (!rate || !cache_text(point).empty()) continue;
    const std::string from = label_of(point, "from"), to = label_of(point, "to");
    facts.push_back(fact_of(
        "copy_rate", {{"from", from}, {"to", to}, {"cpu_nodes", label_of(point, "cpu_nodes")}},
        fmt::format("copies from {} to {}, by {} CPUs of node {}, bytes counted once",
                    place_words(from), place_words(to), point.flows.size(),
                    label_of(point, "cpu_nodes")),
        "B/s", *rate));
  }
  return facts;
}

/// The worst of those that ran alone.
std::vector<SurveyFact> touch_facts(const RunReport& report) {
  std::optional<SurveyFact> worst;
  for (const ScenarioResult& point : report.scenarios) {
    if (label_of(point, "pattern") == "own" || label_of(point, "run") != "alone") continue;
    if (!cache_text(point).empty()) continue;
    for (const FlowResult& flow : point.flows) {
      const auto times = against_own(report, point, flow);
      if (!times || !flow.first_touch || (worst && times->ratio <= worst->value)) continue;
      const std::string user = worker_words(report, flow.worker);
      const std::string toucher = worker_words(report, *flow.first_touch);
      worst =
          SurveyFact{"first_touch_times",
                     {{"used_by", user}, {"touched_by", toucher}},
                     fmt::format("an access by {} to memory that {} touched first, against its own",
                                 user, toucher),
                     times->ratio,
                     "1",
                     times->low,
                     times->high};
    }
  }
  if (!worst) return {};
  return {*worst};
}

std::vector<SurveyFact> weights_facts(const RunReport& report) {
  const ScenarioResult* const best = best_point(report);
  const auto range = best != nullptr ? rate_of(*best) : std::nullopt;
  if (!range || weights_of(*best).size() < 2 || !cache_text(*best).empty()) return {};
  const std::string weights = text_of(weights_of(*best));
  NodeSet nodes;
  for (const WorkerRow& worker : report.workers) {
    if (worker.cpu_node.value >= 0) nodes.insert(worker.cpu_node);
  }
  const std::string cpu_nodes = to_list(nodes);
  std::vector<SurveyFact> facts{fact_of(
      "weights_bandwidth",
      {{"weights", weights}, {"kernel", best->kernel}, {"cpu_nodes", cpu_nodes}},
      fmt::format(
          "{} of {} CPUs{} over memory interleaved by the best weights found ({})", best->kernel,
          report.workers.size(),
          nodes.empty() ? "" : (nodes.size() > 1 ? " (nodes " : " (node ") + cpu_nodes + ")",
          weights),
      "B/s", *range)};
  const ScenarioResult* const nearest = point_of(report, nearest_alone);
  const auto alone = nearest != nullptr ? rate_of(*nearest) : std::nullopt;
  if (alone) {
    facts.push_back(fact_of("weights_times", {{"weights", weights}},
                            "that against each CPU's nearest node alone", "1",
                            ratio_of(*range, *alone)));
  }
  return facts;
}

std::vector<SurveyFact> transfer_facts(const RunReport& report) {
  std::vector<SurveyFact> facts;
  for (const ScenarioResult& point : report.scenarios) {
    const std::string measure = label_of(point, "measure"), gpu = label_of(point, "gpus"),
                      memory = label_of(point, "memory"), direction = label_of(point, "direction");
    std::vector<std::pair<std::string, std::string>> where{{"gpu", gpu}};
    if (!memory.empty()) where.emplace_back("memory", memory);
    if (!direction.empty()) where.emplace_back("direction", direction);
    const std::string size = compact_text(point.size), place = place_words(memory);
    const char* const way = direction == "h2d"   ? "to the GPU from"
                            : direction == "d2h" ? "from the GPU to"
                                                 : "both ways at once, GPU and";
    const auto rate = sum_of(point, "bandwidth_sum");
    if (measure == "copies" && rate) {
      where.emplace_back("pinning", label_of(point, "pinning"));
      facts.push_back(fact_of("gpu_copy_rate", std::move(where),
                              fmt::format("GPU {}: copies of {} {} {}", gpu, size, way, place),
                              "B/s", *rate));
    } else if (measure == "latency") {
      where.emplace_back("size", std::to_string(point.size.value));
      if (const auto time = median_over_flows(point, "copy_time"))
        facts.push_back(fact_of("gpu_copy_time", std::move(where),
                                fmt::format("GPU {}: one copy of {} {} {}", gpu, size, way, place),
                                "s", *time));
    } else if (measure == "chase") {
      where.emplace_back("caches", label_of(point, "caches"));
      if (const auto time = median_over_flows(point, "latency"))
        facts.push_back(fact_of("gpu_latency", std::move(where),
                                fmt::format("GPU {}: a load from memory of {}", gpu, place), "s",
                                *time));
    } else if (measure == "peer" && rate) {
      facts.push_back(fact_of("gpu_peer_rate", {{"gpus", gpu}},
                              fmt::format("copies of {} between GPUs {}", size, gpu), "B/s",
                              *rate));
    }
  }
  return facts;
}

}  // namespace numatlas
