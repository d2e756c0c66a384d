// Bandwidth of a GPU's own memory, of another one's, or of the host's: STREAM's operations by all
// of its multiprocessors.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/signals.h"
#include "gpu/device_kernel.h"
#include "gpu/step_queue.h"
#include "kernels/filling.h"
#include "kernels/permutation.h"

namespace numatlas {
namespace {

using Words = std::vector<std::uint64_t>;

// Launches queued ahead, so that the GPU never waits for the CPU.
constexpr int ahead = 4;
// What is in memory repeats after so many bytes: the host makes them once, and checks against them.
constexpr std::uint64_t period_bytes = 8 * mib;
constexpr std::uint64_t period = period_bytes / sizeof(std::uint64_t);
// Of larger memory so many periods are looked at, the first and the last among them.
constexpr std::uint64_t most_pieces = 16;
constexpr double scalar = 3.0;  // as in device/kernels.h
constexpr std::uint64_t pair_bytes = 16;

/// Doubles from 1 to 2 that no caches and no compression know, of an array's number.
Words words_of(std::uint64_t seed, std::uint64_t array) {
  constexpr std::uint64_t exponent_of_1 = std::uint64_t{0x3FF} << 52;
  std::uint64_t state = seed * 2 + array;
  Words words(period);
  for (std::uint64_t& word : words) word = (split_mix(state) >> 12) | exponent_of_1;
  return words;
}

/// The sum of the first `count` words of the repeated period.
std::uint64_t sum_of(const Words& words, std::uint64_t count) {
  std::uint64_t all = 0, part = 0;
  for (std::uint64_t i = 0; i < period; ++i) {
    all += words[i];
    if (i < count % period) part += words[i];
  }
  return count / period * all + part;
}

class DeviceStream final : public DeviceKernel {
 public:
  DeviceStream(const KernelSpec& spec, const DeviceRef& device, const DeviceRef& owner,
               bool of_host)
      : work_(spec.as<DeviceStreamParameters>()),
        seed_(spec.seed),
        device_(device),
        owner_(owner),
        of_host_(of_host),
        queue_(device, ahead, true),
        grid_(grid()) {}
  ~DeviceStream() override { detach(); }

  Expected<void> prepare(const KernelMemory& memory) override;
  Expected<void> attach() override;
  void run(std::uint64_t steps) override {
    queue_.run(steps, [this](StreamHandle stream) { return launch(stream); });
  }
  void finish() override;
  void detach() override;
  DeviceReport take_report() override { return std::move(queue_.report()); }
  std::uint64_t steps_per_pass() const override { return 1; }
  Expected<void> verify() const override;

 private:
  bool reads_only() const { return work_.operation == Operation::read; }
  std::uint64_t array_bytes() const { return work_.array_bytes().value; }
  DeviceAddress array(int number) const {
    return start_ + static_cast<std::uint64_t>(number) * array_bytes();
  }
  Expected<void> fill(int number);
  Expected<void> launch(StreamHandle stream);
  LaunchGrid grid() const;
  Expected<void> clear_sums();
  Expected<void> clear_result();
  Words wanted() const;
  Expected<std::uint64_t> read_sum() const;
  Expected<void> check_sum() const;
  Expected<void> check_words() const;

