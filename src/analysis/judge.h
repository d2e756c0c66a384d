// The core of all verdicts on what is slower: a figure against a reference (record/uncertain.h),
// and which of many such differences stand. What asks the questions stands beside it: sides.h of
// two sides, peers.h of hosts and of their past. Pure.
#pragma once

#include <vector>

#include "record/estimate.h"

namespace numatlas {

/// What peers have in common, whatever a few of them do: their median, with the scaled median
/// absolute deviation of one peer (of few corrected; Croux & Rousseeuw, "Time-efficient algorithms
/// for two highly robust estimators of scale", COMPSTAT 1992), which is at least this part of the
/// median. Undefined for none.
Uncertain reference_of_peers(std::vector<double> values, double least_spread);

/// Reorders a copy. Undefined for no values.
double median_of(std::vector<double> values);

/// How the chances of many differences are taken together.
enum class Procedure {
  holm,               ///< `risk` of any false one: Scandinavian Journal of Statistics 6 (1979)
  benjamini_hochberg  ///< of those that stand, this part is false: JRSS B 57 (1995)
};
/// Which of them stand. `chances`: how likely each is where nothing is wrong.
std::vector<bool> standing(const std::vector<double>& chances, Procedure procedure, double risk);

}  // namespace numatlas
