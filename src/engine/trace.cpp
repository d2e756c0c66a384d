// What follows from a trace alone.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/scenario.h"

namespace numatlas {

const char* name_of(StopReason reason) {
  switch (reason) {
    case StopReason::time_cap: return "time_cap";
    case StopReason::interrupted: return "interrupted";
    case StopReason::passes: return "passes";
  }
  return "interrupted";
}

std::vector<double> nanoseconds_per_step(const Trace& trace) {
  std::vector<double> times;
  times.reserve(trace.samples.size());
  for (const Sample& sample : trace.samples) {
    times.push_back(static_cast<double>(sample.duration_ns) /
                    static_cast<double>(trace.steps_per_sample));
  }
  return times;
}

namespace {

/// A piece of the time together without pauses.
struct Piece {
  std::int64_t start_ns, end_ns;
  std::int64_t before_ns;  ///< length of the pieces before it
};

std::vector<Piece> pieces_of(const Trace& trace) {
  std::vector<Piece> pieces;
  std::int64_t start = trace.together_start_ns, before = 0;
  const auto add = [&](std::int64_t end) {
    if (end > start) pieces.push_back({start, end, before});
    before += std::max<std::int64_t>(0, end - start);
  };
  for (const Pause& pause : trace.left_out) {
    add(pause.start_ns);
    start = pause.end_ns;
  }
  add(trace.together_end_ns);
  return pieces;
}

}  // namespace

std::vector<double> steps_by_stretch(const Trace& trace, std::size_t parts) {
  const double length = static_cast<double>(trace.together_ns()) / static_cast<double>(parts);
  if (!(length > 0)) return {};
  const std::vector<Piece> pieces = pieces_of(trace);
  std::vector<double> steps(parts);
  auto piece = pieces.begin();
  for (const Sample& sample : trace.samples) {
    if (sample.duration_ns <= 0) continue;
    while (piece != pieces.end() && piece->end_ns <= sample.start_ns) ++piece;
    for (auto its = piece;
         its != pieces.end() && its->start_ns < sample.start_ns + sample.duration_ns; ++its) {
      // In stretches, counted from the start of the time together.
      const double from =
          static_cast<double>(sample.start_ns - its->start_ns + its->before_ns) / length;
      const double to = from + static_cast<double>(sample.duration_ns) / length;
      const double least = static_cast<double>(its->before_ns) / length;
      const double most = its + 1 == pieces.end()
                              ? static_cast<double>(parts)
                              : static_cast<double>((its + 1)->before_ns) / length;
      const auto first = static_cast<std::size_t>(std::max(least, from));
      for (std::size_t i = first; i < parts && static_cast<double>(i) < std::min(to, most); ++i) {
        const auto low = std::max({from, least, static_cast<double>(i)});
        const auto high = std::min({to, most, static_cast<double>(i + 1)});
        steps[i] += static_cast<double>(trace.steps_per_sample) * (high - low) / (to - from);
      }
    }
  }
  return steps;
}

Nanoseconds time_used(const std::vector<Trace>& traces, const StopRule& rule) {
  std::optional<std::int64_t> first, last;
  for (const Trace& trace : traces) {
    if (trace.samples.empty()) continue;
    const Sample& end = trace.samples.back();
    first = std::min(first.value_or(INT64_MAX), trace.samples.front().start_ns);
    last = std::max(last.value_or(INT64_MIN), end.start_ns + end.duration_ns);
  }
  return first ? Nanoseconds(*last - *first) : rule.time;
}

}  // namespace numatlas
