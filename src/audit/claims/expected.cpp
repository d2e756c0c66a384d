// What all CPUs read together, against what the channels can carry and what others measured on the
// same processor.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/claim.h"
#include "audit/rules.h"
#include "machine/identity.h"
#include "published/expected.h"

namespace numatlas {
namespace {

class ExpectedReads final : public Claim {
 public:
  std::string name() const override { return "expected"; }
  std::string summary() const override {
    return "reads of all CPUs against the memory's peak, and what was published of this processor";
  }
  std::vector<std::string> benchmarks(const Machine& machine) const override {
    const bool known = peak_rate_of(machine) || published_reads(machine, false);
    return is_bare_metal(machine) && known ? std::vector<std::string>{"bandwidth"}
                                           : std::vector<std::string>{};
  }
  std::vector<ClaimVerdict> judge(const AuditInput& input) const override;

 private:
  ClaimVerdict judged_reads(const AuditInput& input, const Estimate& reads) const;
};

/// Why nothing is expected of this machine; "" where something is.
std::string why_nothing(const Machine& machine) {
  if (!machine.hypervisor) return "whether this is a virtual machine is unknown";
  if (!machine.hypervisor->empty()) {
    const auto range = published_reads(machine, true);
    return "this is a virtual machine: what its share of a processor can read is not known" +
           (range ? "; others read " + range->text + " in one with this processor" : "");
  }
  if (machine.usable_cpus() != machine.all_cpus())
    return fmt::format("{} of {} CPUs may be used, and it takes all of them",
                       machine.usable_cpus().size(), machine.all_cpus().size());
  if (peak_rate_of(machine) || published_reads(machine, false)) return "";
  return fmt::format("'{}' is not in the table: docs/published.md says how to add it",
                     processor_name(machine.cpu_model));
}

ClaimVerdict ExpectedReads::judged_reads(const AuditInput& input, const Estimate& reads) const {
  const auto peak = peak_rate_of(input.machine);
  const auto range = published_reads(input.machine, false);
  ClaimVerdict verdict;
  verdict.claim = name();
  verdict.about = "reads";
  verdict.unit = "B/s";
  // What others reached on this processor tells more than a share that holds for all.
  const double limit = range ? range->low * published_share : peak->rate * input.peak_share;
  verdict.claimed_value = limit;
  verdict.claimed = range ? fmt::format("at least {:.0f} % of the least that was published",
                                        published_share * 100)
                          : fmt::format("at least {:.0f} % of the peak", input.peak_share * 100);
  verdict.measured = reads;
  verdict.found = reads_text(input.machine, reads);
  verdict.short_found = fmt::format("{}, expected {}", quantity_text(reads.value, "B/s"),
                                    quantity_text(limit, "B/s"));
  std::optional<bool> is_less;
  if (reads.high && *reads.high < limit) is_less = true;
  if (reads.low && *reads.low >= limit) is_less = false;
  return decided(
      std::move(verdict), reads.low.has_value(), is_less,
      "channels without modules and their speed (dmidecode -t memory), NPS or SNC in the "
      "firmware, huge pages, the power limit; a processor with few chiplets reads less");
}

std::vector<ClaimVerdict> ExpectedReads::judge(const AuditInput& input) const {
  const Machine& machine = input.machine;
  if (const std::string why = why_nothing(machine); !why.empty())
    return {not_measurable(name(), "reads", why)};
  // Without published figures the modules' peak is all there is, and `dimms` judges that.
  const auto peak = peak_rate_of(machine);
  if (peak && peak->of_modules && !published_reads(machine, false)) return {};
  const auto reads = first_reads(input.now);
  if (!reads) return {not_measurable(name(), "reads", input.why_no("bandwidth"))};
  if (peak && reads->rate.low && *reads->rate.low > peak->rate)
    return {not_measurable(name(), "reads",
                           fmt::format("{} is more than the peak: it is that of other memory",
                                       reads_text(machine, reads->rate)))};
  return {judged_reads(input, reads->rate)};
}

}  // namespace

std::unique_ptr<Claim> make_expected_claim() { return std::make_unique<ExpectedReads>(); }

}  // namespace numatlas
