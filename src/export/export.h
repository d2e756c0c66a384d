// Stored figures for other software: each form is one file, and a stored file with
// its facts is all that it sees.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/results.h"

namespace numatlas {

struct ExportInput {
  Results stored;  ///< without runs where only a machine was named
  /// Of --machine, as it was written ("" for none), and what stands there.
  std::string machine_spec;
  std::optional<Machine> machine;
  std::string machine_type{};  ///< of the cloud (--machine-type); "": as the survey was told
  // Of hwloc:
  std::string topology;   ///< XML: of --machine, or what the survey wrote; "" for none
  bool standard = false;  ///< the standard attributes as well
};

/// What came of it.
struct Exported {
  std::string text;                ///< the whole output, ending in a newline
  std::vector<std::string> notes;  ///< for people, on standard error
};

struct ExportForm {
  const char* name;     ///< as the command takes it
  const char* summary;  ///< for help
  bool takes_machine = false, needs_facts = true;
  /// Errors (unavailable) name the file: it does not hold what this form shows.
  Expected<Exported> (*write)(const ExportInput& input) = nullptr;
};

// A file each.
ExportForm gpu_nodes_form();
ExportForm hwloc_form();
ExportForm published_form();

/// All forms, by name.
const std::vector<ExportForm>& export_forms();
std::vector<std::string> export_form_names();

/// A fact with the run that it is of.
struct ExportedFact {
  const Fact* fact = nullptr;
  const Rows* run = nullptr;
};
/// Those of all runs, in their order.
std::vector<ExportedFact> facts_of(const ExportInput& input);

/// The machine that was measured, or that --machine names: the first host's; nullptr where the file
/// has none.
const Machine* machine_of(const ExportInput& input);

/// What a figure must be read with: "measured by the null engine: not a measurement", "did not run
/// to completion", settings that disturb. Each once.
std::vector<std::string> caveats_of(const ExportInput& input);

/// "numatlas 0.2 on node7, 2026-11-21T10:01:05Z"; the earliest run's time.
std::string provenance_of(const ExportInput& input);

}  // namespace numatlas
