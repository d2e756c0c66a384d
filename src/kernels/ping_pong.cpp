// A cache line that two CPUs hand to each other: what one store costs before another core sees it.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include <fmt/format.h>

#include "base/signals.h"
#include "kernels/kind.h"

namespace numatlas {
namespace {

// What stands in the line says whose turn it is: even, the asking side's; odd, the answering
// side's. The count shows a transfer that was lost or doubled.
using VisitBlock = std::uint64_t;
using Line = std::atomic<VisitBlock>;
static_assert(Line::is_always_lock_free, "a lock would distort the measurement");

// So that the prefetcher of adjacent lines of 64 bytes brings none that is the other side's, and
// for A64FX, whose lines have 256.
constexpr std::uint64_t line_spacing = 256;
// Rounds in one line before the next: the step between them is lost in as many, and a sample is of
// one line or two.
constexpr std::uint64_t rounds_per_line = 256;

// Looks without success before it is worth asking whether the other side is gone, or waits for this
// CPU: far more than a transfer takes, and a millisecond at most.
constexpr int looks_between_questions = 1 << 14;

Line* line_at(std::byte* data, std::uint64_t line) {
  return std::launder(reinterpret_cast<Line*>(data + line * line_spacing));
}

/// Hands `seen` on as `seen + 1`. Which of the two instructions does it is what `cas` and `store`
/// differ in.
bool hand_on(Line& line, VisitBlock seen, bool by_exchange) {
  if (!by_exchange) {
    if (line.load(std::memory_order_acquire) != seen) return false;
    line.store(seen + 1, std::memory_order_release);
    return true;
  }
  return line.compare_exchange_strong(seen, seen + 1, std::memory_order_acq_rel,
                                      std::memory_order_acquire);
}

Expected<void> check_line_size(unsigned lines, Bytes size) {
  if (size >= ping_pong_bytes(lines)) return {};
  return fail_usage("--size", lines == 1
                                  ? fmt::format("{} are less than a cache line", to_text(size))
                                  : fmt::format("{} do not hold {} lines, {} B apart",
                                                to_text(size), lines, line_spacing));
}

class PingPongKernel final : public Kernel {
 public:
  explicit PingPongKernel(const KernelSpec& spec)
      : spec_(spec.as<PingPongParameters>()),
        answers_(spec_.answers),
        lines_(std::max(1U, spec_.lines)) {}

  /// The asking side makes the line; the other side finds it there.
  Expected<void> prepare(const KernelMemory& memory) override {
    TRY(check_line_size(lines_, Bytes{memory.bytes}));
    data_ = memory.data;
    for (std::uint64_t i = 0; !answers_ && i < lines_; ++i) new (data_ + i * line_spacing) Line{0};
    line_ = asked_ = line_at(data_, 0);
    turn_ = answers_ ? 1 : 0;
    return {};
  }

  void run(std::uint64_t steps) override { answers_ ? answer(steps) : ask(steps); }
  std::uint64_t steps_per_pass() const override { return 1; }

  /// Every turn was taken once: the asking side's last word was answered, or still waits for it.
  Expected<void> verify() const override {
    if (answers_ || stop_requested()) return {};  // the line is the asking side's, which tells
    const VisitBlock found = asked_->load(std::memory_order_acquire);
    if (found == turn_ || found + 1 == turn_) return {};
    return fail(ErrorKind::internal, fmt::format("kernel {}: turn {} stands in the line after {}",
                                                 spec_.name(), found, turn_));
  }

 private:
  void ask(std::uint64_t steps) {
    for (std::uint64_t step = 0; step < steps; ++step) {
      for (int looks = 0;
           !(asked_ == line_ ? hand_on(*line_, turn_, spec_.by_exchange) : move_on());) {
        // The other side may have ended, after a stop; this one must not wait for it then.
        if (++looks == looks_between_questions) {
          if (stop_requested()) return;
          looks = 0;
        }
      }
      asked_ = line_;
      next_block();
    }
  }

  void answer(std::uint64_t steps) {
    for (std::uint64_t step = 0; step < steps; ++step) {
      if (hand_on(*line_, turn_, spec_.by_exchange)) next_block();
    }
  }

  /// A round is an even turn and the odd one after it; both sides know in which line it is.
  void next_block() {
    turn_ += 2;
    const VisitBlock round = turn_ / 2;
    if (lines_ > 1 && round % rounds_per_line == 0)
      line_ = line_at(data_, round / rounds_per_line % lines_);
  }

  /// When the last line was answered, goes on with the next one, which then is this side's.
  bool move_on() {
    if (asked_->load(std::memory_order_acquire) != turn_) return false;
    line_->store(turn_ + 1, std::memory_order_release);
    return true;
  }

  PingPongParameters spec_;
  bool answers_;
  unsigned lines_;
  std::byte* data_ = nullptr;
  Line* line_ = nullptr;   ///< of this side's next turn
  Line* asked_ = nullptr;  ///< in which the last round was asked, and is answered
  VisitBlock turn_ = 0;    ///< the next one that this side takes
};

/// A step of the asking side is two transfers.
KernelKind kind_of_side(bool by_exchange, bool answers) {
  const PingPongParameters asks{.by_exchange = by_exchange};
  return {.usual = PingPongParameters{.by_exchange = by_exchange, .answers = answers},
          .traits = {.step = answers ? StepKind::answer : StepKind::ping_pong,
                     .answers = answers ? asks.name() : "",
                     .time = "core_to_core"},
          .make = made<PingPongKernel>,
          .check_size =
              [](const KernelSpec& spec, Bytes size) {
                return check_line_size(std::max(1U, spec.as<PingPongParameters>().lines), size);
              },
          .part = [](const KernelSpec&) { return 0.5; },
          .simulated = [](const KernelSpec&, std::size_t) { return SimulatedStep{.hops = 2}; }};
}

}  // namespace

Bytes ping_pong_bytes(unsigned lines) { return Bytes{(lines - 1) * line_spacing + sizeof(Line)}; }

std::vector<KernelKind> PingPongParameters::kinds() {
  return {kind_of_side(true, false), kind_of_side(true, true), kind_of_side(false, false),
          kind_of_side(false, true)};
}

}  // namespace numatlas
