// One quantity of a case or a flow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/distribution.h"
#include "record/estimate.h"

namespace numatlas {

enum class Better { lower, higher };

/// Unit of a figure that a program prints of itself and of which less is better.
inline constexpr const char* unit_of_cost = "cost";

/// Which way a quantity of this unit is better: times and costs when lower, rates and shares when
/// higher.
Better better_of(const std::string& unit);

/// A value of that unit as people read it: "4.00 ns", "94.19 GB/s", "0.880".
std::string quantity_text(double value, const std::string& unit);

struct Figure {
  std::string key;                   ///< "latency", "bandwidth_sum"
  std::string unit;                  ///< SI: "s", "B/s", "1/s"; "1" for shares
  std::optional<Estimate> estimate;  ///< absent when it could not be measured
  std::optional<Summary> summary;    ///< of the samples, where there are several
  Distribution distribution{};       ///< of these samples in fine bins; of one visit only

  std::optional<double> value() const {
    return estimate ? std::optional<double>(estimate->value) : std::nullopt;
  }
};

/// Half width of its interval over its value; absent without an interval.
std::optional<double> half_width(const Figure& figure);

/// The figure of that key; nullptr where there is none.
const Figure* find_figure(const std::vector<Figure>& figures, const std::string& key);

}  // namespace numatlas
