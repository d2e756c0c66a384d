#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "kernels/kernel.h"

namespace numatlas {
namespace {

class ChaseKernel final : public Kernel {
 public:
  explicit ChaseKernel(const KernelSpec& spec) : spec_(spec) {}

  Expected<void> prepare(const KernelMemory& memory) override {
    std::byte* const data = memory.data;
    const auto layout = ChainLayout::make(Bytes{memory.bytes}, spec_.chain);
    if (!layout) return fail(layout.error());
    lines_ = layout->lines();
    position_ = data;
    if (memory.filled) return {};
    build_chain(data, *layout);
    if (auto proven = prove_chain(data, *layout); !proven) return proven;
    if (spec_.verify_full) {
      if (auto walked = walk_chain(data, *layout); !walked) return walked;
    }
    return {};
  }

  Expected<void> check_size(Bytes size) const override {
    const auto layout = ChainLayout::make(size, spec_.chain);
    if (!layout) return fail(layout.error());
    return {};
  }

  void run(std::uint64_t steps) override { position_ = chase(position_, steps); }
  std::uint64_t steps_a_pass() const override { return lines_; }
  Traffic traffic_a_step() const override { return {sizeof(void*), 0, 0}; }
  Expected<void> verify() const override { return {}; }  // the chain was proven, and is only read

 private:
  KernelSpec spec_;
  std::uint64_t lines_ = 0;
  const void* position_ = nullptr;
};

}  // namespace

std::unique_ptr<Kernel> make_chase_kernel(const KernelSpec& spec) {
  return std::make_unique<ChaseKernel>(spec);
}

}  // namespace numatlas
