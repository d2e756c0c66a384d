// What is done to memory. One file an operation; the engine knows only this interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/atomics.h"
#include "kernels/chase.h"
#include "kernels/device.h"
#include "kernels/fault.h"
#include "kernels/group_times.h"
#include "kernels/migrate.h"
#include "kernels/ping_pong.h"
#include "kernels/random.h"
#include "kernels/scatter.h"
#include "kernels/stream.h"

namespace numatlas {

/// The list of all kernels: what each is told. A type has `name()`, which may depend on what is
/// told, and `kinds()`: for each of its names what else there is to know (kernels/kind.h). In the
/// order in which kernels are listed.
using KernelParameters =
    std::variant<ChaseParameters, LoopParameters, MixParameters, PassesParameters,
                 ScatterParameters, RandomParameters, PatternParameters, PingPongParameters,
                 CounterParameters, FaultParameters, MigrateParameters, DeviceCopyParameters,
                 DeviceChaseParameters, DeviceStreamParameters, DeviceCounterParameters>;

/// A kernel as data: enough to make the same one on every rank.
struct KernelSpec {
  KernelParameters parameters;
  Stores stores = Stores::regular;  ///< of kernels that write
  std::uint64_t seed = 1;           ///< of what is random in it

  /// The parameters of a kernel that is known to have these.
  template <class P>
  P& as() {
    return std::get<P>(parameters);
  }
  template <class P>
  const P& as() const {
    return std::get<P>(parameters);
  }
  /// The parameters where they are these, or have these as a base (PageWork, DeviceWork); else
  /// nullptr.
  template <class P>
  const P* find() const {
    return std::visit(
        [](const auto& its) -> const P* {
          if constexpr (std::is_base_of_v<P, std::remove_cvref_t<decltype(its)>>) return &its;
          return nullptr;
        },
        parameters);
  }
  template <class P>
  P* find() {
    return const_cast<P*>(std::as_const(*this).find<P>());
  }
  friend bool operator==(const KernelSpec&, const KernelSpec&) = default;
};

/// The kernel of this name, with usual parameters; it must be one of those in the list above.
KernelSpec kernel_named(std::string_view name);
std::string name_of(const KernelSpec& spec);  ///< "mix"
/// "2:1" of a mix, "" of any other kernel; and the whole name, "mix 2:1".
std::string mix_text(const KernelSpec& spec);
std::string full_name(const KernelSpec& spec);
/// Those that a file of scenarios can name, those of GPUs included.
std::vector<std::string> kernel_names();

const KernelTraits& traits_of(const KernelSpec& spec);
inline bool on_gpu(const KernelSpec& spec) { return traits_of(spec).on_gpu; }
/// Whether a region of this size holds a step; error kind usage, names --size (or an option of the
/// kernel).
Expected<void> check_size(const KernelSpec& spec, Bytes size);
Traffic traffic_per_step(const KernelSpec& spec);
/// From one line that it touches to the next, as far as it leaves lines out.
Bytes stride_of(const KernelSpec& spec);
/// What the time of a step is the figure of, where its bytes are no bandwidth, and its part of the
/// step: {"core_to_core", 0.5}. "" for kernels that move memory.
struct StepTime {
  std::string key;
  double part = 1;
};
StepTime step_time(const KernelSpec& spec);

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
  /// Writes the memory (first touch) and proves what it wrote; memory that is filled it only takes
  /// over, where others may read it too (chase, read, the answering sides). Called by the worker
  /// that will run it. An error where check_size has one.
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
  /// Of the vector loops that it runs, one a pass and in turn; none for other kernels.
  virtual std::vector<Operation> loops() const { return {}; }
  /// From now on vectors of so many bytes for one of these (LoopCall::width).
  virtual void use_width(Operation operation, unsigned bytes) { (void)operation, (void)bytes; }
  /// Of what it did so far. Not while `run` is under way.
  virtual std::vector<StepCount> counts() const { return {}; }
  /// From now on groups of steps are counted anew; and how long each took, where they are timed.
  virtual void count_anew() {}
  virtual std::optional<GroupTimes> group_times() const { return std::nullopt; }
  /// Looks at what it has written and read so far, so that no work can be left out unseen; error
  /// kind internal when that is wrong.
  virtual Expected<void> verify() const = 0;
};

/// Not of a kernel that a GPU runs: src/gpu makes those.
std::unique_ptr<Kernel> make_kernel(const KernelSpec& spec);

}  // namespace numatlas
