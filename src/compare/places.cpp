#include "compare/places.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/tree.h"

namespace numatlas {
namespace {

std::optional<int> number_in(const Fact& fact, const char* label) {
  return number_after(where_of(fact, label), "");
}

MeasuredPlaces::Rate rate_of(const Fact& fact) {
  const Estimate& estimate = fact.estimate;
  return {estimate.value, estimate.low.value_or(estimate.value),
          estimate.high.value_or(estimate.value)};
}

/// Of a GPU and a node: the rate of each direction; the first of several with other options.
using Directions = std::map<std::string, MeasuredPlaces::Rate>;

/// Both ways in turn say more of a place than one of them, or than both at once.
MeasuredPlaces::Rate mean_of(const Directions& directions) {
  MeasuredPlaces::Rate sum;
  double count = 0;
  const bool apart = directions.contains("h2d") || directions.contains("d2h");
  for (const auto& [direction, rate] : directions) {
    if (apart && direction != "h2d" && direction != "d2h") continue;
    sum.value += rate.value;
    sum.low += rate.low;
    sum.high += rate.high;
    ++count;
  }
  return {sum.value / count, sum.low / count, sum.high / count};
}

}  // namespace

MeasuredPlaces places_of(const Results& stored) {
  MeasuredPlaces places;
  places.file = stored.file;
  std::map<std::pair<int, NodeId>, Directions> copies;
  for (const Rows& run : stored.runs) {
    if (!run.machines.empty() && places.nodes.empty()) {
      places.cpu_model = run.machines.front().cpu_model;
      for (const NumaNode& node : run.machines.front().nodes)
        if (node.may_have_memory()) places.nodes.insert(node.id);
    }
    for (const Fact& fact : run.facts) {
      const auto cpus = number_in(fact, "cpu_node"), memory = number_in(fact, "memory_node");
      if (cpus && memory && fact.key == "matrix_bandwidth")
        places.bandwidth.try_emplace({NodeId{*cpus}, NodeId{*memory}}, rate_of(fact));
      if (cpus && memory && fact.key == "matrix_latency")
        places.latency.try_emplace({NodeId{*cpus}, NodeId{*memory}}, fact.estimate.value);
      if (fact.key != "gpu_copy_rate") continue;
      const auto gpu = number_in(fact, "gpu");
      const auto node = number_after(where_of(fact, "memory"), "bind:");
      if (gpu && node)
        copies[{*gpu, NodeId{*node}}].try_emplace(where_of(fact, "direction"), rate_of(fact));
    }
  }
  for (const auto& [place, directions] : copies)
    places.gpu_rate[place.first][place.second] = mean_of(directions);
  return places;
}

Expected<Results> read_atlas_file(const std::string& path) {
  auto stored = read_stored(path);
  if (stored) return stored;
  Error error = stored.error();
  error.subject = "--atlas" + (error.subject.empty() ? "" : " " + error.subject);
  error.hint = "name a survey.json of `numatlas survey`, or a file that --json wrote";
  return fail(std::move(error));
}

Expected<MeasuredPlaces> read_places(const std::string& path) {
  const auto stored = TRY(read_atlas_file(path));
  MeasuredPlaces places = places_of(stored);
  if (places.bandwidth.empty() && places.latency.empty() && places.gpu_rate.empty())
    return fail_about(ErrorKind::unavailable, "--atlas " + stored.file,
                      "has no figures of nodes or GPUs",
                      "`numatlas survey`, or matrix and transfer with --json, measure them");
  return places;
}

}  // namespace numatlas
