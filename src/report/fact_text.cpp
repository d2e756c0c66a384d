#include "report/fact_text.h"

#include <fmt/format.h>

#include "record/estimate.h"

namespace numatlas {

bool has_star(const Fact& fact) {
  return fact.unit.is_time_or_rate() && is_of_few_visits(fact.estimate);
}

std::string star_words() { return fmt::format("* fewer than {} visits", least_visits); }

std::string star_note() {
  return star_words() + ": the interval does not cover changes between visits";
}

std::string figure_text(const Fact& fact) {
  const bool star = has_star(fact) && !is_unknown(fact.estimate) && half_width(fact.estimate);
  return estimate_text(fact.estimate, fact.unit) + (star ? "*" : "");
}

}  // namespace numatlas
