// What a GPU does: its parameters. The kernels themselves are those of src/gpu.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "kernels/atomics.h"
#include "kernels/stream_loops.h"
#include "kernels/traits.h"

namespace numatlas {

/// How a GPU gets at memory of the host: copies of memory that was pinned for them, of memory as it
/// is (which the driver copies by way of its own), reads and writes of its kernels over the link.
enum class Pinning { pinned, pageable, zero_copy };
inline constexpr std::array all_pinnings{Pinning::pinned, Pinning::pageable, Pinning::zero_copy};
const char* name_of(Pinning pinning);  ///< "pinned", "pageable", "zero-copy"

/// Which caches of the GPU may answer a load of its chase through a GPU's memory: all, or those
/// that its multiprocessors share, past the one that each has.
enum class GpuLoads { cached, l2 };
inline constexpr std::array all_gpu_loads{GpuLoads::cached, GpuLoads::l2};
const char* name_of(GpuLoads loads);  ///< "cached", "l2"

/// What any kernel of a GPU is told.
struct DeviceWork {
  int gpu = -1;  ///< whose work it is, as `gpu:N` names it
  Pinning pinning = Pinning::pinned;
  friend bool operator==(const DeviceWork&, const DeviceWork&) = default;
};

/// Copies between the host's memory and a GPU's, or between two GPUs.
struct DeviceCopyParameters : DeviceWork {
  int depth = 0;             ///< steps queued at a time; 1: each is waited for before the next
  std::uint64_t copies = 1;  ///< of all the bytes in a step
  Bytes bytes;               ///< of one copy
  static const char* name() { return "device copy"; }
  static std::vector<KernelKind> kinds();
  friend bool operator==(const DeviceCopyParameters&, const DeviceCopyParameters&) = default;
};

/// One thread of a GPU follows a chain, in the host's memory or in that of a GPU.
struct DeviceChaseParameters : DeviceWork {
  std::uint64_t loads = 0;               ///< a step: one launch
  GpuLoads loads_by = GpuLoads::cached;  ///< of a GPU's memory, as is the next
  Bytes stride{128};                     ///< distance of the chain's nodes
  static const char* name() { return "device chase"; }
  static std::vector<KernelKind> kinds();
  friend bool operator==(const DeviceChaseParameters&, const DeviceChaseParameters&) = default;
};

/// One of STREAM's operations, a read or a write, by all multiprocessors of a GPU. The arrays lie
/// one after the other: what is written, then what is read. A step is a launch, which goes over
/// them several times.
struct DeviceStreamParameters : DeviceWork {
  Operation operation = Operation::read;  ///< not the mix
  Bytes bytes;                            ///< of all arrays
  std::uint64_t passes = 1;               ///< a launch
  unsigned blocks = 0;                    ///< of a launch; 0: as many as are under way at a time
  int arrays() const;
  /// Of each: a multiple of 256 bytes; 0 where they do not hold that.
  Bytes array_bytes() const;
  const char* name() const;  ///< "gpu read"
  static std::vector<KernelKind> kinds();
  friend bool operator==(const DeviceStreamParameters&, const DeviceStreamParameters&) = default;
};

/// Threads of a GPU add to counters: a step is a launch.
struct DeviceCounterParameters : DeviceWork {
  Sharing sharing = Sharing::same;
  static constexpr std::uint64_t block = 256;
  std::uint64_t threads = 1;    ///< up to a block, or whole blocks
  std::uint64_t adds = 1;       ///< of each of them in a launch
  std::uint64_t apart() const;  ///< bytes from one thread's counter to the next one's
  Bytes bytes() const;          ///< of all counters
  static const char* name() { return "gpu fetch-add"; }
  static std::vector<KernelKind> kinds();
  friend bool operator==(const DeviceCounterParameters&, const DeviceCounterParameters&) = default;
};

}  // namespace numatlas
