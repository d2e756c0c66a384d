#include "compare/places.h"

#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace numatlas {
namespace {

std::optional<int> number_in(std::string_view text) {
  int number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
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

MeasuredPlaces places_of(const StoredFile& stored) {
  MeasuredPlaces places;
  places.file = stored.file;
  std::map<std::pair<int, NodeId>, Directions> copies;
  for (const StoredRun& run : stored.runs) {
    for (const Fact& fact : run.facts) {
      const auto cpus = number_in(where_of(fact, "cpu_node")),
                 memory = number_in(where_of(fact, "memory_node"));
      if (cpus && memory && fact.key == "matrix_bandwidth")
        places.bandwidth.try_emplace({NodeId{*cpus}, NodeId{*memory}}, rate_of(fact));
      if (cpus && memory && fact.key == "matrix_latency")
        places.latency.try_emplace({NodeId{*cpus}, NodeId{*memory}}, fact.estimate.value);
      if (fact.key != "gpu_copy_rate") continue;
      constexpr std::string_view bind = "bind:";
      const std::string where = where_of(fact, "memory");
      const auto gpu = number_in(where_of(fact, "gpu"));
      const auto node = where.starts_with(bind)
                            ? number_in(std::string_view(where).substr(bind.size()))
                            : std::nullopt;
      if (gpu && node)
        copies[{*gpu, NodeId{*node}}].try_emplace(where_of(fact, "direction"), rate_of(fact));
    }
  }
  for (const auto& [place, directions] : copies)
    places.gpu_rate[place.first][place.second] = mean_of(directions);
  return places;
}

Expected<StoredFile> read_atlas_file(const std::string& path) {
  auto stored = read_stored(path);
  if (stored) return stored;
  Error error = stored.error();
  error.subject = "--atlas" + (error.subject.empty() ? "" : " " + error.subject);
  error.hint = "name a survey.json of `numatlas survey`, or a file that --json wrote";
  return fail(std::move(error));
}

Expected<MeasuredPlaces> read_places(const std::string& path) {
  const auto stored = read_atlas_file(path);
  if (!stored) return fail(stored.error());
  MeasuredPlaces places = places_of(*stored);
  if (places.bandwidth.empty() && places.latency.empty() && places.gpu_rate.empty())
    return fail_about(ErrorKind::unavailable, "--atlas " + stored->file,
                      "has no figures of nodes or GPUs",
                      "`numatlas survey`, or matrix and transfer with --json, measure them");
  return places;
}

}  // namespace numatlas
