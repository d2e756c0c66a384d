// The answer of a report, which stands above its tables.
#pragma once

#include <string>
#include <vector>

#include "record/report.h"

namespace numatlas {

/// What was asked for in one line, from the facts of the first heading that has a figure: "Idle
/// latency: memory 163 ns +-1.0% (256MiB, huge pages)", of a matrix the span of its cells; below it
/// the gravest doubt, "! one launch on a virtual machine". Where other programs used the CPUs, that
/// comes first and the figures stand in brackets. Ends in a newline; "" for a report without facts.
std::string answer_text(const RunReport& report);

/// How far the figures of a run, in one report or several, can be believed, by the same rule:
/// "trusted", "doubtful" or "unreliable", and the gravest doubt. "" where nothing was measured.
struct Trust {
  std::string grade, doubt;
};
Trust trust_of(const std::vector<RunReport>& reports);

}  // namespace numatlas
