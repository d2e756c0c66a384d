// Copies between the host's memory and a GPU's, or between two GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gpu/device_kernel.h"
#include "gpu/step_queue.h"
#include "kernels/filling.h"

namespace numatlas {
namespace {

// Copies are queued ahead so that the GPU never waits for the CPU; large ones need fewer, and each
// is one more to wait for when the run is stopped.
constexpr std::uint64_t bytes_ahead = 256 * mib;
constexpr std::uint64_t fewest_ahead = 2, most_ahead = 16;
// Below this a wait that sleeps takes longer than what it waits for.
constexpr std::uint64_t sleeps_from = 16 * mib;
// Memory of a GPU is filled and read by way of this much of the host's.
constexpr std::size_t chunk_words = 512 * 1024;
// Threads of a zero-copy launch, at most: with 16 bytes each they have 512 KiB under way, more than
// a link of 400 GB/s takes in a microsecond, and two launches fit on a GPU of today at once.
constexpr unsigned most_blocks = 128, block_threads = 256;
// Pinning is timed so often; the last time is the one that the copies have.
constexpr int pin_times = 3;

int depth_of(const DeviceCopyParameters& work) {
  if (work.depth > 0) return work.depth;
  const std::uint64_t step = std::max<std::uint64_t>(1, work.bytes.value * work.copies);
  return static_cast<int>(std::clamp(bytes_ahead / step, fewest_ahead, most_ahead));
}

/// What stands in word `i` of what is copied: no two alike (odd factor), and no zeros in a row.
std::uint64_t word_at(std::uint64_t i, std::uint64_t seed) {
  return (i + 1) * 0x9E3779B97F4A7C15 ^ seed;
}

class DeviceCopy final : public DeviceKernel {
 public:
  DeviceCopy(const KernelSpec& spec, const DeviceRef& device, const DeviceRef& other, int from,
             int to)
      : work_(spec.as<DeviceCopyParameters>()),
        seed_(spec.seed),
        device_(device),
        other_(other),
        from_(from),
        to_(to),
        // A thread that slept queues the next copy later, between that copy's events.
        queue_(device, depth_of(work_),
               work_.depth != 1 && work_.bytes.value * work_.copies >= sleeps_from) {}
  ~DeviceCopy() override { detach(); }

  Expected<void> prepare(const KernelMemory& memory) override;
  Expected<void> attach() override;
  void run(std::uint64_t steps) override {
    queue_.run(steps, [this](StreamHandle stream) { return step(stream); });
  }
  void finish() override { queue_.finish(); }
  void detach() override;
  DeviceReport take_report() override { return std::move(queue_.report()); }
  std::uint64_t steps_per_pass() const override { return 1; }
  Expected<void> verify() const override;

 private:
  bool zero_copy() const { return work_.pinning == Pinning::zero_copy; }
  std::uint64_t words() const { return work_.bytes.value / sizeof(std::uint64_t); }
  Expected<void> step(StreamHandle stream);
  Expected<void> copy_once(StreamHandle stream);
  Expected<void> through(const DeviceRef& device, CopyWay way, DeviceAddress address,
                         std::vector<std::uint64_t>& chunk, std::size_t count) const;
  Expected<void> fill_gpu(const DeviceRef& device, DeviceAddress address);
  Expected<void> check(const std::uint64_t* words, std::uint64_t first, std::size_t count) const;
  Expected<void> check_gpu(const DeviceRef& device, DeviceAddress address) const;