  DeviceStreamParameters work_;
  std::uint64_t seed_;
  DeviceRef device_, owner_;
  bool of_host_;
  StepQueue queue_;
  std::byte* host_ = nullptr;
  /// Of the memory, as the owner has it; of the host's once it is mapped.
  DeviceAddress start_ = 0;
  DeviceAddress sums_ = 0;
  FunctionHandle function_ = nullptr;
  LaunchGrid grid_;
  std::uint64_t launches_ = 0;
  std::uint64_t sum_ = 0;  ///< of all that was read, once it is over
  HostMapping mapping_;
};

/// An array of what is read, in its memory: a period by way of the host, the rest from that.
Expected<void> DeviceStream::fill(int number) {
  const Words words = words_of(seed_, static_cast<std::uint64_t>(number));
  const std::uint64_t bytes = array_bytes();
  if (of_host_) {
    auto* const to =
        reinterpret_cast<std::uint64_t*>(host_ + static_cast<std::uint64_t>(number) * bytes);
    return fill_in_pieces(bytes / sizeof(std::uint64_t), [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i) to[i] = words[i % period];
    });
  }
  DeviceRuntime& gpu = *owner_.runtime;
  return in_own_stream(owner_, [&](StreamHandle stream) -> Expected<void> {
    const DeviceAddress to = array(number);
    std::uint64_t there = std::min(period_bytes, bytes);
    TRY(gpu.copy(owner_.device, stream, CopyWay::host_to_device, to,
                 const_cast<std::uint64_t*>(words.data()), there));
    for (; there < bytes; there *= 2) {
      TRY(gpu.copy(owner_.device, stream, CopyWay::device_to_device, to + there,
                   reinterpret_cast<void*>(to), std::min(there, bytes - there)));
    }
    return {};
  });
}

Expected<void> DeviceStream::prepare(const KernelMemory& memory) {
  TRY(queue_.open());
  host_ = of_host_ ? memory.data : nullptr;
  start_ = reinterpret_cast<DeviceAddress>(memory.data);
  const int arrays = work_.arrays();
  // What is written lies first, and comes to be with the first pass.
  TRY(clear_result());
  for (int number = reads_only() ? 0 : 1; number < arrays; ++number) {
    TRY(fill(number));
  }
  return {};
}

/// What an earlier kernel left there is gone: only what is measured can make it right.
Expected<void> DeviceStream::clear_result() {
  if (reads_only()) return {};
  if (of_host_) {
    std::fill_n(host_, array_bytes(), std::byte{});
    return {};
  }
  return in_own_stream(owner_, [&](StreamHandle stream) {
    return owner_.runtime->fill(owner_.device, stream, start_, 0, array_bytes());
  });
}

Expected<void> DeviceStream::attach() {
  DeviceRuntime& gpu = *device_.runtime;
  if (of_host_) {
    start_ = TRY(mapping_.map(device_, host_, work_.bytes.value));
  } else {
    TRY(queue_.reach(owner_));
  }
  function_ = TRY(gpu.kernel(device_.device, std::string("stream_") + name_of(work_.operation)));
  queue_.report().grid = grid_;
  return clear_sums();
}

Expected<void> DeviceStream::clear_sums() {
  if (!reads_only()) return {};
  DeviceRuntime& gpu = *device_.runtime;
  const std::uint64_t bytes = std::uint64_t{grid_.blocks} * grid_.threads * sizeof(std::uint64_t);
  sums_ = TRY(gpu.allocate(device_.device, Bytes{bytes}));
  TRY(gpu.fill(device_.device, queue_.stream(), sums_, 0, bytes));
  return gpu.wait_for_stream(device_.device, queue_.stream());
}

/// As many threads as are under way at a time, in blocks of 512 where a multiprocessor has so many.
LaunchGrid DeviceStream::grid() const {
  const DeviceInfo& info = device_.info();
  const auto most = static_cast<unsigned>(info.threads);
  const unsigned threads = std::min(512U, most);
  const unsigned usual = static_cast<unsigned>(info.multiprocessors) * (most / threads);
  return {work_.blocks > 0 ? work_.blocks : usual, threads};
}

Expected<void> DeviceStream::launch(StreamHandle stream) {
  const bool writes = !reads_only();
  DeviceAddress to = start_, from = writes ? array(1) : start_, other = array(2), sums = sums_;
  std::uint64_t pairs = array_bytes() / pair_bytes, passes = work_.passes;
  ++launches_;
  // Another one each time, so that it can be told whether the last one was written.
  std::uint64_t value = std::bit_cast<std::uint64_t>(static_cast<double>(launches_));
  std::array<void*, 7> arguments{&to, &from, &other, &pairs, &passes, &value, &sums};
  return device_.runtime->launch(device_.device, stream, function_, grid_.blocks, grid_.threads,
                                 arguments.data());
}

/// A period of what was written.
Words DeviceStream::wanted() const {
  const auto value = static_cast<double>(launches_);
  if (work_.operation == Operation::write)
    return Words(period, std::bit_cast<std::uint64_t>(value));
  Words from = words_of(seed_, 1);
  if (work_.operation == Operation::copy) return from;
  const Words other = work_.arrays() > 2 ? words_of(seed_, 2) : Words();
  for (std::uint64_t i = 0; i < period; ++i) {
    const auto a = std::bit_cast<double>(from[i]);
    const auto b = other.empty() ? 0.0 : std::bit_cast<double>(other[i]);
    double result = scalar * a;
    if (work_.operation == Operation::add) result = a + b;
    if (work_.operation == Operation::triad) result = std::fma(scalar, b, a);
    from[i] = std::bit_cast<std::uint64_t>(result);
  }
  return from;
}

Expected<std::uint64_t> DeviceStream::read_sum() const {
  DeviceRuntime& gpu = *device_.runtime;
  Words sums(std::size_t{grid_.blocks} * grid_.threads);
  TRY(gpu.copy(device_.device, queue_.stream(), CopyWay::device_to_host, sums_, sums.data(),
               sums.size() * sizeof sums[0]));
  TRY(gpu.wait_for_stream(device_.device, queue_.stream()));
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

void DeviceStream::finish() {
  queue_.finish();
  if (queue_.problem() || !reads_only()) return;
  const auto sum = read_sum();
  if (!sum) return queue_.set_problem(sum.error());
  sum_ = *sum;
}

Expected<void> DeviceStream::check_sum() const {
  const std::uint64_t once = sum_of(words_of(seed_, 0), array_bytes() / sizeof(std::uint64_t));
  const std::uint64_t all = once * work_.passes * launches_;
  if (sum_ == all) return {};
  return wrong_result(
      fmt::format("the GPU's reads add up to {:#018x} instead of {:#018x}", sum_, all));
}

Expected<void> DeviceStream::check_words() const {
  const Words words = wanted();
  Words found(period);
  const std::uint64_t bytes = array_bytes();
  const std::uint64_t periods = (bytes + period_bytes - 1) / period_bytes;
  const std::uint64_t pieces = std::min(periods, most_pieces);
  for (std::uint64_t piece = 0; piece < pieces && !stop_requested(); ++piece) {
    const std::uint64_t which = pieces > 1 ? piece * (periods - 1) / (pieces - 1) : 0;
    const std::uint64_t at = which * period_bytes;
    const std::uint64_t length = std::min(period_bytes, bytes - at);
    const auto* seen = reinterpret_cast<const std::uint64_t*>(of_host_ ? host_ + at : nullptr);
    if (!of_host_) {
      TRY(in_own_stream(owner_, [&](StreamHandle stream) {
        return owner_.runtime->copy(owner_.device, stream, CopyWay::device_to_host, start_ + at,
                                    found.data(), length);
      }));
      seen = found.data();
    }
    const auto [wrong, right] =
        std::mismatch(seen, seen + length / sizeof(std::uint64_t), words.begin());
    if (wrong == seen + length / sizeof(std::uint64_t)) continue;
    return wrong_result(fmt::format(
        "the GPU's {} is wrong from byte {} on: {:#018x} instead of {:#018x}",
        name_of(work_.operation),
        at + static_cast<std::uint64_t>(wrong - seen) * sizeof(std::uint64_t), *wrong, *right));
  }
  return {};
}

Expected<void> DeviceStream::verify() const {
  if (queue_.problem()) return fail(*queue_.problem());
  if (launches_ == 0) return {};
  return reads_only() ? check_sum() : check_words();
}

void DeviceStream::detach() {
  if (sums_ != 0) (void)device_.runtime->free(device_.device, sums_);
  sums_ = 0;
  mapping_.unmap();
}

}  // namespace

std::unique_ptr<DeviceKernel> make_device_stream(const KernelSpec& spec, const DeviceRef& device,
                                                 const DeviceRef& owner, bool of_host) {
  return std::make_unique<DeviceStream>(spec, device, owner, of_host);
}

}  // namespace numatlas
