// A kind of claim that firmware or kernel makes about a machine, and how it is held against what
// was measured. Each is one file in audit/claims/; claims.cpp lists them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "audit/verdict.h"
#include "compare/stored.h"
#include "record/report.h"
#include "run/benchmark.h"

namespace numatlas {

/// What a machine is used for, as --for states it.
enum class MachineUse { throughput, latency, hpc };
const char* name_of(MachineUse use);

/// All that claims are judged by.
struct AuditInput {
  const Machine& machine;
  const std::vector<RunReport>& reports;       ///< of the benchmarks that ran
  std::map<std::string, std::string> skipped;  ///< benchmark -> why it did not run
  std::optional<MachineUse> use{};
  double peak_share = 0.6;       ///< of the modules' theoretical peak that all CPUs have to reach
  std::vector<StoredRun> now{};  ///< this audit, as `compare` and `check` read it

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
  const Estimate* latency(NodeId cpus, NodeId memory) const;
  /// Read bandwidth of all CPUs of a node.
  const Estimate* bandwidth(NodeId cpus, NodeId memory) const;
};

class Claim {
 public:
  virtual ~Claim() = default;
  virtual std::string name() const = 0;     ///< a word of --only
  virtual std::string summary() const = 0;  ///< what is held against what, in a line
  /// Benchmarks whose figures it takes; none where this machine claims nothing of the kind.
  virtual std::vector<std::string> benchmarks(const Machine& machine) const = 0;
  /// With which options it wants one of these measured; none: as a survey does.
  virtual std::vector<std::string> words(const std::string& /*benchmark*/,
                                         const Machine& /*machine*/) const {
    return {};
  }
  /// Pure. Nothing where the machine claims nothing and nobody would expect it to.
  virtual std::vector<ClaimVerdict> judge(const AuditInput& input) const = 0;
};

/// All claims, in the order of the table.
std::vector<std::unique_ptr<Claim>> all_claims();

// The files of audit/claims/.
std::unique_ptr<Claim> make_slit_claim();
std::unique_ptr<Claim> make_hmat_claim();
std::unique_ptr<Claim> make_tiers_claim();
std::unique_ptr<Claim> make_weights_claim();
std::unique_ptr<Claim> make_dimms_claim();
std::unique_ptr<Claim> make_expected_claim();
std::unique_ptr<Claim> make_caches_claim();
std::unique_ptr<Claim> make_links_claim();
std::unique_ptr<Claim> make_gpu_memory_claim();
std::unique_ptr<Claim> make_settings_claim();

}  // namespace numatlas
