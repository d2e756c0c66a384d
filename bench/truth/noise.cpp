#include "noise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>

namespace numatlas::truth {
namespace {

/// Short beside the shortest correlation time of interest, 1 ms.
constexpr double cell_ns = 1e5;
/// Work must end at some time.
constexpr double least_speed = 0.01;

}  // namespace

SpeedOverTime::SpeedOverTime(const NoiseSpec& spec) : spec_(spec), random_(spec.seed) {
  launch_ = std::max(least_speed, 1 + spec.launch * normal_(random_));
  ar1_ = normal_(random_);
  slow_ = (random_() & 1) != 0;
}

double SpeedOverTime::cell(std::size_t index) {
  const auto exponential = [&](Nanoseconds mean) {
    return std::exponential_distribution<double>(1 / static_cast<double>(mean.count()))(random_);
  };
  if (cells_.empty()) {
    if (spec_.telegraph) changes_ = exponential(spec_.telegraph->dwell);
    if (spec_.spikes) next_spike_ = exponential(spec_.spikes->every);
  }
  while (cells_.size() <= index) {
    const double now = static_cast<double>(cells_.size()) * cell_ns;
    double speed = launch_;
    if (spec_.ar1) {
      speed *= 1 + spec_.ar1->sd * ar1_;
      const double kept = std::exp(-cell_ns / static_cast<double>(spec_.ar1->tau.count()));
      ar1_ = kept * ar1_ + std::sqrt(1 - kept * kept) * normal_(random_);
    }
    if (spec_.telegraph) {
      while (changes_ <= now) {
        slow_ = !slow_;
        changes_ += exponential(spec_.telegraph->dwell);
      }
      if (slow_) speed *= spec_.telegraph->low;
    }
    if (spec_.drift) {
      const double way = std::min(1.0, now / static_cast<double>(spec_.drift->over.count()));
      speed *= 1 + spec_.drift->by * (way - 0.5);
    }
    if (spec_.spikes) {
      while (next_spike_ <= now) {
        spike_ends_ = next_spike_ + static_cast<double>(spec_.spikes->last.count());
        next_spike_ = spike_ends_ + exponential(spec_.spikes->every);
      }
      if (now < spike_ends_) speed *= spec_.spikes->low;
    }
    cells_.push_back(static_cast<float>(std::max(least_speed, speed)));
  }
  return cells_[index];
}

double SpeedOverTime::end_of(double start_ns, double work_ns) {
  double now = start_ns, left = work_ns;
  for (auto index = static_cast<std::size_t>(now / cell_ns);; ++index) {
    const double speed = cell(index);
    const double cell_ends = static_cast<double>(index + 1) * cell_ns;
    const double done = (cell_ends - now) * speed;
    if (done >= left) return now + left / speed;
    left -= done;
    now = cell_ends;
  }
}

double SpeedOverTime::mean_between(double from_ns, double to_ns) {
  double sum = 0, now = from_ns;
  for (auto index = static_cast<std::size_t>(now / cell_ns); now < to_ns; ++index) {
    const double until = std::min(to_ns, static_cast<double>(index + 1) * cell_ns);
    sum += (until - now) * cell(index);
    now = until;
  }
  return sum / (to_ns - from_ns);
}

double SpeedOverTime::expected() const {
  double speed = launch_;
  if (spec_.telegraph) speed *= (1 + spec_.telegraph->low) / 2;
  if (spec_.spikes) {
    const auto last = static_cast<double>(spec_.spikes->last.count());
    const double share = last / (last + static_cast<double>(spec_.spikes->every.count()));
    speed *= 1 - share * (1 - spec_.spikes->low);
  }
  return speed;
}

Noise noise_of(const NoiseSpec& spec) {
  const auto speed = std::make_shared<SpeedOverTime>(spec);
  return {.samples = spec.samples,
          .seed = spec.seed,
          .rest = spec.rest,
          .end_of = [speed](double start_ns, double work_ns) {
            return speed->end_of(start_ns, work_ns);
          }};
}

}  // namespace numatlas::truth
