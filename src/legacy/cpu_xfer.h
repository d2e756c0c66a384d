// numa_cpu_xfer_bench: what the CPU extension of numa-gpu-xfer-bench has Intel MLC measure,
// measured by numatlas and printed in the layout that MLC's users know.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace numatlas::legacy {

/// Peak injection bandwidths: B/s by MLC's names of its traffic ("ALL Reads", "3:1 Reads-Writes").
struct PeakInjection {
  std::optional<int> memory_node;  ///< all memory was there; absent: each CPU's own node
  std::vector<std::pair<std::string, std::optional<double>>> rates;

  bool empty() const { return rates.empty(); }
};

/// Bandwidth of reads in B/s: one row per node with CPUs, one column per node with memory.
struct NodeMatrix {
  std::vector<int> columns;
  std::vector<std::pair<int, std::vector<std::optional<double>>>> rows;

  bool empty() const { return rows.empty(); }
};

/// What MLC printed, as far as it has these lines; empty where it has none. Pure.
PeakInjection parse_peak_injection(const std::string& mlc_output);
NodeMatrix parse_bandwidth_matrix(const std::string& mlc_output);

/// In MLC's layout, MB/s of 10^6 bytes. With `mlc` given its figures stand beside ours, with the
/// ratio. Pure.
std::string peak_injection_text(const PeakInjection& ours, const PeakInjection* mlc);
std::string bandwidth_matrix_text(const NodeMatrix& ours, const NodeMatrix* mlc);

/// The program. Returns its exit code.
int cpu_xfer(const std::vector<std::string>& words);

}  // namespace numatlas::legacy
