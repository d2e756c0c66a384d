// Memory modules as SMBIOS or EDAC tell of them: the same in every channel, each at its rated
// speed, and a measured peak that is a fair share of what they can carry together.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/claim.h"
#include "audit/rules.h"

namespace numatlas {
namespace {

using Slots = std::vector<const MemorySlot*>;
/// By socket and channel.
using Channels = std::map<std::pair<std::string, std::string>, Slots>;

std::string speed_text(double speed) { return fmt::format("{:.0f} MT/s", speed * 1e-6); }

std::string channel_text(const std::pair<std::string, std::string>& channel) {
  const std::string socket = channel.first.empty() ? "" : "socket " + channel.first + " ";
  return socket + "channel " + channel.second;
}

std::string names_of(const Slots& slots) {
  std::vector<std::string> names;
  for (const MemorySlot* slot : slots) names.push_back("'" + slot->name + "'");
  constexpr std::size_t most_shown = 4;
  const std::size_t more = names.size() > most_shown ? names.size() - most_shown : 0;
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

Slots filled(const MemorySlots& all) {
  Slots slots;
  for (const MemorySlot& slot : all.slots) {
    // Persistent modules share the channels, but not the bandwidth.
    if (slot.size && !slot.is_empty() && slot.type != "NVDIMM") slots.push_back(&slot);
  }
  return slots;
}

/// Channels of all slots, empty ones as well; nothing where a slot's channel is not known.
Channels channels_of(const MemorySlots& all) {
  Channels channels;
  for (const MemorySlot& slot : all.slots) {
    if (slot.channel.empty()) return {};
    channels[{slot.socket, slot.channel}].push_back(&slot);
  }
  return channels;
}

std::uint64_t bytes_in(const Slots& slots) {
  std::uint64_t bytes = 0;
  for (const MemorySlot* slot : slots)
    bytes += slot->size && slot->type != "NVDIMM" ? slot->size->value : 0;
  return bytes;
}

/// Bytes a second of all channels, each at the speed of its slowest module; `why` where it cannot
/// be known. Two modules of a channel share it.
std::optional<double> theoretical_peak(const MemorySlots& all, std::string& why) {
  const Channels channels = channels_of(all);
  if (channels.empty()) {
    why = "the names of the slots do not tell their channels, and modules of one channel share it";
    return std::nullopt;
  }
  double sum = 0;
  for (const auto& [channel, slots] : channels) {
    std::optional<double> rate;
    for (const MemorySlot* slot : slots) {
      if (slot->is_empty() || slot->type == "NVDIMM") continue;
      const auto speed = slot->configured_speed ? slot->configured_speed : slot->rated_speed;
      if (!speed || !slot->width) {
        why = fmt::format("{} tells neither speed nor width of '{}'", all.source, slot->name);
        if (speed) why = fmt::format("{} tells no width of '{}'", all.source, slot->name);
        if (slot->width) why = fmt::format("{} tells no speed of '{}'", all.source, slot->name);
        return std::nullopt;
      }
      const double its = *speed * *slot->width / 8;
      rate = std::min(rate.value_or(its), its);
    }
    sum += rate.value_or(0);
  }
  return sum;
}

class Dimms final : public Claim {
 public:
  std::string name() const override { return "dimms"; }
  std::string summary() const override {
    return "memory modules (SMBIOS, EDAC): population, speed, and the peak they can carry";
  }
  std::vector<std::string> benchmarks(const Machine&, const MemorySlots& slots) const override {
    std::string why;
    const bool has_peak = !filled(slots).empty() && theoretical_peak(slots, why).has_value();
    return has_peak ? std::vector<std::string>{"bandwidth"} : std::vector<std::string>{};
  }
  std::vector<ClaimVerdict> judge(const AuditInput& input) const override;

 private:
  ClaimVerdict population(const MemorySlots& all) const;
  ClaimVerdict speed(const Slots& modules) const;
  ClaimVerdict peak(const AuditInput& input) const;
};

/// Every channel has the same memory.
ClaimVerdict Dimms::population(const MemorySlots& all) const {
  const Channels channels = channels_of(all);
  if (channels.empty())
    return not_measurable(name(), "channels", "the names of the slots do not tell their channels");
  const auto more = [](const auto& a, const auto& b) {
    return bytes_in(a.second) < bytes_in(b.second);
  };
  const auto [least, most] = std::minmax_element(channels.begin(), channels.end(), more);
  ClaimVerdict verdict;
  verdict.claim = name();
  verdict.about = "channels";
  verdict.claimed = fmt::format("{} of {} slots filled, {} channels", filled(all).size(),
                                all.slots.size(), channels.size());
  const std::uint64_t low = bytes_in(least->second), high = bytes_in(most->second);
  if (low == high) {
    verdict.outcome = ClaimOutcome::confirmed;
    verdict.found = fmt::format("{} in each channel", to_text(Bytes{low}));
    return verdict;
  }
  verdict.outcome = ClaimOutcome::contradicted;
  verdict.found =
      fmt::format("{} in {}, {} in {}", low == 0 ? "none" : to_text(Bytes{low}),
                  channel_text(least->first), to_text(Bytes{high}), channel_text(most->first));
  verdict.next = fmt::format("the module in {}: missing, or disabled by the firmware's training?",
                             names_of(least->second));
  return verdict;
}

/// Every module runs at the speed that the fastest of them is made for.
ClaimVerdict Dimms::speed(const Slots& modules) const {
  std::optional<double> rated;
  for (const MemorySlot* module : modules)
    if (module->rated_speed) rated = std::max(rated.value_or(0), *module->rated_speed);
  if (!rated) return not_measurable(name(), "speed", "the firmware tells no speed of the modules");
  ClaimVerdict verdict;
  verdict.claim = name();
  verdict.about = "speed";
  verdict.claimed = fmt::format("{} modules rated at up to {}", modules.size(), speed_text(*rated));
  verdict.claimed_value = rated;
  Slots slower;
  std::optional<double> least;
  for (const MemorySlot* module : modules) {
    const auto its = module->configured_speed ? module->configured_speed : module->rated_speed;
    if (!its) continue;
    if (*its < *rated) slower.push_back(module);
    least = std::min(least.value_or(*its), *its);
  }
  if (slower.empty()) {
    verdict.outcome = ClaimOutcome::confirmed;
    verdict.found = "all run at it";
    return verdict;
  }
  verdict.outcome = ClaimOutcome::contradicted;
  verdict.found = fmt::format("{} of them run at less, down to {}: {}", slower.size(),
                              speed_text(*least), names_of(slower));
  verdict.next =
      "the firmware's memory speed setting, and whether the CPU, two modules a channel or one slow "
      "module hold the others down";
  return verdict;
}

ClaimVerdict Dimms::peak(const AuditInput& input) const {
  const Machine& machine = input.machine;
  std::string why;
  const auto peak = theoretical_peak(input.slots, why);
  if (!peak) return not_measurable(name(), "peak", why);
  ClaimVerdict verdict;
  verdict.claim = name();
  verdict.about = "peak";
  verdict.unit = "1";
  verdict.claimed = fmt::format("{} of all channels together, of which {:.0f} % are expected",
                                value_text(*peak, "B/s"), input.peak_share * 100);
  verdict.claimed_value = input.peak_share;
  if (machine.usable_cpus() != machine.all_cpus()) {
    verdict.reason = fmt::format("{} of {} CPUs may be used, and it takes all of them",
                                 machine.usable_cpus().size(), machine.all_cpus().size());
    return verdict;
  }
  const Fact* const fact = input.find("peak_bandwidth");
  if (fact == nullptr) {
    verdict.reason = input.why_no("bandwidth");
    return verdict;
  }
  verdict = judged_share(
      std::move(verdict), *fact, *peak,
      "missing or disabled modules (dmidecode -t memory), their speed, and memory errors (EDAC, "
      "rasdaemon)");
  if (verdict.outcome == ClaimOutcome::confirmed && *verdict.measured->low > 1 + same_part) {
    verdict.outcome = ClaimOutcome::contradicted;
    verdict.next = "the firmware's table: nothing is faster than all channels together";
  }
  return verdict;
}

std::vector<ClaimVerdict> Dimms::judge(const AuditInput& input) const {
  const MemorySlots& all = input.slots;
  const Slots modules = filled(all);
  if (modules.empty()) {
    const std::string why =
        all.problem.empty() ? "nothing is recorded of this machine's modules" : all.problem;
    return {not_measurable(name(), "modules", why)};
  }
  return {population(all), speed(modules), peak(input)};
}

}  // namespace

std::unique_ptr<Claim> make_dimms_claim() { return std::make_unique<Dimms>(); }

}  // namespace numatlas