  DeviceCopyParameters work_;
  std::uint64_t seed_;
  DeviceRef device_;  ///< whose stream it is
  DeviceRef other_;   ///< of a copy between two GPUs: the one copied to
  int from_, to_;
  StepQueue queue_;
  std::uint64_t* host_ = nullptr;  ///< the host's side; nullptr between GPUs
  DeviceAddress source_ = 0, destination_ = 0;
  DeviceAddress mapped_ = 0;  ///< the host's side as the GPU sees it
  FunctionHandle function_ = nullptr;
  bool pinned_ = false;
};

Expected<void> DeviceCopy::prepare(const KernelMemory& memory) {
  TRY(queue_.open());
  std::byte* const host = from_ < 0 ? memory.source : to_ < 0 ? memory.data : nullptr;
  host_ = reinterpret_cast<std::uint64_t*>(host);
  source_ = reinterpret_cast<DeviceAddress>(memory.source);
  destination_ = reinterpret_cast<DeviceAddress>(memory.data);
  if (from_ >= 0) {
    TRY(fill_gpu(device_, source_));
  }
  if (host_ != nullptr) {
    const bool is_source = from_ < 0;
    auto filled = fill_in_pieces(words(), [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i) host_[i] = is_source ? word_at(i, seed_) : 0;
    });
    if (!filled) return filled;
  }
  if (to_ < 0) return {};
  const DeviceRef& target = from_ < 0 ? device_ : other_;
  // In its own stream and waited for: what stands there at the end came over the link.
  return in_own_stream(target, [&](StreamHandle stream) {
    return target.runtime->fill(target.device, stream, destination_, 0, work_.bytes.value);
  });
}

Expected<void> DeviceCopy::attach() {
  DeviceRuntime& gpu = *device_.runtime;
  DeviceReport& report = queue_.report();
  if (host_ == nullptr) {
    const auto direct = TRY(gpu.can_reach_peer(device_.device, other_.device));
    report.route = direct ? "direct" : "through the host";
    if (!direct) return {};
    // Drivers take the direct way where both sides let each other in.
    TRY(gpu.reach_peer(device_.device, other_.device));
    const auto back = gpu.can_reach_peer(other_.device, device_.device);
    return back && *back ? gpu.reach_peer(other_.device, device_.device) : Expected<void>{};
  }
  if (work_.pinning == Pinning::pinned || zero_copy()) {
    for (int i = 0; i < pin_times && !stop_requested(); ++i) {
      detach();
      const std::int64_t start = monotonic_ns();
      auto done = gpu.pin(device_.device, host_, work_.bytes.value, zero_copy());
      if (!done) return done;
      pinned_ = true;
      report.pin_seconds.push_back(static_cast<double>(monotonic_ns() - start) * 1e-9);
    }
  }
  if (!zero_copy()) return {};
  mapped_ = TRY(gpu.mapped_address(device_.device, host_));
  function_ = TRY(gpu.kernel(device_.device, "copy"));
  return {};
}

void DeviceCopy::detach() {
  if (!pinned_) return;
  pinned_ = false;
  const std::int64_t start = monotonic_ns();
  const auto done = device_.runtime->unpin(device_.device, host_);
  if (done) {
    queue_.report().unpin_seconds.push_back(static_cast<double>(monotonic_ns() - start) * 1e-9);
  }
}

Expected<void> DeviceCopy::copy_once(StreamHandle stream) {
  DeviceRuntime& gpu = *device_.runtime;
  const std::size_t bytes = work_.bytes.value;
  if (host_ == nullptr)
    return gpu.copy(device_.device, stream, CopyWay::device_to_device, destination_,
                    reinterpret_cast<void*>(source_), bytes);
  const bool to_gpu = from_ < 0;
  if (zero_copy()) {
    DeviceAddress to = to_gpu ? destination_ : mapped_;
    DeviceAddress from = to_gpu ? mapped_ : source_;
    std::uint64_t count = bytes / 16;
    std::array<void*, 3> arguments{&to, &from, &count};
    const std::uint64_t blocks = (count + block_threads - 1) / block_threads;
    return gpu.launch(device_.device, stream, function_,
                      static_cast<unsigned>(std::min<std::uint64_t>(blocks, most_blocks)),
                      block_threads, arguments.data());
  }
  return to_gpu
             ? gpu.copy(device_.device, stream, CopyWay::host_to_device, destination_, host_, bytes)
             : gpu.copy(device_.device, stream, CopyWay::device_to_host, source_, host_, bytes);
}

Expected<void> DeviceCopy::step(StreamHandle stream) {
  for (std::uint64_t i = 0; i < work_.copies; ++i) {
    TRY(copy_once(stream));
  }
  return {};
}

/// Copies words of a chunk to or from a GPU, and waits.
Expected<void> DeviceCopy::through(const DeviceRef& device, CopyWay way, DeviceAddress address,
                                   std::vector<std::uint64_t>& chunk, std::size_t count) const {
  return in_own_stream(device, [&](StreamHandle stream) {
    return device.runtime->copy(device.device, stream, way, address, chunk.data(),
                                count * sizeof(std::uint64_t));
  });
}

Expected<void> DeviceCopy::fill_gpu(const DeviceRef& device, DeviceAddress address) {
  std::vector<std::uint64_t> chunk(std::min<std::uint64_t>(words(), chunk_words));
  for (std::uint64_t first = 0; first < words(); first += chunk.size()) {
    if (stop_requested()) return fail(ErrorKind::interrupted, "interrupted");
    const std::size_t count = std::min<std::uint64_t>(chunk.size(), words() - first);
    for (std::size_t i = 0; i < count; ++i) chunk[i] = word_at(first + i, seed_);
    auto done = through(device, CopyWay::host_to_device, address + first * sizeof(std::uint64_t),
                        chunk, count);
    if (!done) return done;
  }
  return {};
}

Expected<void> DeviceCopy::check(const std::uint64_t* words, std::uint64_t first,
                                 std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t wanted = word_at(first + i, seed_);
    if (words[i] == wanted) continue;
    return wrong_result(
        fmt::format("the copy is wrong from byte {} on: {:#018x} instead of {:#018x}",
                    (first + i) * sizeof(std::uint64_t), words[i], wanted));
  }
  return {};
}

Expected<void> DeviceCopy::check_gpu(const DeviceRef& device, DeviceAddress address) const {
  std::vector<std::uint64_t> chunk(std::min<std::uint64_t>(words(), chunk_words));
  for (std::uint64_t first = 0; first < words() && !stop_requested(); first += chunk.size()) {
    const std::size_t count = std::min<std::uint64_t>(chunk.size(), words() - first);
    auto done = through(device, CopyWay::device_to_host, address + first * sizeof(std::uint64_t),
                        chunk, count);
    if (!done) return done;
    TRY(check(chunk.data(), first, count));
  }
  return {};
}

Expected<void> DeviceCopy::verify() const {
  if (queue_.problem()) return fail(*queue_.problem());
  if (to_ >= 0) return check_gpu(from_ < 0 ? device_ : other_, destination_);
  return check(host_, 0, words());
}

}  // namespace

std::unique_ptr<DeviceKernel> make_device_copy(const KernelSpec& spec, const DeviceRef& device,
                                               const DeviceRef& other, int from, int to) {
  return std::make_unique<DeviceCopy>(spec, device, other, from, to);
}

}  // namespace numatlas
