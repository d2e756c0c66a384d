// When a measured figure contradicts a claimed one, and how both are written.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "audit/verdict.h"
#include "base/ids.h"
#include "record/report.h"

namespace numatlas {

/// Firmware's distances are coarse: 10 to 21 stands for anything from 1.3 to 2 times the latency.
/// What is beyond this factor is no rounding.
inline constexpr double slit_factor = 2;
/// Figures that are meant as such (HMAT's ratios, nodes of one tier). Data sheets leave out the
/// TLB and queues of the uncore, about a fifth; a factor of 1.5 is found.
inline constexpr double figure_factor = 1.35;
/// Absolute times and rates depend on the way of measuring more than their ratios do.
inline constexpr double absolute_factor = 2;
/// What is called the same, or no better: launches of one program differ by 2 %.
inline constexpr double same_part = 0.05;

/// Whether a measured figure contradicts a claim: all of its interval is more than `factor` away.
/// nullopt without an interval, which decides nothing.
std::optional<bool> contradicts(const Estimate& measured, double claimed, double factor);

/// One is more than the other by more than `same_part`, whatever their intervals leave open.
bool clearly_more(const Estimate& one, const Estimate& other);

/// A verdict by `contradicts`: its figure, words and outcome. It is not measurable without an
/// interval, or where the figure itself is more than `factor` away but its interval is not.
ClaimVerdict judged(ClaimVerdict verdict, const Estimate& measured, double claimed, double factor,
                    const std::string& next);
/// A verdict on a rate of which a share of `limit` is expected (`claimed_value`): contradicted
/// where the whole interval lies below, confirmed where none of it does; else not measurable.
ClaimVerdict judged_share(ClaimVerdict verdict, const Fact& fact, double limit,
                          const std::string& next);
/// A verdict on a claim that nothing else is better, by how many times the better of the others is
/// better (`measured`): contradicted where all of its interval lies above 1 by more than
/// `same_part`, confirmed where all of it lies below twice that; between, or without an interval,
/// it is not measurable.
ClaimVerdict judged_best(ClaimVerdict verdict, const Estimate& times, const std::string& next);
/// The outcome of what was found, by three answers: nullopt for too uncertain an interval.
ClaimVerdict decided(ClaimVerdict verdict, bool has_interval, const std::optional<bool>& wrong,
                     const std::string& next);
/// What was measured while something else used a host of a run contradicts nothing.
void spare_disturbed(std::vector<ClaimVerdict>& verdicts, const std::vector<RunReport>& reports);
/// "1.40 times node 0's, claimed 2.43": `short_found` of a ratio to a node.
std::string short_ratio(double found, NodeId node, const std::string& claimed);
ClaimVerdict not_measurable(const std::string& claim, const std::string& about,
                            const std::string& reason);

}  // namespace numatlas
