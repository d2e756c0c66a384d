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

std::vector<double> steps_by_stretch(const Trace& trace, std::size_t parts) {
  const double length = static_cast<double>(trace.together_ns()) / static_cast<double>(parts);
  if (!(length > 0)) return {};
  std::vector<double> steps(parts);
  for (const Sample& sample : trace.samples) {
    if (sample.duration_ns <= 0) continue;
    // In stretches, counted from the start of the time together.
    const double from = static_cast<double>(sample.start_ns - trace.together_start_ns) / length;
    const double to = from + static_cast<double>(sample.duration_ns) / length;
    for (auto i = static_cast<std::size_t>(std::max(0.0, from));
         i < parts && static_cast<double>(i) < to; ++i) {
      const double low = std::max(from, static_cast<double>(i));
      const double high = std::min(to, static_cast<double>(i + 1));
      steps[i] += static_cast<double>(trace.steps_per_sample) * (high - low) / (to - from);
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
