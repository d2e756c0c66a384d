// Who runs the points of a benchmark: CPUs, or GPUs (--on). Pure, but for the option.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/benchmark.h"

namespace numatlas {

CLI::Option* add_on_option(CLI::App& app, std::string& text, bool has_memory);
/// The GPUs that run it: empty: all; nullopt: CPUs do. Error (usage): it names neither.
Expected<std::optional<std::vector<int>>> parse_on(const std::string& text);

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

/// Whether the memory of GPUs' kernels is the host's: that of --memory; that of a point.
bool is_of_host(const std::optional<MemorySpec>& memory);
bool is_of_host(const AxisSetting& now);

/// The largest that all GPUs have room for: two such flows may be in memory at a time.
Bytes largest_on_gpus(const PlanInput& input, Bytes most);
/// The fewest that a GPU has; a usual number where a driver or a file does not say.
int multiprocessors_of_gpus(const PlanInput& input);

}  // namespace numatlas
