// A kind of claim that firmware or kernel makes about a machine, and how it is held against what
// was measured. They are in audit/claims/, in a file for each of those who claim something.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "machine/machine.h"
#include "record/estimate.h"
#include "record/report.h"
#include "record/unit.h"

namespace numatlas {

/// What a machine is used for, as --for states it.
enum class MachineUse { throughput, latency, hpc };
const char* name_of(MachineUse use);

enum class ClaimOutcome { confirmed, contradicted, not_measurable };
/// "confirmed", "contradicted", "not judged here".
const char* name_of(ClaimOutcome outcome);

/// What became of one claim of a machine.
struct ClaimVerdict {
  std::string about;      ///< which of its kind: "node 2 latency"; another for each verdict
  std::string claimed{};  ///< for people: "2.43 times that of node 0"
  std::optional<double> claimed_value{};  ///< the same, in `unit`
  Unit unit{};                            ///< none without a figure
  std::string reason{};                   ///< why it is not judged here
  ClaimOutcome outcome = ClaimOutcome::not_measurable;
  std::optional<Estimate> measured{};  ///< what the claim was held against, where it is a figure
  std::string found{};                 ///< the same for people
  /// The same with the claim, for the first line: "1.40 times node 0's, claimed 2.43"; "": `found`.
  std::string short_found{};
  std::string next{};   ///< of a contradicted claim: what to check next
  std::string claim{};  ///< its kind: the name of its Claim
};

/// "claimed ...; found ..."; one line without claim and subject.
std::string to_text(const ClaimVerdict& verdict);
/// The verdict, with what is known of it: its subject, and perhaps what is claimed.
ClaimVerdict not_measurable(ClaimVerdict verdict, std::string reason);

/// All that claims are judged by.
struct AuditInput {
  const Machine& machine;
  const std::vector<RunReport>& reports;       ///< of the benchmarks that ran
  std::map<std::string, std::string> skipped;  ///< benchmark -> why it did not run
  std::optional<MachineUse> use{};
  double peak_share = 0.6;  ///< of the modules' theoretical peak that all CPUs have to reach

  /// The first fact of that key that has all of these labels; nullptr where there is none.
  const Fact* find(const std::string& key,
                   const std::vector<std::pair<std::string, std::string>>& where = {}) const;
  /// All facts of a key.
  std::vector<const Fact*> all(const std::string& key) const;
  /// Of a benchmark that ran, by its name in a survey; nullptr where it did not.
  const RunReport* report_of(const std::string& benchmark) const;
  /// The machine as such a benchmark knows it, with what drivers of GPUs say; this one without.
  const Machine& machine_of(const RunReport* report) const {
    return report != nullptr && !report->machines.empty() ? report->machines.front() : machine;
  }
  /// Why a benchmark has no figure.
  std::string why_no(const std::string& benchmark) const;
  /// Idle latency of one CPU of a node to memory of a node; nullptr where it was not measured.
  const Estimate* latency(NodeId cpus, NodeId memory) const {
    return cell("latency", cpus, memory);
  }
  /// Read bandwidth of all CPUs of a node.
  const Estimate* bandwidth(NodeId cpus, NodeId memory) const {
    return cell("bandwidth", cpus, memory);
  }

 private:
  const Estimate* cell(const std::string& what, NodeId cpus, NodeId memory) const;
};

struct Claim {
  const char* name;       ///< a word of --only
  const char* summary;    ///< what is held against what, in a line
  const char* benchmark;  ///< whose figures it takes; "": none
  /// Whether this machine claims something of the kind that is to be measured.
  bool (*applies)(const Machine& machine);
  /// Pure. Nothing where the machine claims nothing and nobody would expect it to; with --only the
  /// audit then says so.
  std::vector<ClaimVerdict> (*judge)(const AuditInput& input);
  /// With which options it wants the benchmark measured; none: as a survey does.
  std::vector<std::string> (*words)(const Machine& machine) = nullptr;
};

extern const Claim slit_claim, hmat_claim, tiers_claim, weights_claim, dimms_claim, caches_claim,
    links_claim, gpu_memory_claim, settings_claim;

/// All claims, in the order of the table.
const std::vector<const Claim*>& all_claims();

// When a measured figure contradicts a claimed one, and how both are written.

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

/// One is more than the other by more than `same_part`, whatever their intervals leave open.
bool clearly_more(const Estimate& one, const Estimate& other);

/// A verdict on a figure: contradicted where all of its interval is more than `factor` away from
/// what is claimed. It is not judged without an interval, or where the figure itself is more
/// than `factor` away but its interval is not.
ClaimVerdict judged(ClaimVerdict verdict, const Estimate& measured, double claimed, double factor,
                    const std::string& next);
/// A verdict on a rate of which a share of `limit` is expected (`claimed_value`): contradicted
/// where the whole interval lies below, confirmed where none of it does; else not judged here.
ClaimVerdict judged_share(ClaimVerdict verdict, const Fact& fact, double limit,
                          const std::string& next);
/// A verdict on a claim that nothing else is better, by how many times the better of the others is
/// better (`measured`): contradicted where all of its interval lies above 1 by more than
/// `same_part`, confirmed where all of it lies below twice that; between, or without an interval,
/// it is not judged here.
ClaimVerdict judged_best(ClaimVerdict verdict, const Estimate& times, const std::string& next);
/// The outcome of what was found, by three answers: nullopt for too uncertain an interval.
ClaimVerdict decided(ClaimVerdict verdict, bool has_interval, const std::optional<bool>& wrong,
                     const std::string& next);
/// What was measured while something else used a host of a run contradicts nothing.
void spare_disturbed(std::vector<ClaimVerdict>& verdicts, const std::vector<RunReport>& reports);
/// "1.40 times node 0's, claimed 2.43": `short_found` of a ratio to a node.
std::string short_ratio(double found, NodeId node, const std::string& claimed);

}  // namespace numatlas
