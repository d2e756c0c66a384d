// One quantity of a case or a flow.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/boxed.h"
#include "record/distribution.h"
#include "record/estimate.h"
#include "record/unit.h"

namespace numatlas {

struct Figure {
  std::string key;  ///< "latency", "bandwidth_sum"
  Unit unit;
  std::optional<Estimate> estimate;  ///< absent when it could not be measured
  Boxed<Summary> summary;            ///< of the samples, where there are several
  Distribution distribution{};       ///< of these samples in fine bins; of one visit only

  std::optional<double> value() const {
    return estimate ? std::optional<double>(estimate->value) : std::nullopt;
  }
};

/// Half width of its interval over its value; absent without an interval.
inline std::optional<double> half_width(const Figure& figure) {
  return figure.estimate ? half_width(*figure.estimate) : std::nullopt;
}

/// The figure of that key; nullptr where there is none.
inline const Figure* find_figure(const std::vector<Figure>& figures, const std::string& key) {
  const auto found = std::ranges::find(figures, key, &Figure::key);
  return found == figures.end() ? nullptr : &*found;
}

}  // namespace numatlas
