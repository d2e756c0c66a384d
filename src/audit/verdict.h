// What became of one claim of a machine.
#pragma once

#include <optional>
#include <string>

#include "record/estimate.h"
#include "record/unit.h"

namespace numatlas {

enum class ClaimOutcome { confirmed, contradicted, not_measurable };
/// "confirmed", "contradicted", "not measurable".
const char* name_of(ClaimOutcome outcome);

struct ClaimVerdict {
  std::string claim;  ///< as --only names it: "hmat"
  std::string about;  ///< which of these: "node 2 latency"; with `claim` another for each verdict
  ClaimOutcome outcome = ClaimOutcome::not_measurable;
  std::string claimed;                    ///< for people: "2.43 times that of node 0"
  std::optional<double> claimed_value{};  ///< the same, in `unit`
  std::string found{};                    ///< what the claim was held against, for people
  /// The same with the claim, for the summary line: "1.40 times node 0's, claimed 2.43"; "":
  /// `found`.
  std::string short_found{};
  std::optional<Estimate> measured{};  ///< the same, where it is a figure
  Unit unit{};                         ///< none without a figure
  std::string next{};                  ///< of a contradicted claim: what to check next
  std::string reason{};                ///< why it is not measurable
};

/// "confirmed: claimed ..., measured ..."; one line without claim and subject.
std::string to_text(const ClaimVerdict& verdict);

}  // namespace numatlas
