// The matrices for people.
#pragma once

#include <string>

#include "report/result.h"

namespace numatlas {

/// For every page kind and host a matrix of the latency and one of each kernel's bandwidth: a row a
/// node with CPUs, a column a node with memory; below the reasons of the cells that are missing.
std::string matrix_table(const RunReport& report, bool stats);

}  // namespace numatlas
