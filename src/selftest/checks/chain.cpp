// The pointer chase: one cycle through every line of its memory, walked once.
#include <memory>
#include <string>

#include <fmt/format.h>

#include "base/units.h"
#include "kernels/kernel.h"
#include "memory/buffer.h"
#include "selftest/check.h"

namespace numatlas {
namespace {

constexpr Bytes chain_memory{4 << 20};

class ChainCheck final : public Check {
 public:
  std::string name() const override { return "chain"; }
  std::string summary() const override {
    return "the pointer chase visits every line once before it comes back to the first";
  }
  bool is_quick() const override { return true; }
  CheckResult run(const CheckInput& input) const override;
};

CheckResult ChainCheck::run(const CheckInput&) const {
  const auto memory = allocate({chain_memory, {MemoryMode::inherit, {}}});
  if (!memory) return failed(full_text(memory.error()), memory.error().hint);
  ChaseParameters chase;
  chase.verify_full = true;  // `prepare` walks it
  const auto kernel = make_kernel({chase});
  Expected<void> right = kernel->prepare({(*memory)->data(), (*memory)->bytes()});
  if (right) {
    kernel->run(kernel->steps_per_pass());
    right = kernel->verify();
  }
  if (!right)
    return failed(full_text(right.error()), "report this line; memory that loses bits does it too");
  return passed(fmt::format("{} lines of {} form one cycle", kernel->steps_per_pass(),
                            to_rounded_text(chain_memory)));
}

}  // namespace

std::unique_ptr<Check> make_chain_check() { return std::make_unique<ChainCheck>(); }

}  // namespace numatlas
