// What is said of idle latency.
#pragma once

#include <vector>

#include "record/report.h"
#include "report/rules.h"

namespace numatlas {

/// By Little's law: how many times as many loads a second as of one chain alone.
inline const Against loads_in_flight{.key = "loads_in_flight",
                                     .figure = "chains_bandwidth",
                                     .label = "chains",
                                     .value = "1",
                                     .alike = {"size", "pages"}};

/// The latency of each cache and where it ends, of one that the machine does not list as well; and
/// of memory with each kind of pages. Where numbers of threads or strides are compared, that of the
/// first, and of each other one the latency of the largest size. Of several chains instead the most
/// loads in flight and the bandwidth that they reach, of the largest size that is memory's.
std::vector<Fact> latency_facts(const RunReport& report);

}  // namespace numatlas
