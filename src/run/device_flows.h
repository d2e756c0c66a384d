// What a flow of a GPU does where nobody says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/scenario.h"
#include "gpu/machine_gpus.h"
#include "run/benchmark.h"

namespace numatlas {

/// Copies in a step: several of small ones, so that timing them is not what takes the time; one
/// where each is waited for (depth 1).
std::uint64_t usual_copies(Bytes size, int depth);
/// Dependent loads of a launch of the chase.
std::uint64_t usual_loads(Bytes size);
/// The same through memory of a GPU: a millisecond from the nearest cache.
inline constexpr std::uint64_t usual_gpu_loads = 1 << 16;
/// Before the first sample, of a flow whose kernel and region are set.
Bytes device_warm_up(const Flow& flow);

/// How often a launch of a GPU's stream goes over memory of this size, a GPU's or the host's: so
/// often that the launch itself takes no time that counts.
std::uint64_t usual_passes(Bytes size, bool of_gpu);
/// Which memory a GPU's chase or stream is of: "L1", "L2", "memory"; "-" where that is not known,
/// it lies between two, or nothing of the GPU's own is used.
std::string level_on_gpu(const Machine& machine, const Flow& flow);

/// "h2d", "d2h", "p2p" of a GPU's copy; "" of any other flow.
std::string direction_of(const Flow& flow);

/// Where the thread that queues a GPU's work runs: near the GPU, on the farthest node with CPUs, or
/// near the memory.
enum class Caller { near, far, memory };
/// A worker of `host` that is not in `taken`, on a CPU near the GPU (far from it; near the memory):
/// of that node, else of the nearest to it that has one left. Where the GPU's node is not known,
/// the memory's counts. nullopt: no worker is left.
std::optional<int> caller_for(const PlanInput& input, int host, const Gpu& gpu,
                              const MemoryPlacement& memory, Caller where,
                              const std::set<int>& taken);
/// Memory of the host for a flow that this worker calls: `asked`, or what the worker inherits.
/// Errors name --memory.
Expected<MemoryPlacement> host_memory_of(const MemoryPlacement& asked, const Machine& machine,
                                         const WorkerPlacement& caller);
/// Adds to a machine what the drivers say of its GPUs: Benchmark::complete.
Expected<void> complete_gpus(const RunOptions& options, Machine& machine);
/// Why no GPU of a live machine can be used; "" where one can, and of a recorded machine.
std::string why_no_gpu(const Machine& machine);
/// GPUs as an option lists them: "0,1", "0-3"; empty where it is not given. Errors name the option.
Expected<std::vector<int>> parse_gpus(const std::string& text, const char* option);
/// A worker on every CPU, and as many more as there are flows of GPUs that run at the same time.
Expected<Workers> callers(const RunOptions& options, const Machine& machine,
                          const TaskContext& task, std::size_t flows);
/// These GPUs as an option names them, each once; all that there are where it names none. Error
/// (unavailable): there is no such GPU. Names no option.
Expected<std::vector<int>> chosen_gpus(const PlanInput& input, const std::vector<int>& asked);

/// Why these regions of a host do not fit in the memory of its GPUs together; nullopt where they
/// do.
std::optional<Error> gpu_room_problem(const std::vector<Region>& regions, const Machine& machine);

/// Error (unavailable): there is no such GPU. Names no option.
Error no_such_gpu(int gpu, const std::set<int>& there);

}  // namespace numatlas
