// From a trace to figures, by what its kernel does: the same for every benchmark.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/scenario.h"
#include "record/report.h"

namespace numatlas {

/// Whether it follows a chain of dependent loads, by a CPU.
bool is_chase(const Flow& flow);

/// A group of loads that took at least so long was stopped: by a scheduler or a hypervisor.
inline constexpr double longest_group_ns = 100'000;
/// Times in s of the groups that were neither stopped nor interrupted.
Distribution distribution_of_groups(const GroupTimes& times);

/// A trace's samples in the unit of its first metric, in the order of time. Pure.
std::vector<double> samples_of(const Flow& flow, const Trace& trace);
/// The samples in the same unit, ascending, without those in which it was stopped; all samples of
/// what moves memory.
std::vector<double> running_samples_of(const Flow& flow, const Trace& trace);

/// The mean over the samples in which the thread ran: "latency" in s (a dependent load) of a chase,
/// and where it timed groups of loads "tail_timer" in s, "tail_stopped" and "tail_interrupted";
/// "core_to_core" in s (one way: half a round trip) of a line handed between two CPUs; the time of
/// a step of other kernels that move no bytes, by its name (step_time), and what they counted in
/// each. Of a GPU's copies "bandwidth" by the CPU's clock (the mean) (a copy's bytes count once),
/// by the GPU's own clock "copy_latency" of one that is waited for, or "copy_time" and
/// "event_bandwidth" of queued ones, "pin_time" and "unpin_time" where there are such; "latency" of
/// a GPU's chase by its own clock; "bandwidth" (as STREAM counts bytes) and "traffic" (with the
/// lines that regular stores fetch) in B/s of what moves memory; nothing of an answering side.
/// `sorted`: the trace's running_samples_of. Pure.
std::vector<Figure> figures_of(const Flow& flow, const Trace& trace, std::vector<double> sorted);
std::vector<Figure> figures_of(const Flow& flow, const Trace& trace);

/// "bandwidth_sum" and "traffic_sum" in B/s over all flows of a case that move memory, of all
/// hosts: on each, the bytes of its flows over the time in which all were recording; the summary is
/// over equal stretches of that time. "traffic_sum" only where it goes to memory. Nothing for
/// serial runs.
std::vector<Figure> sums_of(const Case& one, const RunReport& report);
/// The same over the flows that load the memory, or over those that do not.
std::vector<Figure> sums_of(const Case& one, const RunReport& report, bool of_load);

/// The same of each host that has such flows, where there are several hosts.
std::vector<HostTotals> host_sums_of(const Case& one, const RunReport& report);

/// Medians of the measured flows' figures, where several measured: of all of them, and, where their
/// nodes differ, of each pair of nodes of CPUs and memory, in the order of their numbers.
std::vector<FlowGroup> medians_of(const Case& one, const RunReport& report);

}  // namespace numatlas
