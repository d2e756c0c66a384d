// A benchmark says which flows to run and how to read what came back; nothing else. It is a value:
// texts, and functions of which it names those that it needs. The runner does the rest
// (run/runner.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/scenario.h"
#include "record/report.h"
#include "report/hook.h"
#include "report/rules.h"
#include "run/axes.h"
#include "run/declare.h"
#include "run/metrics.h"
#include "run/options.h"
#include "run/thinned.h"

namespace numatlas {

/// Everything a plan may depend on: the same on every rank.
struct PlanInput {
  const RunOptions& options;
  const Layout& layout;
  const std::vector<Machine>& machines;  ///< one a host
  std::vector<PageKind> pages;           ///< to measure with
  /// The largest of each of ReducedToHosts::numbers over all hosts; empty until they are known,
  /// and of runs that are not reduced to hosts.
  std::vector<std::uint64_t> largest = {};
};

/// A scenario and how the report names its case.
struct PlannedCase {
  Scenario scenario;
  Case head;  ///< filled but for status, reason and flows
  /// Serial runs split one case into a scenario a worker: parts of one case share this number.
  int number = 0;
  /// What keeps it from being measured is a skip with its reason, and not the end of the run.
  bool optional = false;
  std::optional<Error> skip = {};  ///< why it cannot be measured on this machine
  bool reference = false;          ///< others are compared with it; alone it says nothing
  /// What errors about its memory's size name, where that is not UsedOptions::size.
  std::optional<std::string> size_option = {};
  /// Compared with the other cases visit by visit, so that its visits take turns with theirs: each
  /// with memory made anew.
  bool in_turn = false;
  /// Its rates follow from what is measured first: Refinement::plan gives it again, with them.
  bool later = false;
  /// Of a run that is reduced to its hosts, the cases of the passes of a round: without hosts, with
  /// the bytes of a process in a pass (analysis/rows.h).
  std::vector<Case> passes = {};
};

using Plan = std::vector<PlannedCase>;
using Workers = std::vector<WorkerPlacement>;

/// A case without flows, as most of them begin: under the stop rule of the options. Its head names
/// no kernel: add_case takes that from the flows.
PlannedCase new_case(const PlanInput& input, std::string name, Bytes size, PageKind pages);

/// The flow whose kernel and size its case has: what loads the memory beside the first, else the
/// first.
const Flow& main_flow(const std::vector<Flow>& flows);

/// Adds the next case: its flows together, or (serial) a scenario for each of them; for a skipped
/// case an empty one. Its number is set here, and the scenario's name, which is `head`'s. A head
/// that names no kernel gets that of the main flow, with its stores; and the first flow's order and
/// stride.
void add_case(Plan& plan, PlannedCase planned, bool serial = false);

/// Error (usage) unless all workers are threads of one process: flows that share memory, or use
/// what another touched first, cannot be of several ranks. `command` is named.
Expected<void> check_one_process(const PlanInput& input, const std::string& command);

/// What most benchmarks have: a worker on each chosen CPU, or as many as --threads, OMP_NUM_THREADS
/// or a launcher say.
Expected<Workers> usual_workers(const RunOptions& options, const Machine& machine,
                                const TaskContext& task);
/// One without a launcher, --threads and OMP_NUM_THREADS.
Expected<Workers> one_worker(const RunOptions& options, const Machine& machine,
                             const TaskContext& task);
/// A worker on each chosen CPU, pinned to it, and more where --threads asks for more; a launched
/// task has its own number. For benchmarks whose cases take the CPUs of one node or another.
Expected<Workers> worker_on_every_cpu(const RunOptions& options, const Machine& machine,
                                      const TaskContext& task);

/// Of a run that is reduced to its hosts (run/gathering.h): its scenarios are rounds of whole
/// passes, and its plans are made host by host.
struct ReducedToHosts {
  /// Numbers that a host comes to by itself and whose largest every host needs
  /// (PlanInput::largest); as many of any options.
  std::function<std::vector<std::uint64_t>(const PlanInput&)> numbers;
  /// Those that are to be run again, as indices. On rank 0.
  std::function<std::vector<std::size_t>(const RunReport&)> to_retest;
  int rounds = 1;
  bool keeps_processes = false;  ///< the passes of each process as well
};

/// A file of a benchmark's own, of an option that was given.
struct OwnFile : OutputFile {
  std::function<std::string(const RunReport&)> text;
};

/// A common option that a benchmark refuses, and why: it is not in its help.
struct Refusal {
  std::string option;  ///< --cpus, --threads, --memory or --serial
  std::string why, hint;
  bool several = false;  ///< only several numbers of --threads, which stays in the help
};

/// What its help says.
struct BenchmarkHelp {
  std::string summary = {};            ///< one line
  Listing listing = {};                ///< in `numatlas --help`
  std::string description = {};        ///< for its page of help
  std::vector<Example> examples = {};  ///< two at the end of its help
};

/// What the common options (run/options.h) are to a benchmark.
struct UsedOptions {
  std::string less_memory_hint =  ///< what to do where its memory does not fit
      "use a smaller --size or fewer workers (--cpus)";
  std::vector<std::string> without = {};  ///< they mean nothing to it
  std::vector<Refusal> refused = {};
  const char* usual_cpus = "all";  ///< --cpus when not given, for its help; "": told elsewhere
  /// --threads when not given, for its help, where it takes several numbers; "": it takes one.
  const char* usual_threads = "";
  std::vector<std::string> shown = {};  ///< in its short help, though that of others names them
  const char* usual_pages = "";         ///< --pages when not given; "": the machine's best
  bool one_kind_of_pages = false;       ///< --pages takes no list
  TimeOption time = {};                 ///< --time when not given: of each case, or of all together
  /// The option that says how much memory it takes, where PlannedCase::size_option does not.
  const char* size = "--size";
};

/// Points that follow from what was measured.
struct Refinement {
  /// Parts of a --time for all cases that are spent when the plan, and what `plan` added for the
  /// first, second, ... time, is done; after these all.
  std::vector<double> time_parts = {};
  bool first_values = false;  ///< one visit to each case is enough for it; else all cases end
  /// What is still to be measured, now that the plan, and what this gave before, is done; nothing
  /// ends the run. Pure. For runs of one process; `case` of what it gives counts from 0.
  Hook<Expected<Plan>(const PlanInput&, const RunReport&)> plan = {};

