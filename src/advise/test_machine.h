// For tests and benches: a machine on which runs of programs take times that are known.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "advise/race.h"

namespace numatlas {

struct Disturbance {
  double change = 0.002;    ///< probability before each run that the machine changes its speed
  double deviation = 0.02;  ///< normal, of the logarithm of each run
};

/// A run of candidate i takes truth[i], times noise: a deviation of each run, 10 % more in one run
/// of 50, which something disturbed; and what neighbouring runs share: a drift of 1 % from run to
/// run, and two speeds of the machine, 30 % apart.
class SimulatedMachine {
 public:
  SimulatedMachine(std::vector<double> truth, std::uint64_t seed, Disturbance disturbance = {})
      : truth_(std::move(truth)), random_(seed), disturbance_(disturbance) {}

  RunValue run(std::size_t candidate) {
    drift_ = 0.95 * drift_ + 0.01 * normal_(random_);
    if (uniform_(random_) < disturbance_.change) slow_ = !slow_;
    double log = std::log(truth_[candidate]) + drift_ + (slow_ ? 0.3 : 0) +
                 disturbance_.deviation * normal_(random_);
    if (uniform_(random_) < 0.02) log += 0.1;
    return {std::exp(log), "", false};
  }

 private:
  std::vector<double> truth_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  Disturbance disturbance_;
  double drift_ = 0;
  bool slow_ = false;
};

}  // namespace numatlas
