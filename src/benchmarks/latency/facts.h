// What is said of idle latency; and of several chains in flight from one CPU: what a load and the
// bandwidth become, and how many loads a core keeps open.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "record/report.h"

namespace numatlas {

/// Of a visit with a number of chains: "chains_bandwidth" in B/s, the lines that they load. `line`:
/// bytes that a load brings. Pure.
std::vector<Figure> chains_figures(const FlowResult& flow, const ScenarioResult& visit, Bytes line);

/// Adds "loads_in_flight" to cases with several chains: by Little's law the loads a second times
/// the latency of one chain alone, where that was measured with the same size and pages.
void add_loads_in_flight(RunReport& report);

/// One curve for each size and kind of pages.
std::vector<View> chains_views(const RunReport& report);

/// The most loads in flight and the bandwidth that they reach, of the largest size that is memory's
/// with each kind of pages.
std::vector<Fact> chains_facts(const RunReport& report);

/// The latency of each cache and where it ends, of one that the machine does not list as well; and
/// of memory with each kind of pages.
std::vector<Fact> latency_facts(const RunReport& report);

/// Of a run that compares "threads" or strides ("stride"): the same of the first, and of each other
/// one the latency of the largest size.
std::vector<Fact> facts_by(const RunReport& report, const std::string& label);

}  // namespace numatlas
