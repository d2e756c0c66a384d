// Statistics of raw samples: nothing is thrown away, order statistics before moments.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace numatlas {

/// What a set of samples says. Values in the unit of the samples.
struct Summary {
  std::size_t n = 0;
  double median = 0;
  /// 95 % confidence interval of the median from order statistics (Hoefler & Belli, SC'15,
  /// after Le Boudec): ranks floor((n - 1.96 sqrt n) / 2) and ceil(1 + (n + 1.96 sqrt n) / 2).
  /// Absent below 6 samples, where these ranks do not exist.
  std::optional<double> ci_low, ci_high;
  double p5 = 0, p25 = 0, p75 = 0, p95 = 0, p99 = 0;
  double min = 0, max = 0;
  double mean = 0;               ///< arithmetic: right for costs such as ns an access
  std::optional<double> stddev;  ///< sample standard deviation; absent for one sample
  double mad = 0;                ///< median absolute deviation, unscaled
  std::size_t outliers = 0;      ///< beyond Tukey's 1.5 IQR fences; counted, never removed

  friend bool operator==(const Summary&, const Summary&) = default;
};

/// Summary of any number of samples in any order; nullopt for none.
std::optional<Summary> summarize(std::span<const double> samples);
/// The same of ascending samples.
std::optional<Summary> summarize_sorted(std::vector<double> sorted);

/// Percentile (0..100) of sorted samples, linear between ranks (type 7 of Hyndman & Fan).
double percentile_sorted(std::span<const double> sorted, double percent);

/// Half width of the median's 95 % interval over the median (the larger side). nullopt below 6
/// samples or for a median of zero.
std::optional<double> relative_half_width(std::vector<double> samples);

/// Medians of `blocks` equal stretches of consecutive samples (the last may be longer). Samples
/// taken one after the other are not independent: a slow mood of the machine (another guest, a busy
/// link) moves many of them together, and an interval over all of them is too narrow. The medians
/// of long stretches show such moods (batch means, with medians: Law & Kelton, Simulation Modeling
/// and Analysis). Needs at least `blocks` samples, else empty.
std::vector<double> block_medians(std::span<const double> samples, std::size_t blocks);

struct Interval {
  double low = 0, high = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// The least interval that has both.
Interval hull(const Interval& a, const Interval& b);
bool overlap(const Interval& a, const Interval& b);

/// The wider of the interval over all samples and of that over their blocks (`half_width`,
/// relative), which knows of slow moods; it has the value and nothing below 0. Absent below 6
/// samples.
std::optional<Interval> interval_of(double value, const Summary& summary,
                                    const std::optional<double>& half_width);

}  // namespace numatlas
