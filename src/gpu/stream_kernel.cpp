// Bandwidth of a GPU's own memory, of another one's, or of the host's: STREAM's operations by all
// of its multiprocessors.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "gpu/device_kernel.h"
#include "kernels/permutation.h"

namespace numatlas {
namespace {

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
  DeviceStream(const KernelSpec& spec, Device& device, Device* owner)
      : DeviceKernel(device, owner, ahead, true,
                     std::string("stream_") + name_of(spec.as<DeviceStreamParameters>().operation)),
        work_(spec.as<DeviceStreamParameters>()),
        seed_(spec.seed) {}

 private:
  bool reads_only() const { return work_.operation == Operation::read; }
  std::uint64_t array_bytes() const { return work_.array_bytes().value; }
  LaunchGrid grid() const;
  Expected<void> fill(const KernelMemory&) override;
  Expected<void> fill_array(int number);
  Expected<void> launch(const StreamHandle& stream) override;
  Expected<void> compare() const override;
  Words wanted() const;
  Expected<void> check_sum() const;

  DeviceStreamParameters work_;
  std::uint64_t seed_;
};

/// As many threads as are under way at a time, in blocks of 512 where a multiprocessor has so many.
LaunchGrid DeviceStream::grid() const {
  const DeviceInfo& info = device_.info();
  const auto most = static_cast<unsigned>(info.threads);
  const unsigned threads = std::min(512U, most);
  const unsigned usual = static_cast<unsigned>(info.multiprocessors) * (most / threads);
  return {work_.blocks > 0 ? work_.blocks : usual, threads};
}

Expected<void> DeviceStream::fill(const KernelMemory&) {
  const LaunchGrid shape = grid();
  queue_.report().grid = shape;
  // Each thread adds up what it reads.
  if (reads_only()) results_.resize(std::size_t{shape.blocks} * shape.threads);
  // What is written lies first. What an earlier kernel left there must not pass for it.
  if (!reads_only()) TRY(memory_.clear(array_bytes()));
  for (int number = reads_only() ? 0 : 1; number < work_.arrays(); ++number) {
    TRY(fill_array(number));
  }
  return {};
}

/// An array of what is read: a period by way of the host, the rest from that.
Expected<void> DeviceStream::fill_array(int number) {
  const Words words = words_of(seed_, static_cast<std::uint64_t>(number));
  const std::uint64_t bytes = array_bytes();
  const Side array{memory_.gpu, memory_.data + static_cast<std::uint64_t>(number) * bytes};
  std::uint64_t there = array.gpu ? std::min(period_bytes, bytes) : bytes;
  TRY(array.write(there / sizeof(std::uint64_t),
                  [&](std::uint64_t i) { return words[i % period]; }));
  if (there == bytes) return {};
  return array.gpu->in_own_stream([&](const StreamHandle& stream) -> Expected<void> {
    for (; there < bytes; there *= 2) {
      TRY(array.gpu->copy(stream, CopyWay::device_to_device, array.address() + there, array.data,
                          std::min(there, bytes - there)));
    }
    return {};
  });
}

Expected<void> DeviceStream::launch(const StreamHandle& stream) {
  const auto array = [&](std::uint64_t number) { return start_ + number * array_bytes(); };
  // Another one each time, so that it can be told whether the last one was written.
  const auto value = std::bit_cast<std::uint64_t>(static_cast<double>(launches_));
  return launch_kernel(stream, grid(), start_, array(reads_only() ? 0 : 1), array(2),
                       array_bytes() / pair_bytes, work_.passes, value, address_of(result_));
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

Expected<void> DeviceStream::check_sum() const {
  const std::uint64_t sum = std::accumulate(results_.begin(), results_.end(), std::uint64_t{0});
  const std::uint64_t once = sum_of(words_of(seed_, 0), array_bytes() / sizeof(std::uint64_t));
  const std::uint64_t all = once * work_.passes * launches_;
  if (sum == all) return {};
  return wrong_result(
      fmt::format("the GPU's reads add up to {:#018x} instead of {:#018x}", sum, all));
}

Expected<void> DeviceStream::compare() const {
  if (reads_only()) return check_sum();
  const Words words = wanted();
  const std::uint64_t all = array_bytes() / sizeof(std::uint64_t);
  const std::uint64_t periods = (all + period - 1) / period;
  const std::uint64_t pieces = std::min(periods, most_pieces);
  for (std::uint64_t piece = 0; piece < pieces; ++piece) {
    const std::uint64_t first = period * (pieces > 1 ? piece * (periods - 1) / (pieces - 1) : 0);
    TRY(memory_.check(first, std::min(first + period, all),
                      fmt::format("the GPU's {} is", name_of(work_.operation)),
                      [&](std::uint64_t i) { return words[i % period]; }));
  }
  return {};
}

}  // namespace

std::unique_ptr<DeviceKernel> make_device_stream(const KernelSpec& spec, Device& device,
                                                 Device* owner) {
  return std::make_unique<DeviceStream>(spec, device, owner);
}

}  // namespace numatlas
