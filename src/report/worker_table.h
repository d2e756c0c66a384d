// A row a worker, a column a size: the table of Numa-Mem-Bench, and what we add to it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "record/report.h"

namespace numatlas {

/// One metric of a report, one page kind ("" for all), a row a worker and a column a size, in ns
/// with two decimals. Host and thread columns appear where there are several. `mb_heads`: columns
/// read "64MB" as in Numa-Mem-Bench, not "64MiB". A skipped or missing cell shows "-".
std::string worker_table(const RunReport& report, const std::string& metric,
                         const std::string& pages, bool mb_heads);

/// As the source systems print a mask: "1,65" for two CPUs, "1" for one; a range list for more.
std::string cores_text(const CpuSet& cpus);

/// For every pair of CPU node and memory node as observed: the median over its workers and the
/// spread between them, a column a size; and the cache level of each size.
std::string pair_table(const RunReport& report, const std::string& metric,
                       const std::string& pages);

/// Every cell with n, interval, percentiles, stop reason, overlap, observed pages.
std::string stats_table(const RunReport& report, const std::string& metric);

/// The same for every figure that has samples, each under a head.
std::string stats_text(const RunReport& report);

/// For runs with several page kinds: what each size costs more in the first kind than in the
/// others.
std::string page_kind_table(const RunReport& report, const std::string& metric);

/// Skipped, failed and incomplete points with their reasons, warnings (each once), page sizes
/// obtained, stop reasons.
std::string notes_text(const RunReport& report);

/// Aligns columns of cells: the first `left` columns to the left, the others to the right, two
/// spaces between.
std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t left);

/// Page kinds of a report, in order.
std::vector<std::string> page_kinds_of(const RunReport& report);

}  // namespace numatlas
