// Every kernel computes what it should, with each instruction set that this CPU has.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/kernel.h"
#include "memory/buffer.h"
#include "selftest/check.h"

namespace numatlas {
namespace {

constexpr Bytes kernels_memory{1 << 20};

Expected<void> verified(const KernelSpec& spec, const Buffer& memory) {
  const auto kernel = make_kernel(spec);
  TRY(kernel->prepare({memory.data(), memory.bytes()}));
  // Two passes and a part of a third.
  kernel->run(kernel->steps_per_pass() * 2 + 3);
  return kernel->verify();
}

/// Each kernel with each kind of stores that there is for it; the ping-pong takes two CPUs, and the
/// chain is a check of its own.
std::vector<KernelSpec> specs() {
  std::vector<KernelSpec> all;
  for (const std::string& name : kernel_names()) {
    const KernelTraits& traits = traits_of(name);
    if (!traits.streams()) continue;
    KernelSpec spec = kernel_named(name);
    all.push_back(spec);
    if (!traits.writes || !has_non_temporal_stores()) continue;
    spec.stores = Stores::non_temporal;
    all.push_back(spec);
  }
  return all;
}

class KernelsCheck final : public Check {
 public:
  std::string name() const override { return "kernels"; }
  std::string summary() const override {
    return "every kernel computes what it should, with each instruction set of this CPU";
  }
  bool is_quick() const override { return true; }
  CheckResult run(const CheckInput& input) const override;
};

CheckResult KernelsCheck::run(const CheckInput&) const {
  const auto memory = allocate({kernels_memory, {MemoryMode::inherit, {}}});
  if (!memory) return failed(full_text(memory.error()), memory.error().hint);
  const std::string used = instruction_set();
  CheckResult result;
  std::vector<std::string> sets;
  std::size_t runs = 0;
  for (const std::string& set : instruction_sets()) {
    if (!use_instruction_set(set)) continue;
    sets.push_back(set);
    for (const KernelSpec& spec : specs()) {
      ++runs;
      const auto right = verified(spec, **memory);
      if (!right && result.outcome != CheckOutcome::failed)
        result = failed(fmt::format("{} with {} and {} stores: {}", name_of(spec), set,
                                    name_of(spec.stores), full_text(right.error())),
                        "report this line: the CPU, its emulator or this build computes wrongly");
    }
  }
  (void)use_instruction_set(used);
  if (result.outcome == CheckOutcome::failed) return result;
  return passed(fmt::format("{} runs verified, with {}", runs, fmt::join(sets, ", ")));
}

}  // namespace

std::unique_ptr<Check> make_kernels_check() { return std::make_unique<KernelsCheck>(); }

}  // namespace numatlas
