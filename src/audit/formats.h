// How an audit is shown. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "audit/audit.h"

namespace numatlas {

/// One line, without its end: "numatlas audit: 2 of 7 claims contradicted: hmat node 2 latency;
/// tiers node 2". As short as a scheduler's reason for a drained node has to be.
std::string summary_line(const AuditReport& report);

/// Words of --format.
std::vector<std::string> audit_formats();
/// The whole output, ending in a newline. "nhc" is the summary line, as node health checks take it.
/// `width`: columns of the table's lines; 0: as many as they take.
std::string audit_text(const AuditReport& report, const std::string& format, std::size_t width = 0);

}  // namespace numatlas
