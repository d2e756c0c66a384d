// A cache line that two CPUs hand to each other: what one store costs before another core sees it.
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include <fmt/format.h>

#include "base/signals.h"
#include "kernels/kernel.h"

namespace numatlas {
namespace {

// What stands in the line says whose turn it is: even, the asking side's; odd, the answering
// side's. Counting on shows a hand-over that was lost or doubled.
using Turn = std::uint64_t;
using Line = std::atomic<Turn>;
static_assert(Line::is_always_lock_free, "a lock would distort the measurement");

// Looks without success before it is worth asking whether the other side is gone, or waits for this
// CPU: far more than a hand-over takes, and a millisecond at most.
constexpr int looks_between_questions = 1 << 14;

/// Hands `seen` on as `seen + 1`. Which of the two instructions does it is what `cas` and `store`
/// differ in.
bool hand_on(Line& line, Turn seen, bool by_exchange) {
  if (!by_exchange) {
    if (line.load(std::memory_order_acquire) != seen) return false;
    line.store(seen + 1, std::memory_order_release);
    return true;
  }
  return line.compare_exchange_strong(seen, seen + 1, std::memory_order_acq_rel,
                                      std::memory_order_acquire);
}

class HandOverKernel final : public Kernel {
 public:
  explicit HandOverKernel(const KernelSpec& spec)
      : name_(spec.name),
        by_exchange_(spec.name.starts_with("cas")),
        answers_(spec.name.ends_with("answer")) {}

  Expected<void> check_size(Bytes size) const override {
    if (size.value >= sizeof(Line)) return {};
    return fail_usage("--size", fmt::format("{} are less than a cache line", to_text(size)));
  }

  /// The asking side makes the line; the other side finds it there.
  Expected<void> prepare(const KernelMemory& memory) override {
    if (auto fits = check_size(Bytes{memory.bytes}); !fits) return fits;
    line_ =
        answers_ ? std::launder(reinterpret_cast<Line*>(memory.data)) : new (memory.data) Line{0};
    turn_ = answers_ ? 1 : 0;
    return {};
  }

  void run(std::uint64_t steps) override { answers_ ? answer(steps) : ask(steps); }
  std::uint64_t steps_a_pass() const override { return 1; }
  Traffic traffic_a_step() const override { return {}; }

  /// Every turn was taken once: the asking side's last word was answered, or still waits for it.
  Expected<void> verify() const override {
    if (answers_ || stop_requested()) return {};  // the line is the asking side's, which tells
    const Turn found = line_->load(std::memory_order_acquire);
    if (found == turn_ || found + 1 == turn_) return {};
    return fail(ErrorKind::internal,
                fmt::format("kernel {}: turn {} stands in the line after {}", name_, found, turn_));
  }

 private:
  void ask(std::uint64_t steps) {
    for (std::uint64_t step = 0; step < steps; ++step) {
      for (int looks = 0; !hand_on(*line_, turn_, by_exchange_);) {
        // The other side may have ended, after a stop; this one must not wait for it then.
        if (++looks == looks_between_questions) {
          if (stop_requested()) return;
          looks = 0;
        }
      }
      turn_ += 2;
    }
  }

  void answer(std::uint64_t steps) {
    for (std::uint64_t step = 0; step < steps; ++step) {
      if (hand_on(*line_, turn_, by_exchange_)) turn_ += 2;
    }
  }

  std::string name_;
  bool by_exchange_, answers_;
  Line* line_ = nullptr;
  Turn turn_ = 0;  ///< the next one that this side takes
};

}  // namespace

std::unique_ptr<Kernel> make_hand_over_kernel(const KernelSpec& spec) {
  return std::make_unique<HandOverKernel>(spec);
}

}  // namespace numatlas