  /// Of `time_parts`: round 0 is the benchmark's plan.
  double time_until(int round) const {
    const auto index = static_cast<std::size_t>(round);
    return index < time_parts.size() ? time_parts[index] : 1;
  }
};

/// Figures beside those of metrics.h, by rules (report/rules.h) or computed. Pure.
struct OwnFigures {
  std::vector<Scaled> scaled = {};    ///< instead of `totals`
  std::vector<Against> against = {};  ///< before `conclude`
  /// Of a flow in one visit.
  Hook<std::vector<Figure>(const FlowResult&, const Case& visit)> of_flow = {};
  /// Over all flows of one visit; of the report only hosts, machines and workers.
  Hook<std::vector<Figure>(const Case& visit, const RunReport&)> totals = {};
  /// Adds figures to cases that follow from other cases, once all are measured; of a run that is
  /// reduced to its hosts also before its files are written meanwhile.
  Hook<void(RunReport&)> conclude = {};
};

/// How the report is to be shown, by rules (report/rules.h) or computed. Pure.
struct Shown {
  bool by_host = false;  ///< views of several hosts are shown apart: those over nodes
  /// Codes of warnings that say nothing here, as they tell how the benchmark works.
  std::vector<std::string> expected_warnings = {};
  std::vector<Table> tables = {};         ///< instead of `views`
  std::vector<FactRule> fact_rules = {};  ///< instead of `facts`
  /// What the whole report has to be read with, beside what the flows say.
  Hook<std::vector<Warning>(const RunReport&)> warnings = {};
  /// On a terminal, on the page, in plots.
  Hook<std::vector<View>(const RunReport&)> views = {};
  /// What a survey says of it, the gravest first.
  Hook<std::vector<Fact>(const RunReport&)> facts = {};
  /// What the options have to do with what was found, for people: below the tables.
  Hook<std::string(const RunReport&, const RunOptions&)> remarks = {};
  /// Files of its own; the report may still be empty.
  Hook<std::vector<OwnFile>(const RunReport&)> own_files = {};
};

/// Functions are pure but for those of options and workers.
struct Benchmark {
  std::string name;
  BenchmarkHelp help = {};
  UsedOptions options = {};
  /// Whether all of its figures are meant to be those of memory: sizes that are not given are past
  /// all caches (run/levels.h), and those that fit one are warned of.
  bool is_of_memory = false;
  bool of_gpus = false;  ///< it needs what GPUs say of themselves, and needs one
  /// Its workers are threads of one process, each on a CPU of its own, and run together always.
  bool runs_together = false;

  /// What it varies, and how one case of that is measured (run/axes.h). A benchmark without
  /// sweeps has a `plan`.
  CommonAxes varies = {};
  std::vector<Sweep> sweeps = {};
  std::optional<ByGpus> by_gpus = {};
  std::shared_ptr<const GivenAxes> given = {};  ///< of `varies`, once the options are read

  /// Options of its own, beside the common ones and those of its axes.
  Hook<void(CLI::App&)> add_options = {};
  /// Reads the texts of its options; errors name them. Sets what else of the benchmark, its
  /// argument, follows from them.
  Hook<Expected<void>(Benchmark&)> parse_options = {};
  /// The workers of this rank.
  Hook<Expected<Workers>(const RunOptions&, const Machine&, const TaskContext&)> workers =
      usual_workers;

  Hook<Expected<Plan>(const PlanInput&)> plan = {};
  /// Of a benchmark with sweeps: what has to be so before any case can be. Errors end the run.
  Hook<Expected<void>(const PlanInput&)> check = {};
  Refinement refinement = {};

  OwnFigures figures = {};
  Shown shown = {};
  /// The exit code of a run that came to its end.
  Hook<int(const RunReport&)> exit_code = {};
  /// How `numatlas survey` runs it on this machine; without one, it does not.
  Hook<SurveyPart(const Machine&)> survey = {};
  /// The same of another question that it answers, by name: "neighbours".
  std::vector<std::pair<std::string, Hook<SurveyPart(const Machine&)>>> more_surveys = {};
  std::optional<ReducedToHosts> reduced_to_hosts = {};

  /// The report as --format asks for it, to people with remarks.
  std::string text(const RunReport& report, const RunOptions& options) const;
};

/// Error (usage): one of `refused` is given.
Expected<void> check_refused(const std::vector<Refusal>& refused, const RunOptions& options);

/// What errors about the size of a case's memory name.
inline std::string size_option_of(const PlannedCase& planned, const Benchmark& benchmark) {
  return planned.size_option.value_or(benchmark.options.size);
}

}  // namespace numatlas
