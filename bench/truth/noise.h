// Known truth: how fast a machine that does not exist is at each moment of a virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "base/units.h"
#include "engine/simulated/noise.h"

namespace numatlas::truth {

/// First-order autoregressive, normal: correlation time and standard deviation of the speed.
struct Ar1Noise {
  Nanoseconds tau{0};
  double sd = 0;
};
/// Two speeds, 1 and `low`; each is kept for an exponential time with mean `dwell`.
struct TelegraphNoise {
  double low = 1;
  Nanoseconds dwell{0};
};
/// From 1 - by / 2 to 1 + by / 2 over a time; constant from then on.
struct DriftNoise {
  double by = 0;
  Nanoseconds over{0};
};
/// The speed is `low` for `last`, at exponential intervals with mean `every`.
struct SpikeNoise {
  Nanoseconds every{0}, last{0};
  double low = 0;
};

/// What varies. All flows of a run see the same machine, so everything but `samples` is one course
/// over the virtual time.
struct NoiseSpec {
  double samples = 0;  ///< standard deviation of the logarithm of each sample's time; its mean is 1
  std::optional<Ar1Noise> ar1 = {};
  std::optional<TelegraphNoise> telegraph = {};
  std::optional<DriftNoise> drift = {};
  std::optional<SpikeNoise> spikes = {};
  double launch = 0;    ///< standard deviation of a factor for the whole run
  Nanoseconds rest{0};  ///< between a visit and the next
  std::uint64_t seed = 1;
};

/// One course of the speed, 1 being full speed. The same specification gives the same course,
/// whatever is asked of it in whatever order.
class SpeedOverTime {
 public:
  explicit SpeedOverTime(const NoiseSpec& spec);

  /// When work that takes `work_ns` at full speed has ended, if it starts at `start_ns` >= 0.
  double end_of(double start_ns, double work_ns);
  /// Mean over a part of the course, in ns.
  double mean_between(double from_ns, double to_ns);
  /// What is expected of a long time without drift; the factor of the launch included.
  double expected() const;

 private:
  double cell(std::size_t index);

  NoiseSpec spec_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::vector<float> cells_;  ///< the speed in each tenth of a millisecond, as far as was asked for
  double launch_ = 1, ar1_ = 0;
  bool slow_ = false;
  double changes_ = 0, next_spike_ = 0, spike_ends_ = -1;  ///< ns
};

/// For one run of the simulated machine, with a course of its own.
Noise noise_of(const NoiseSpec& spec);

}  // namespace numatlas::truth
