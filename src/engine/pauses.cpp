#include "engine/pauses.h"

#include <algorithm>

namespace numatlas {

std::vector<Pause> merged(std::vector<Pause> pauses) {
  std::sort(pauses.begin(), pauses.end(),
            [](const Pause& a, const Pause& b) { return a.start_ns < b.start_ns; });
  std::vector<Pause> all;
  for (const Pause& one : pauses) {
    if (one.end_ns <= one.start_ns) continue;
    if (all.empty() || one.start_ns > all.back().end_ns)
      all.push_back(one);
    else
      all.back().end_ns = std::max(all.back().end_ns, one.end_ns);
  }
  return all;
}

std::vector<Pause> within(const std::vector<Pause>& pauses, std::int64_t start_ns,
                          std::int64_t end_ns) {
  std::vector<Pause> inside;
  for (const Pause& one : pauses) {
    const Pause part{std::max(one.start_ns, start_ns), std::min(one.end_ns, end_ns)};
    if (part.start_ns < part.end_ns) inside.push_back(part);
  }
  return inside;
}

std::int64_t length_of(const std::vector<Pause>& pauses) {
  std::int64_t sum = 0;
  for (const Pause& one : pauses) sum += one.end_ns - one.start_ns;
  return sum;
}

CommonTime common_time(const Pause& window, const std::vector<Pause>& own,
                       const std::vector<Pause>& all, std::int64_t last_start_ns) {
  const std::int64_t start = window.start_ns, end = window.end_ns;
  const std::int64_t ran = end - start - length_of(within(own, start, end));
  const std::int64_t from = std::clamp(last_start_ns, start, std::max(start, end));
  CommonTime found;
  found.left_out = within(all, from, end);
  const std::int64_t common = end - from - length_of(found.left_out);
  if (ran > 0) found.overlap = static_cast<double>(common) / static_cast<double>(ran);
  const std::vector<Pause> own_there = within(own, from, end);
  // Below this what is left says too little of the whole.
  constexpr std::int64_t least_part = 2;
  if (least_part * common < end - from - length_of(own_there)) found.left_out = own_there;
  return found;
}

}  // namespace numatlas
