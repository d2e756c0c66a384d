// Sizes of caches as the kernel shows them against the knees of the latency ladder. A guest, or a
// cache that is partitioned (CAT, MPAM), may have far less than it shows.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "audit/claim.h"
#include "audit/rules.h"

namespace numatlas {
namespace {

// The ladder has two sizes to an octave at best, and the largest one that a cache holds shares it
// with whatever else is there.
constexpr double least_held = 0.6;

class Caches final : public Claim {
 public:
  std::string name() const override { return "caches"; }
  std::string summary() const override {
    return "cache sizes against the sizes at which latency rises";
  }
  std::vector<std::string> benchmarks(const Machine& machine, const MemorySlots&) const override {
    return machine.caches.empty() ? std::vector<std::string>{}
                                  : std::vector<std::string>{"latency"};
  }
  std::vector<ClaimVerdict> judge(const AuditInput& input) const override;

 private:
  ClaimVerdict judge_level(const std::string& level, Bytes shown, const AuditInput& input) const;
};

ClaimVerdict Caches::judge_level(const std::string& level, Bytes shown,
                                 const AuditInput& input) const {
  ClaimVerdict verdict;
  verdict.claim = name();
  verdict.about = level;
  verdict.unit = "B";
  const auto size = static_cast<double>(shown.value);
  verdict.claimed = to_text(shown);
  verdict.claimed_value = size;
  const Fact* const latency = input.find("cache_latency", {{"level", level}});
  if (latency == nullptr) {
    verdict.reason = input.why_no("latency");
    return verdict;
  }
  // Of several kinds of pages that with the fewest misses of the TLB is the one with facts.
  const Fact* const end = input.find("cache_capacity", {{"level", level}});
  if (end == nullptr) {
    verdict.outcome = ClaimOutcome::confirmed;
    verdict.found = fmt::format("all sizes measured up to it are held ({})",
                                figure_text(latency->estimate, "s"));
    return verdict;
  }
  verdict.measured = end->estimate;
  verdict.found = fmt::format("it ends at {}", figure_text(end->estimate, "B"));
  const bool less = end->estimate.high && *end->estimate.high < least_held * size;
  verdict.outcome = less ? ClaimOutcome::contradicted : ClaimOutcome::confirmed;
  if (less)
    verdict.next =
        "whether a hypervisor shows another machine's cache, or the cache is partitioned "
        "(/sys/fs/resctrl) or shared with busy neighbours";
  return verdict;
}

std::vector<ClaimVerdict> Caches::judge(const AuditInput& input) const {
  std::vector<ClaimVerdict> verdicts;
  const CpuSet usable = input.machine.usable_cpus();
  std::set<int> levels;
  for (const Cache& cache : input.machine.caches) levels.insert(cache.level);
  for (const int level : levels) {
    // The ladder runs on the first CPU of a node; of unlike CPUs the first one's cache counts.
    const Cache* const cache =
        usable.empty() ? nullptr : input.machine.cache_of(usable.front(), level);
    if (cache != nullptr && cache->size.value > 0)
      verdicts.push_back(judge_level(fmt::format("L{}", level), cache->size, input));
  }
  if (verdicts.empty())
    verdicts.push_back(not_measurable(name(), "all levels", "the kernel shows no caches"));
  return verdicts;
}

}  // namespace

std::unique_ptr<Claim> make_caches_claim() { return std::make_unique<Caches>(); }

}  // namespace numatlas
