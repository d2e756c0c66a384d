// The answer of a report, which stands above its tables.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "record/report.h"

namespace numatlas {

/// Why the figures of a run cannot be trusted, and what to do: "other programs used 1.2 of 2 CPUs;
/// run again when it is quiet"; "" where nothing says so (docs/methods.md has the thresholds).
std::string distrust_of(const RunReport& report);
/// The same of one run in several reports: by all its time, host by host.
std::string distrust_of(std::span<const RunReport> reports);

/// What stands before an answer that is not the whole truth: "UNRELIABLE: other programs used ...",
/// "INCOMPLETE: interrupted", or both; "" before others. Either may be "".
std::string reserve_text(const std::string& distrust, const std::string& incomplete);
std::string reserve_of(const RunReport& report);
/// The answer behind it, in the next line and in brackets. Ends in a newline.
std::string with_reserve(const std::string& reserve, const std::string& answer);

/// The gravest matter that the figures have to be read with; "" for none.
std::string doubt_of(const RunReport& report);

/// How far the figures of a run, in one report or several, can be believed, by the same rule:
/// "trusted", "doubtful" or "unreliable", and the gravest doubt. "" where nothing was measured.
struct Trust {
  std::string grade, doubt;
};
Trust trust_of(std::span<const RunReport> reports);

/// What stands above the tables: the report's own answer, else what was asked for in one line, from
/// the facts of the first headings: "Idle latency: memory 163 ns ±1.0 % (256 MiB, huge pages)", of
/// a matrix the span of its cells, without facts the figures of the cases; two speeds of a case,
/// and what other pages gain, stand behind it, with_reserve before; below it is the gravest doubt,
/// "! one run on a virtual machine". Ends in a newline;
/// "" where nothing was measured.
std::string answer_text(const RunReport& report);

}  // namespace numatlas
