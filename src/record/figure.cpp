#include "record/figure.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include <fmt/format.h>

namespace numatlas {

Better better_of(const std::string& unit) {
  return unit == "s" || unit == unit_of_cost ? Better::lower : Better::higher;
}

std::string quantity_text(double value, const std::string& unit) {
  struct Scale {
    double least;
    const char* prefix;
  };
  const auto with = [&](std::initializer_list<Scale> scales) {
    for (const Scale& scale : scales)
      if (std::abs(value) >= scale.least)
        return fmt::format("{:.2f} {}{}", value / scale.least, scale.prefix, unit);
    const Scale& last = *(scales.end() - 1);
    return fmt::format("{:.2f} {}{}", value / last.least, last.prefix, unit);
  };
  // Latencies stay in ns up to where nobody compares them with a cache's.
  if (unit == "s") {
    if (std::abs(value) < 1e-5) return with({{1e-9, "n"}});
    return with({{1, ""}, {1e-3, "m"}, {1e-6, "u"}});
  }
  if (unit == "B/s") return with({{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}});
  if (unit == "1/s") return with({{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}});
  return unit == "1" ? fmt::format("{:.3f}", value) : fmt::format("{:g} {}", value, unit);
}

std::optional<double> half_width(const Figure& figure) {
  return figure.estimate ? half_width(*figure.estimate) : std::nullopt;
}

const Figure* find_figure(const std::vector<Figure>& figures, const std::string& key) {
  const auto found = std::ranges::find(figures, key, &Figure::key);
  return found == figures.end() ? nullptr : &*found;
}

}  // namespace numatlas
