#include "benchmarks/transfer/facts.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/size_list.h"
#include "benchmarks/copy/views.h"
#include "record/labels.h"

namespace numatlas {
namespace {

constexpr std::size_t most_gpus_shown = 4;

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
  for (std::size_t i = 0; i < gpus.size() && i < most_gpus_shown; ++i) show_best(facts, gpus[i]);
  for (Fact& fact : facts) {
    if (fact.key != "gpu_peer_rate") continue;
    fact.heading = "GPUs";
    fact.line = fact.words + " {}";
    return;
  }
}

}  // namespace

std::vector<Fact> transfer_facts(const RunReport& report) {
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
      where.emplace_back("caches", label_of(point, "caches"));
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

}  // namespace numatlas
