// What is done to memory. One file an operation; the engine knows only this interface.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/chain.h"
#include "kernels/stream_loops.h"
#include "kernels/traits.h"

namespace numatlas {

/// When what was written to persistent memory is made to last: never, by each worker when it has
/// done its part of a pass, by one worker of the rank for all when all have, or block by block.
enum class Persist { none, individual, collective, per_block };
const char* name_of(Persist persist);  ///< "none", "individual", "collective", "per-block"

/// How a GPU gets at memory of the host: copies of memory that was pinned for them, of memory that
/// its driver allocated pinned, of memory as it is (which the driver copies by way of its own),
/// reads and writes of its kernels over the link, copies of memory that the driver may move.
enum class Pinning { pinned, driver, pageable, zero_copy, managed };
inline constexpr std::array all_pinnings{Pinning::pinned, Pinning::driver, Pinning::pageable,
                                         Pinning::zero_copy, Pinning::managed};
const char* name_of(Pinning pinning);  ///< "pinned", "driver", "pageable", "zero-copy", "managed"

/// What CPUs have of a line when a GPU loads it: fetched a moment ago, or flushed from all caches.
enum class HostCaches { warm, cold };
const char* name_of(HostCaches caches);  ///< "warm", "cold"

/// What a GPU does, for the kernels "device copy" and "device chase" (src/gpu).
struct DeviceWork {
  int gpu = -1;  ///< whose work it is, as `gpu:N` names it; -1: a CPU's
  Pinning pinning = Pinning::pinned;
  int depth = 0;             ///< steps queued at a time; 1: each is waited for before the next
  std::uint64_t copies = 1;  ///< of all the bytes in a step of a copy
  Bytes bytes;               ///< of one copy
  std::uint64_t loads = 0;   ///< a step of the chase: one launch
  HostCaches caches = HostCaches::cold;  ///< of the chase
  friend bool operator==(const DeviceWork&, const DeviceWork&) = default;
};

/// Most lines that a ping-pong uses in turn: they are of one huge page at most.
inline constexpr unsigned most_ping_pong_lines = 4096;
/// Bytes of memory that so many of them take.
Bytes ping_pong_bytes(unsigned lines);
/// Where the counters lie that several workers add to: one for all, words of the same lines, one in
/// lines of each worker's own.
enum class Sharing { same, neighbours, own };
inline constexpr std::array all_sharings{Sharing::same, Sharing::neighbours, Sharing::own};
const char* name_of(Sharing sharing);  ///< "same", "neighbours", "own"

/// What a worker adds to, for the kernels "fetch-add" and "compare-exchange".
struct CounterWork {
  Sharing sharing = Sharing::same;
  std::uint64_t worker = 0, workers = 1;  ///< its number among those that share the memory
  friend bool operator==(const CounterWork&, const CounterWork&) = default;
};

/// How pages are made to be there: each written to, by madvise(MADV_POPULATE_WRITE), or by
/// mmap(MAP_POPULATE).
enum class Faulting { touch, madvise, mmap };
inline constexpr std::array all_faultings{Faulting::touch, Faulting::madvise, Faulting::mmap};
const char* name_of(Faulting faulting);  ///< "touch", "madvise", "mmap"

/// By which call pages are moved to another node.
enum class Moving { move_pages, mbind };
inline constexpr std::array all_movings{Moving::move_pages, Moving::mbind};
const char* name_of(Moving moving);  ///< "move_pages", "mbind"

/// What is done to pages, for the kernels "fault" and "migrate". A step is of the pages in
/// `step_bytes`.
struct PageWork {
  Bytes page{4096};   ///< size of the pages asked for
  bool pool = false;  ///< of a huge page pool
  Faulting faulting = Faulting::touch;
  Moving moving = Moving::move_pages;
  int from = -1, to = -1;  ///< nodes, of "migrate"
  /// Long against the call, short against the memory: 2 MiB, or a page where that is more.
  std::uint64_t step_bytes() const { return std::max<std::uint64_t>(page.value, 2 * mib); }
  friend bool operator==(const PageWork&, const PageWork&) = default;
};

/// A kernel as data: enough to make the same one on every rank.
struct KernelSpec {
  std::string name = "chase";
  ChainSpec chain;                         ///< of the chase
  bool verify_full = false;                ///< walk the whole chain before use, besides the proof
  Stores stores = Stores::regular;         ///< of the kernels that write
  unsigned mix_reads = 2, mix_writes = 1;  ///< lines a step of the mix
  std::vector<Operation> passes;           ///< of "stream": one a pass, in turn
  std::uint64_t array_lines = 0;           ///< of "stream": of each array; 0: as many as fit
  Persist persist = Persist::none;         ///< of "stream"
  DeviceWork device;                       ///< of what a GPU does
  unsigned lines = 1;                      ///< of the ping-pong: lines that it uses in turn
  CounterWork counter;                     ///< of the atomic operations
  PageWork page;                           ///< of "fault" and "migrate"
  friend bool operator==(const KernelSpec&, const KernelSpec&) = default;
};

/// What a step moves, in bytes: as STREAM counts it, and with the lines that regular stores fetch
/// before they write (write-allocate).
struct Traffic {
  std::size_t read = 0, written = 0, allocated = 0;
  std::size_t counted() const { return read + written; }
  std::size_t with_allocate() const { return read + written + allocated; }
};

/// A number that a kernel counted while it ran, of each thing that the time of a step is of:
/// {"attempts", 1.7}.
struct StepCount {
  std::string key;
  double each = 0;
};

/// The memory that a kernel works on.
struct KernelMemory {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::byte* source = nullptr;  ///< where it reads from, when that is apart from where it writes
  std::size_t source_bytes = 0;
  /// Makes what lies in this range last; empty where the memory does not.
  std::function<Expected<void>(const void*, std::size_t)> persist = {};
  bool filled = false;  ///< a kernel alike has prepared it: it is read as it stands
};

/// One operation on some memory, with its position kept between calls.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Whether a region of this size holds a step of it; error kind usage, names --size.
  virtual Expected<void> check_size(Bytes size) const = 0;
  /// Writes the memory (first touch) and proves what it wrote; memory that is filled it only takes
  /// over, where others may read it too (chase, read, the answering sides). Called by the worker
  /// that will run it.
  virtual Expected<void> prepare(const KernelMemory& memory) = 0;
  /// Whether it has to make ready for steps, and does it by `ready`, which is no part of their
  /// time.
  virtual bool gets_ready() const { return false; }
  virtual void ready(std::uint64_t steps) { (void)steps; }
  /// Goes on for `steps` steps from where the last call stopped.
  virtual void run(std::uint64_t steps) = 0;
  /// As `run`, but only to warm caches: no step has to wait for the one before it.
  virtual void run_ahead(std::uint64_t steps) { run(steps); }
  /// Whether somebody must call `persist` when all workers of the rank have done a pass.
  virtual bool persists_together() const { return false; }
  /// Makes what the last pass has written last. By any thread, while `run` is not under way.
  virtual void persist() {}
  /// Steps that touch each line of the memory once.
  virtual std::uint64_t steps_per_pass() const = 0;
  virtual Traffic traffic_per_step() const = 0;
  /// Of the vector loops that it runs, one a pass and in turn; none for other kernels.
  virtual std::vector<Operation> loops() const { return {}; }
  /// From now on vectors of so many bytes for one of these (LoopCall::width).
  virtual void use_width(Operation operation, unsigned bytes) { (void)operation, (void)bytes; }
  /// Of what it did so far. Not while `run` is under way.
  virtual std::vector<StepCount> counts() const { return {}; }
  /// Looks at what it has written and read so far, so that no work can be left out unseen; error
  /// kind internal when that is wrong.
  virtual Expected<void> verify() const = 0;
};

