// Counters that several CPUs add to: what an atomic operation costs alone, in the way of others,
// and beside them in the same line.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include <fmt/format.h>

#include "kernels/kind.h"

namespace numatlas {
namespace {

using Counter = std::atomic<std::uint64_t>;
static_assert(Counter::is_always_lock_free, "a lock would distort the measurement");

// What is to be apart is more than a line apart: some prefetchers fetch pairs of lines of 64 bytes,
// and A64FX has lines of 256.
constexpr std::size_t apart = 256;

Expected<void> check_counter_size(const CounterParameters& work, Bytes size) {
  const Bytes least = counter_bytes(work.workers);
  if (size >= least) return {};
  return fail_usage("--size", fmt::format("{} do not hold the counters of {} workers ({})",
                                          to_text(size), work.workers, to_text(least)));
}

class AtomicsKernel final : public Kernel {
 public:
  explicit AtomicsKernel(const KernelSpec& spec) : work_(spec.as<CounterParameters>()) {}

  /// The memory's owner makes all counters and tallies; the others find theirs.
  Expected<void> prepare(const KernelMemory& memory) override {
    TRY(check_counter_size(work_, Bytes{memory.bytes}));
    memory_ = memory.data;
    done_ = attempts_ = 0;
    if (memory.filled) return {};
    for (std::size_t at = 0; at < counter_bytes(work_.workers).value; at += sizeof(Counter))
      new (memory_ + at) Counter{0};
    return {};
  }

  void run(std::uint64_t steps) override {
    Counter& mine = counter();
    attempts_ += work_.by_exchange ? exchange(mine, steps) : add(mine, steps);
    done_ += steps;
    at(work_.worker * apart).store(done_, std::memory_order_release);
  }
  std::uint64_t steps_per_pass() const override { return 1; }
  std::vector<StepCount> counts() const override {
    if (done_ == 0) return {};
    return {{"attempts", static_cast<double>(attempts_) / static_cast<double>(done_)}};
  }

  /// Each addition is in the counter, and nothing else is.
  Expected<void> verify() const override {
    std::uint64_t wanted = done_;
    if (work_.sharing == Sharing::same) {
      wanted = 0;
      for (std::uint64_t worker = 0; worker < work_.workers; ++worker)
        wanted += at(worker * apart).load(std::memory_order_acquire);
    }
    const std::uint64_t found = counter().load(std::memory_order_acquire);
    if (found == wanted) return {};
    return fail(ErrorKind::internal,
                fmt::format("kernel {}: the counter is at {} after {} additions", work_.name(),
                            found, wanted));
  }

 private:
  /// What was there is wanted: else compilers take a plain addition, which fetches nothing.
  std::uint64_t add(Counter& counter, std::uint64_t steps) {
    for (std::uint64_t step = 0; step < steps; ++step)
      fetched_ += counter.fetch_add(1, std::memory_order_acq_rel);
    return steps;
  }

  /// As programs do it: what was found is the next try's start. Returns the attempts.
  static std::uint64_t exchange(Counter& counter, std::uint64_t steps) {
    std::uint64_t attempts = 0;
    for (std::uint64_t step = 0; step < steps; ++step) {
      std::uint64_t seen = counter.load(std::memory_order_relaxed);
      do {
        ++attempts;
      } while (!counter.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel,
                                              std::memory_order_relaxed));
    }
    return attempts;
  }

  Counter& at(std::size_t offset) const {
    return *std::launder(reinterpret_cast<Counter*>(memory_ + offset));
  }
  /// Behind the tallies, which have lines of their own.
  Counter& counter() const {
    std::size_t offset = work_.workers * apart;
    if (work_.sharing == Sharing::neighbours) offset += work_.worker * sizeof(Counter);
    if (work_.sharing == Sharing::own) offset += work_.worker * apart;
    return at(offset);
  }

  CounterParameters work_;
  std::byte* memory_ = nullptr;
  std::uint64_t done_ = 0, attempts_ = 0, fetched_ = 0;
};

// An addition in a line that is in the CPU's own first-level cache; by compare-and-swap it is a
// load more.
constexpr double own_addition_ns = 4.6, exchange_factor = 1.2;
// Attempts that each further CPU makes vain.
constexpr double vain_per_cpu = 0.35;
// Of the CPUs that add to words of one line.
constexpr std::size_t counters_per_line = 8;

SimulatedStep simulated_addition(const KernelSpec& spec, std::size_t flows) {
  const auto& work = spec.as<CounterParameters>();
  // CPUs that want the same line, this one included.
  const std::size_t contenders = work.sharing == Sharing::own ? 1
                                 : work.sharing == Sharing::neighbours
                                     ? std::min(flows, counters_per_line)
                                     : flows;
  SimulatedStep step;
  step.own_ns = own_addition_ns;
  step.hops = static_cast<double>(contenders) - 1;
  const bool retries = work.by_exchange && work.sharing == Sharing::same;
  const double attempts = retries ? 1 + vain_per_cpu * step.hops : 1;
  step.times = (work.by_exchange ? exchange_factor : 1) * attempts;
  step.counts = {{"attempts", attempts}};
  return step;
}

KernelKind kind_of_counter(bool by_exchange) {
  return {.usual = CounterParameters{.by_exchange = by_exchange},
          .traits = {.step = StepKind::addition,
                     .retries = by_exchange,
                     .in_files = false,
                     .time = "operation_time"},
          .make = made<AtomicsKernel>,
          .check_size =
              [](const KernelSpec& spec, Bytes size) {
                return check_counter_size(spec.as<CounterParameters>(), size);
              },
          .simulated = simulated_addition};
}

}  // namespace

const char* name_of(Sharing sharing) {
  switch (sharing) {
    case Sharing::same: return "same";
    case Sharing::neighbours: return "neighbours";
    case Sharing::own: return "own";
  }
  return "same";
}

Bytes counter_bytes(std::uint64_t workers) { return Bytes{2 * workers * apart}; }

std::vector<KernelKind> CounterParameters::kinds() {
  return {kind_of_counter(false), kind_of_counter(true)};
}

}  // namespace numatlas
