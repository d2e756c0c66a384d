#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/kernel.h"

namespace numatlas {
namespace {

class ChaseKernel final : public Kernel {
 public:
  explicit ChaseKernel(const KernelSpec& spec) : spec_(spec) {}

  Expected<void> prepare(const KernelMemory& memory) override {
    std::byte* const data = memory.data;
    auto layout = ChainLayout::make(Bytes{memory.bytes}, spec_.chain);
    if (!layout) return fail(layout.error());
    lines_ = layout->lines();
    data_ = data;
    layout_ = *layout;
    positions_.clear();
    for (unsigned part = 0; part < spec_.chain.chains; ++part)
      positions_.push_back(data + layout->start_of(part, spec_.chain.chains) * layout->stride());
    if (memory.filled) return {};
    build_chain(data, *layout);
    TRY(prove_chain(data, *layout));
    if (spec_.verify_full) {
      TRY(walk_chain(data, *layout));
    }
    return {};
  }

  Expected<void> check_size(Bytes size) const override {
    TRY(ChainLayout::make(size, spec_.chain));
    return {};
  }

  void run(std::uint64_t steps) override { chase_together(positions_, steps); }
  void run_ahead(std::uint64_t steps) override {
    for (const void*& position : positions_)
      position = touch_ahead(data_, *layout_, position, steps);
  }
  std::uint64_t steps_per_pass() const override { return lines_ / spec_.chain.chains; }
  Traffic traffic_per_step() const override { return {sizeof(void*) * spec_.chain.chains, 0, 0}; }
  Expected<void> verify() const override { return {}; }  // the chain was proven, and is only read

 private:
  KernelSpec spec_;
  std::uint64_t lines_ = 0;
  const std::byte* data_ = nullptr;
  std::optional<ChainLayout> layout_;
  std::vector<const void*> positions_;  ///< of its cursors
};

}  // namespace

std::unique_ptr<Kernel> make_chase_kernel(const KernelSpec& spec) {
  return std::make_unique<ChaseKernel>(spec);
}

}  // namespace numatlas