/// Error kind usage for an unknown name.
Expected<std::unique_ptr<Kernel>> make_kernel(const KernelSpec& spec);
/// Those that a file of scenarios can name, those of GPUs included.
std::vector<std::string> kernel_names();
/// What the time of a step is the figure of, where its bytes are no bandwidth, and its part of the
/// step: {"core_to_core", 0.5}. "" for kernels that move memory.
struct StepTime {
  std::string key;
  double part = 1;
};
StepTime step_time(const KernelSpec& spec);
/// The two that a GPU runs, which only src/gpu makes.
inline constexpr const char* device_copy = "device copy";
inline constexpr const char* device_chase = "device chase";
inline bool on_gpu(const KernelSpec& spec) { return spec.device.gpu >= 0; }
/// "2:1": lines read and written a step of the mix, each from 1 to 64. Errors name --mix.
Expected<std::pair<unsigned, unsigned>> parse_mix(std::string_view text);
/// "2:1" of a mix, "" of any other kernel; and the whole name, "mix 2:1".
std::string mix_text(const KernelSpec& spec);
std::string full_name(const KernelSpec& spec);
/// Of the kernel that make_kernel gives; nothing for an unknown name.
Traffic traffic_per_step(const KernelSpec& spec);
/// The pointer chase: a step is one dependent load, with several chains one of each.
std::unique_ptr<Kernel> make_chase_kernel(const KernelSpec& spec);
/// One operation of STREAM (or a plain read, write, update) over the region: as many arrays as it
/// takes lie in it one after the other. With a source apart, the array that it writes fills the
/// region and those that it reads lie in the source. A step is a line of each array.
std::unique_ptr<Kernel> make_stream_kernel(const KernelSpec& spec);
/// Lines of 64 bytes a worker's region must hold for `lines` lines of each of STREAM's arrays.
Bytes stream_region_bytes(std::uint64_t lines);
/// What an operation moves a line of its arrays.
Traffic traffic_of_line(Operation operation, Stores stores);
const char* name_of(Operation operation);  ///< "copy"
/// STREAM itself: arrays a, b and c; each pass does one of `passes` to all of them, in turn:
/// c = a, b = s c, c = a + b, a = b + s c; a = value (write), sum of a (read: alone only). A step
/// is a line of each array; traffic_per_step is that of the first of `passes`.
std::unique_ptr<Kernel> make_passes_kernel(const KernelSpec& spec);
/// Reads and writes in a given proportion, in arrays of that proportion.
std::unique_ptr<Kernel> make_mix_kernel(const KernelSpec& spec);
/// Updates of a word in each line, in strides that prefetchers do not follow, none waiting for
/// another. A step is an update.
std::unique_ptr<Kernel> make_scatter_kernel(const KernelSpec& spec);
/// The two sides of a line that two CPUs hand to each other ("cas", "store": how), or of several
/// that they take in turn, each for a while. A step of the asking side is a round trip; a step of
/// the answering side ("cas answer", "store answer") is a look at the line, so that it can be ended
/// at any time.
std::unique_ptr<Kernel> make_ping_pong_kernel(const KernelSpec& spec);
/// Counters that several workers add to at the same time ("fetch-add", "compare-exchange": how). A
/// step is one addition that succeeded; the memory's owner makes the counters.
std::unique_ptr<Kernel> make_atomics_kernel(const KernelSpec& spec);
/// Bytes of the memory that so many workers share for it.
Bytes counter_bytes(std::uint64_t workers);
/// First touch: pages of memory that is mapped and not there yet are made to be there, and given
/// back between steps. Counts the thread's page faults (getrusage).
std::unique_ptr<Kernel> make_fault_kernel(const KernelSpec& spec);
/// Pages are moved from one node to another, and back between steps. Memory that is filled may be
/// in use by others meanwhile.
std::unique_ptr<Kernel> make_migrate_kernel(const KernelSpec& spec);

}  // namespace numatlas
