#include "record/figure.h"

#include <algorithm>

namespace numatlas {

std::optional<double> half_width(const Figure& figure) {
  return figure.estimate ? half_width(*figure.estimate) : std::nullopt;
}

const Figure* find_figure(const std::vector<Figure>& figures, const std::string& key) {
  const auto found = std::ranges::find(figures, key, &Figure::key);
  return found == figures.end() ? nullptr : &*found;
}

}  // namespace numatlas
