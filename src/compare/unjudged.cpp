// Hosts that cannot be judged, whatever their figures are: of which results are missing or old.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/check_parts.h"
#include "report/openmetrics.h"

namespace numatlas {
namespace {

std::string age_text(std::int64_t seconds) {
  if (seconds % seconds_per_day == 0) return count_text(seconds / seconds_per_day, "day");
  return fmt::format("{:.3g} hours", static_cast<double>(seconds) / (60 * 60));
}

}  // namespace

void mark_old(const CheckRule& rule, std::map<std::string, CheckedHost>& hosts) {
  // Runs of one night are no further apart.
  constexpr std::int64_t seconds_of_night = std::int64_t{18} * 60 * 60;
  std::vector<std::string> starts;  // the newest first
  for (const auto& [name, host] : hosts)
    if (unix_seconds(host.newest)) starts.push_back(host.newest);
  if (starts.empty()) return;
  std::ranges::sort(starts, std::greater<>());
  // One host that measured again, or a few of many, are no night.
  const std::size_t few =
      starts.size() == 2 ? 1 : std::max<std::size_t>(2, (starts.size() + 3) / 4);
  const std::string& night = starts[std::min(few, starts.size()) - 1];
  const std::int64_t max_age = rule.max_age.value_or(CheckRule::usual_age);
  // Whoever allows for more than two days does not measure each night.
  const bool each_night = !rule.max_age || max_age <= 2 * seconds_per_day;
  const std::int64_t from = rule.now.value_or(*unix_seconds(starts.front()));
  for (auto& [name, host] : hosts) {
    const auto newest = unix_seconds(host.newest);
    if (!newest) continue;
    const std::string brief = "last seen " + date_text(host.newest);
    std::string reason;
    if (from - *newest > max_age)
      reason = fmt::format("last result from {}, older than {} (--max-age)", day_of(host.newest),
                           age_text(max_age));
    else if (each_night && *unix_seconds(night) - *newest > seconds_of_night)
      reason = fmt::format("last result from {}, before the last night of the others ({})",
                           day_of(host.newest), day_of(night));
    if (reason.empty()) continue;
    host.judged = false;
    host.unjudged.push_back({"", reason, brief});
  }
}

void add_open(const std::vector<OpenHost>& open, std::map<std::string, CheckedHost>& hosts) {
  for (const OpenHost& one : open) {
    auto place = std::ranges::find_if(
        hosts, [&](const auto& host) { return is_same_name(host.first, one.name); });
    if (place == hosts.end()) place = hosts.try_emplace(one.name).first;
    CheckedHost& host = place->second;
    host.name = place->first;
    host.judged = false;
    host.unjudged.push_back({"", one.reason, one.brief});
  }
}

}  // namespace numatlas
