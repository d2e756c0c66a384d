// `memory_results-PxT-TIMESTAMP.dat`: the XML of distributed_streams, which its heat maps are drawn
// from. stream_run has experiment (here the file's name), configuration and results; configuration
// has processes_per_node, threads_per_process, number_of_nodes and KERNEL_size (bytes of a process
// in one pass); results has a node for each host, with name and, for each kernel, Average, Minimum
// and Maximum in seconds. Average is that of the node's processes over all rounds; Minimum and
// Maximum are of the node's own time (PassTimes::node; that program takes its slowest process). The
// first round is left out.
//
// Ours has the times in full (that program writes 6 decimals) and, where hosts run unlike numbers
// of processes, `processes` and `threads` in each node; processes_per_node is then that of most
// hosts. Kernels of persistent memory have their mode in the name (Copy_individual), so that
// readers of Copy do not meet two.
#pragma once

#include <string>

#include "record/report.h"

namespace numatlas {

/// "memory_results-48x1-100101042021.dat": processes a node, threads of each, and when it started:
/// hours, minutes, day, month and year (10:01 on 1 April 2021; UTC).
std::string dat_name(const RunReport& run);

/// A kernel's name as that program writes it: "Triad".
std::string capitalised(std::string name);

std::string dat_text(const RunReport& run);

}  // namespace numatlas
