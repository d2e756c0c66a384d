#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/kind.h"

namespace numatlas {
namespace {

class ChaseKernel final : public Kernel {
 public:
  explicit ChaseKernel(const KernelSpec& spec)
      : parameters_(spec.as<ChaseParameters>()), seed_(spec.seed) {}

  Expected<void> prepare(const KernelMemory& memory) override {
    std::byte* const data = memory.data;
    auto layout = ChainLayout::make(Bytes{memory.bytes}, parameters_, seed_);
    if (!layout) return fail(layout.error());
    lines_ = layout->lines();
    data_ = data;
    layout_ = *layout;
    positions_.clear();
    for (unsigned part = 0; part < parameters_.chains; ++part)
      positions_.push_back(data + layout->start_of(part, parameters_.chains) * layout->stride());
    if (memory.filled) return {};
    build_chain(data, *layout);
    TRY(prove_chain(data, *layout));
    if (parameters_.verify_full) {
      TRY(walk_chain(data, *layout));
    }
    return {};
  }

  void run(std::uint64_t steps) override { chase_together(positions_, steps); }
  void run_ahead(std::uint64_t steps) override {
    for (const void*& position : positions_)
      position = touch_ahead(data_, *layout_, position, steps);
  }
  std::uint64_t steps_per_pass() const override { return lines_ / parameters_.chains; }
  Expected<void> verify() const override { return {}; }  // the chain was proven, and is only read

 private:
  ChaseParameters parameters_;
  std::uint64_t seed_;
  std::uint64_t lines_ = 0;
  const std::byte* data_ = nullptr;
  std::optional<ChainLayout> layout_;
  std::vector<const void*> positions_;  ///< of its cursors
};

}  // namespace

std::vector<KernelKind> ChaseParameters::kinds() {
  return {{.usual = ChaseParameters{},
           .traits = {.step = StepKind::chase, .writes = false, .time = "latency"},
           .make = made<ChaseKernel>,
           .check_size = [](const KernelSpec& spec, Bytes size) -> Expected<void> {
             TRY(ChainLayout::make(size, spec.as<ChaseParameters>()));
             return {};
           },
           .traffic = [](const KernelSpec& spec) -> Traffic {
             return {sizeof(void*) * spec.as<ChaseParameters>().chains, 0, 0};
           },
           .stride = [](const KernelSpec& spec) { return spec.as<ChaseParameters>().stride; },
           .simulated =
               [](const KernelSpec& spec, std::size_t) {
                 SimulatedStep step;
                 step.under_way = spec.as<ChaseParameters>().chains;
                 return step;
               },
           .preparation = of_chain}};
}

}  // namespace numatlas
