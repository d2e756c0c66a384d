#include "gpu/cuda/management.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

namespace numatlas::cuda {
namespace {

constexpr unsigned clock_of_processors = 1;
constexpr double hz_per_mhz = 1e6;

/// Bits of the reasons for lower clocks, as the library's documents have them.
constexpr std::pair<unsigned long long, const char*> reasons_in_words[] = {
    {0x04, "power limit"},
    {0x20 | 0x40, "heat"},
    {0x80, "power brake"},
    {0x08, "hardware slowdown"},
};
// 0x08 comes with heat as with the power brake, and tells nothing more then.
constexpr unsigned long long hardware_slowdown = 0x08, its_causes = 0x40 | 0x80;

}  // namespace

std::string slowdown_text(unsigned long long reasons) {
  if ((reasons & its_causes) != 0) reasons &= ~hardware_slowdown;
  std::vector<const char*> words;
  for (const auto& [bits, text] : reasons_in_words)
    if ((reasons & bits) != 0) words.push_back(text);
  return fmt::format("{}", fmt::join(words, ", "));
}

void Management::load() {
  if (std::exchange(looked_for_, true)) return;
  const Library library("libnvidia-ml.so.1", "libnvidia-ml1");
  if (!library.problem().empty()) return;
  auto api = std::make_unique<Api>(library);
  if (api->symbols.missing().empty() && api->init.function() == 0) api_ = std::move(api);
}

std::optional<Management::Handle> Management::handle_of(const std::string& pci_address) {
  const auto known = handles_.find(pci_address);
  if (known != handles_.end()) return known->second;
  Handle handle = nullptr;
  const bool there = api_->by_address.function(pci_address.c_str(), &handle) == 0;
  return handles_[pci_address] = there ? std::optional(handle) : std::nullopt;
}

bool Management::mig(const std::string& pci_address) {
  const std::lock_guard lock(mutex_);
  load();
  const auto handle = api_ ? handle_of(pci_address) : std::nullopt;
  unsigned now = 0, next = 0;
  return handle && api_->mig.function != nullptr && api_->mig.function(*handle, &now, &next) == 0 &&
         now != 0;
}

std::optional<DeviceState> Management::state(const std::string& pci_address) {
  const std::lock_guard lock(mutex_);
  load();
  if (!api_) return std::nullopt;
  const auto handle = handle_of(pci_address);
  if (!handle) return std::nullopt;
  DeviceState state;
  unsigned mhz = 0;
  if (api_->clock.function(*handle, clock_of_processors, &mhz) == 0 && mhz > 0)
    state.frequency = mhz * hz_per_mhz;
  unsigned long long reasons = 0;
  const auto ask = api_->throttle_reasons.function;
  if (ask != nullptr && ask(*handle, &reasons) == 0) state.slowed_by = slowdown_text(reasons);
  return state;
}

}  // namespace numatlas::cuda
