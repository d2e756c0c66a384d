// Which interleave weights to try: a coarse grid first, then ever closer round the best. Pure.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "placement/placement.h"
#include "record/report.h"

namespace numatlas {

/// Weight of each node, ascending; without a common divisor, so that runs of pages are short.
using Weights = std::vector<std::pair<NodeId, int>>;

/// All weights from 1 that add up to a few pages, in the proportions that this gives, equal ones
/// first. One node: its weight alone.
std::vector<Weights> coarse_grid(const NodeSet& nodes);

/// One step from `weights` in each direction, in the grid of this round (1, 2, ...), each twice as
/// fine as the one before. Precondition: `weights` lie in the grid of the round before.
std::vector<Weights> neighbours(const Weights& weights, int round);

/// 1 for each of these nodes.
Weights equal_weights(Weights weights);

/// "0=3,2=1", as the placement grammar writes it and the points' label "weights" has it.
std::string text_of(const Weights& weights);

/// Of a point's label; empty for the nearest node alone.
Weights weights_of(const Case& one);

/// How a point of the search stands in the report: labels "weights" and "round".
inline constexpr const char* weights_label = "weights";
inline constexpr const char* round_label = "round";
inline constexpr const char* nearest_alone = "nearest";  ///< instead of weights
inline constexpr const char* final_round = "final";      ///< instead of a number

/// Bandwidth of all workers of a point in B/s; nullopt when it was not measured.
std::optional<Estimate> rate_of(const Case& one);

/// The fastest weights; nullptr before any are measured. Once points were measured again, of these
/// alone: the best of many noisy points owes a part of its lead to chance.
const Case* best_point(const RunReport& report);
/// The point with this label, the one that was measured again where there are two; nullptr when it
/// was not measured.
const Case* point_of(const RunReport& report, const std::string& weights);

/// What to try next, and its round: finer weights; once a round has brought nothing that can be
/// told, and after the last one, the best few again, in turn with equal weights and the nearest
/// node alone (empty). Nothing after that, of one node, or where nothing was measured.
struct Next {
  std::string round;
  std::vector<Weights> weights;
};
Next next_round(const RunReport& report);

/// Bandwidth of a point over that of another: the mean of the ratios between visits of one round,
/// by their logarithms, so that a slow change of the machine meets both alike. `best` is the best
/// of several: the interval holds whichever of them it is. Of points that were not measured again
/// in turn, or have fewer than `least_visits` rounds in common, what both intervals leave open.
/// nullopt where one was not measured.
std::optional<Estimate> gain_of(const RunReport& report, const Case& best, const Case& other);

}  // namespace numatlas
