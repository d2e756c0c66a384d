// Latency and bandwidth of memory as a GPU's kernels see it: what `latency`, `bandwidth` and
// `matrix` measure with --on gpus, as sweeps and rules; and what other benchmarks say of GPUs.
#pragma once

#include <string>
#include <vector>

#include "run/benchmark.h"

namespace numatlas::on_gpus {

/// One thread chases, through what each cache holds and what none does.
Sweep latency(const std::vector<GpuLoads>& loads);
/// All multiprocessors stream, from a cache and from memory.
Sweep bandwidth();
/// Makes a benchmark that of these sweeps, with their tables, facts and shares of the bus.
void use(Benchmark& benchmark, std::vector<Sweep> sweeps);
/// The same for all memories, in one size of each, with a matrix of GPUs and memories.
void use_matrix(Benchmark& benchmark, std::vector<Sweep> sweeps);

/// Which GPUs these are, in the first of the groups `apart`; `more`: columns behind their nodes.
Table gpus_table(std::vector<std::string> apart, const std::vector<ViewColumn>& more);

/// A survey's part by GPUs; none where no GPU can be used.
SurveyPart survey_part(const Machine& machine, SurveyPart part);

/// The label `memory` in words: "its own memory", "memory of GPU 1", "memory of node 0".
std::string memory_words(const std::string& memory);

/// Adds what a rate is of that of the memory's bus.
std::vector<Figure> totals(const Case& one, const RunReport& report);

}  // namespace numatlas::on_gpus
