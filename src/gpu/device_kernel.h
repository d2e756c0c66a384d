// Kernels that a GPU runs, or its copy engines. A step is a copy (or several small ones, or a
// launch of the chase); the thread that calls queues them, and is never far ahead.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/signals.h"
#include "gpu/step_queue.h"
#include "kernels/filling.h"
#include "kernels/kernel.h"
#include "memory/buffer.h"

namespace numatlas {

using Words = std::vector<std::uint64_t>;

/// The error of a kernel whose output is wrong.
tl::unexpected<Error> wrong_result(std::string message);

/// Memory that a kernel works on.
struct Side {
  Device* gpu = nullptr;      ///< nullptr: the host's
  std::byte* data = nullptr;  ///< an address of the GPU's where it is a GPU's

  DeviceAddress address() const { return reinterpret_cast<DeviceAddress>(data); }
  /// Word i becomes word_of(i). Error (interrupted): the run was stopped.
  template <class WordOf>
  Expected<void> write(std::uint64_t count, const WordOf& word_of) const;
  Expected<void> clear(std::uint64_t bytes) const;
  /// Error (internal) unless word i is wanted(i), from `first` up to `end`; a stop ends the look.
  /// `what`: "the copy is".
  template <class Wanted>
  Expected<void> check(std::uint64_t first, std::uint64_t end, const std::string& what,
                       const Wanted& wanted) const;

 private:
  // Memory of a GPU is written and read by way of this much of the host's.
  static constexpr std::uint64_t chunk_words = mib;

  /// Between a GPU's memory from word `first` on and all of the chunk.
  Expected<void> copy(CopyWay way, std::uint64_t first, Words& chunk) const;
};

/// The life of a kernel. Each one says what stands in memory before (fill), what a step is
/// (launch), and what stands there after (compare).
class DeviceKernel : public Kernel {
 public:
  Expected<void> prepare(const KernelMemory& memory) final;
  /// What has to be done when the memory stands and its place was looked at: pinning it. By the
  /// thread that will run it.
  virtual Expected<void> attach();
  void run(std::uint64_t steps) override;
  /// Waits for all that is under way.
  void finish();
  /// Undoes attach().
  virtual void detach();
  DeviceReport take_report() { return std::move(queue_.report()); }
  std::uint64_t steps_per_pass() const final { return 1; }
  Expected<void> verify() const final;

 protected:
  /// `owner`: the GPU whose memory it works on, nullptr for the host's. `depth`, `sleeps`: of the
  /// queue. `name`: of the kernel; "" for none.
  DeviceKernel(Device& device, Device* owner, int depth, bool sleeps, std::string name)
      : device_(device), memory_{owner}, queue_(device, depth, sleeps), name_(std::move(name)) {}

  virtual Expected<void> fill(const KernelMemory& memory) = 0;
  virtual Expected<void> launch(const StreamHandle& stream) = 0;
  /// After at least one step, all of which went well.
  virtual Expected<void> compare() const = 0;

  Expected<void> pin(std::byte* host, bool mapped);
  Expected<void> find_kernel();
  /// The results to the GPU, or back.
  Expected<void> copy_results(CopyWay way);
  template <class... Values>
  Expected<void> launch_kernel(const StreamHandle& stream, const LaunchGrid& grid,
                               Values... values) {
    std::array<void*, sizeof...(values)> arguments{&values...};
    return device_.launch(stream, function_, grid.blocks, grid.threads, arguments.data());
  }

  Device& device_;  ///< whose kernel it is
  Side memory_;     ///< what it works on, or copies to
  StepQueue queue_;
  std::size_t bytes_ = 0;    ///< of the memory
  DeviceAddress start_ = 0;  ///< of the memory, as the kernel finds it
  PinHandle pinned_;
  /// What the kernel gives beside what it writes: words in memory of its GPU, with these values
  /// before; empty for none.
  Words results_;
  MemoryHandle result_;
  std::uint64_t launches_ = 0;

 private:
  std::string name_;
  FunctionHandle function_ = nullptr;
};

template <class WordOf>
Expected<void> Side::write(std::uint64_t count, const WordOf& word_of) const {
  if (!gpu) {
    auto* const words = reinterpret_cast<std::uint64_t*>(data);
    return fill_in_pieces(count, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i) words[i] = word_of(i);
    });
  }
  Words chunk;
  for (std::uint64_t first = 0; first < count; first += chunk_words) {
    if (stop_requested()) return fail(ErrorKind::interrupted, "interrupted");
    chunk.resize(std::min(chunk_words, count - first));
    for (std::uint64_t i = 0; i < chunk.size(); ++i) chunk[i] = word_of(first + i);
    TRY(copy(CopyWay::host_to_device, first, chunk));
  }
  return {};
}

template <class Wanted>
Expected<void> Side::check(std::uint64_t first, std::uint64_t end, const std::string& what,
                           const Wanted& wanted) const {
  Words chunk;
  for (; first < end && !stop_requested(); first += chunk_words) {
    const std::uint64_t count = std::min(chunk_words, end - first);
    const std::uint64_t* found = reinterpret_cast<const std::uint64_t*>(data) + first;
    if (gpu) {
      chunk.resize(count);
      TRY(copy(CopyWay::device_to_host, first, chunk));
      found = chunk.data();
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t right = wanted(first + i);
      if (found[i] == right) continue;
      return wrong_result(fmt::format("{} wrong from byte {} on: {:#018x} instead of {:#018x}",
                                      what, (first + i) * sizeof(std::uint64_t), found[i], right));
    }
  }
  return {};
}

/// Memory of GPU number `gpu`; data() is an address of the GPU's, not to be touched. Errors:
/// unavailable (no such GPU), resource (about "size").
Expected<std::unique_ptr<Buffer>> allocate_on_gpu(Bytes bytes, int gpu);

/// Of any kernel that is on_gpu. `from`, `to`: the GPUs whose memory is copied from and to, -1 for
/// the host's; where nothing is copied `to` is where the memory is. Errors: unavailable (no such
/// GPU; what its driver lacks).
Expected<std::unique_ptr<DeviceKernel>> make_device_kernel(const KernelSpec& spec, int from,
                                                           int to);

// Internal: the kernels behind make_device_kernel.

/// `device` drives the copy: the one copied from, where both sides are GPUs; nullptr: the host.
std::unique_ptr<DeviceKernel> make_device_copy(const KernelSpec& spec, Device& device, Device* from,
                                               Device* to);
// The others work on memory of `owner`; nullptr: of the host.
std::unique_ptr<DeviceKernel> make_device_chase(const KernelSpec& spec, Device& device,
                                                Device* owner);
std::unique_ptr<DeviceKernel> make_device_stream(const KernelSpec& spec, Device& device,
                                                 Device* owner);
std::unique_ptr<DeviceKernel> make_device_counters(const KernelSpec& spec, Device& device,
                                                   Device* owner);

}  // namespace numatlas
