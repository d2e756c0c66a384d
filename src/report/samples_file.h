// Raw samples, apart from the results: a binary file that numpy reads without parsing.
#pragma once

#include <string>

#include "record/report.h"

namespace numatlas {

/// The whole file: the line "NUMATLAS-SAMPLES 1", a line with the length of the index in bytes, the
/// index (JSON: {"flows": [{"case", "name", "worker", "figure", "unit", "count"}, ...]}), a
/// newline, then the samples of these flows one after the other, as little-endian doubles in SI
/// units. `numatlas.load` of the Python part reads it.
std::string samples_file(const RunReport& report);

}  // namespace numatlas
