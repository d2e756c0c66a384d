// The answer of a report, which stands above its tables.
#pragma once

#include <string>

#include "record/report.h"

namespace numatlas {

/// What was asked for in one line, from the facts of the first heading that has a figure: "Idle
/// latency: memory 163 ns +-1.0% (256MiB, huge pages)", of a matrix the span of its cells; below it
/// the gravest doubt, "! one launch on a virtual machine". Where other programs used the CPUs, that
/// comes first and the figures stand in brackets. Ends in a newline; "" for a report without facts.
std::string answer_text(const RunReport& report);

/// Sets what the report says of its trust, by the same rule. Not where nothing was measured.
void judge_trust(RunReport& report);

}  // namespace numatlas
