// A fleet for people: the rows of system E, then which nodes are slow.
#pragma once

#include <string>
#include <vector>

#include "record/report.h"
#include "report/style.h"

namespace numatlas {

/// For each kernel a row over all processes and a row over all nodes (GB/s of 10^9 bytes, seconds),
/// with the slowest of each; the kinds of nodes; the slow ones in words; what is to be said.
std::string fleet_table(const RunReport& run, const TextStyle& style = {});

/// Only who is slow, or that nobody is, and who could not be judged: lines.
std::string slow_text(const Fleet& fleet, const TextStyle& style = {});

/// "cn01, cn02 and 4 more hosts: TEXT" once for each text of the hosts' warnings; the text alone
/// where all hosts say it.
std::vector<std::string> host_warnings(const Fleet& fleet);

}  // namespace numatlas
