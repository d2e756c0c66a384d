// Who runs the points of a benchmark: CPUs, or GPUs (--on). Pure, but for the option.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/benchmark.h"
#include "run/device_flows.h"

namespace numatlas {

CLI::Option* add_on_option(CLI::App& app, std::string& text, bool has_memory);
/// The GPUs that run it: empty: all; nullopt: CPUs do. Error (usage): it names neither.
Expected<std::optional<std::vector<int>>> parse_on(const std::string& text,
                                                   const char* option = "--on");

/// The kernels of GPUs for these of CPUs: a mix of two reads to a write is triad, of one to one
/// copy. Error (usage, naming `option`): a GPU has no such kernel.
Expected<std::vector<Choice>> gpu_choices(const std::vector<Choice>& choices,
                                          const std::string& option);

/// The benchmark as these GPUs run it: its sweeps have two axes more, `memory` and `gpus`, the
/// last.
Benchmark by_gpus(const Benchmark& benchmark, const std::vector<int>& gpus);

/// A point of such a sweep: the flows of these kernels on each host that has their GPU, called by
/// workers that no other of them has, in its memory. `kernels(gpu)`.
Point gpu_point(const PlanInput& input, const AxisSetting& now,
                const std::function<std::vector<KernelSpec>(int)>& kernels);

/// Values of an axis of GPUs, each of std::vector<int>: each of these, or all at the same time.
std::vector<AxisValue> values_of_gpus(const std::vector<int>& gpus, bool together);

/// Error (usage, naming --memory) unless it is one place, there on every host. `what`: "a GPU
/// kernel uses memory in one place".
Expected<void> check_one_place(const PlanInput& input, const MemorySpec& memory, const char* what,
                               const char* hint);

/// Calls `add(machine, gpu, worker, number)` for `each` pieces of work of these GPUs on each host
/// that has them, with a worker that submits no other of them; where there are too few, the point
/// is skipped. `memory`: of the host, for Caller::memory; `work`: "run all these kernels".
void for_each_caller(
    const PlanInput& input, const std::vector<int>& gpus, std::size_t each,
    const MemoryPlacement& memory, Caller caller, const char* work, Point& point,
    const std::function<void(const Machine&, int gpu, int worker, std::size_t number)>& add);

/// Whether the memory of GPUs' kernels is the host's: that of --memory; that of a point.
bool is_of_host(const std::optional<MemorySpec>& memory);
bool is_of_host(const AxisSetting& now);

/// The largest that all GPUs have room for: two such flows may be in memory at a time.
Bytes largest_on_gpus(const PlanInput& input, Bytes most);
/// The fewest that a GPU has; a usual number where a driver or a file does not say.
int multiprocessors_of_gpus(const PlanInput& input);

}  // namespace numatlas
