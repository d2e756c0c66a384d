// A benchmark says which flows to run and how to read what came back; nothing else. The runner does
// the rest (run/runner.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/scenario.h"
#include "record/report.h"
#include "run/declare.h"
#include "run/example.h"
#include "run/metrics.h"
#include "run/options.h"

namespace numatlas {

/// Everything a plan may depend on: the same on every rank.
struct PlanInput {
  const RunOptions& options;
  const Layout& layout;
  const std::vector<Machine>& machines;  ///< one a host
  std::vector<PageKind> pages;           ///< to measure with
  /// The largest of each of Benchmark::numbers_of_host over all hosts; empty until they are known,
  /// and of runs that are not reduced to hosts.
  std::vector<std::uint64_t> largest = {};
};

/// A scenario and how the report names its point.
struct PlannedScenario {
  Scenario scenario;
  ScenarioResult head;  ///< filled but for status, reason and flows
  /// Serial runs split one point into a scenario a worker: parts of one point share this number.
  int point = 0;
  /// What keeps it from being measured is a skip with its reason, and not the end of the run.
  bool optional = false;
  std::optional<Error> skip = {};  ///< why it cannot be measured on this machine
  bool reference = false;          ///< others are compared with it; alone it says nothing
  /// What errors about its memory's size name, where that is not Benchmark::size_option.
  std::optional<std::string> size_option = {};
  /// System-wide interleave weights while it runs; the old ones are put back after it, unless
  /// `keep_weights` and it was measured. Empty: they are left alone.
  std::vector<std::pair<NodeId, int>> system_weights = {};
  bool keep_weights = false;
  /// Compared with the other points visit by visit, so that its visits take turns with theirs: each
  /// with memory made anew.
  bool in_turn = false;
};

/// A point without flows, as most of them begin: under the stop rule of the options.
PlannedScenario new_point(const PlanInput& input, std::string name, Bytes size, PageKind pages);

/// Adds the next point: its flows together, or (serial) a scenario for each of them; for a skipped
/// point an empty one. Its number is set here, and the scenario's name, which is `head`'s.
void add_point(std::vector<PlannedScenario>& plan, PlannedScenario point, bool serial = false);

/// Error (usage) unless all workers are threads of one process: flows that share memory, or use
/// what another touched first, cannot be of several ranks. `command` is named.
Expected<void> check_one_process(const PlanInput& input, const std::string& command);

/// A worker on each chosen CPU, pinned to it, and more where --threads asks for more; a launched
/// task has its own number. For benchmarks whose points take the CPUs of one node or another.
Expected<std::vector<WorkerPlacement>> worker_on_every_cpu(const RunOptions& options,
                                                           const Machine& machine,
                                                           const TaskContext& task);

/// One way in which a survey can run a benchmark.
struct SurveyWay {
  std::vector<std::string> words;
  std::string left_out = {};  ///< what the fullest way measures beside; "" of that itself
};

/// What a survey does with a benchmark.
struct SurveyPart {
  double worth = 0;  ///< its part of the survey's time, relative to others; 0: it does not apply
  /// The fullest first: a survey takes the first for which its time is enough, else the last.
  std::vector<SurveyWay> ways = {};
  std::string reason = {};   ///< why it does not apply to this machine; "" where that says nothing
  bool runs_anyway = false;  ///< where it does not apply: it runs if it is called by name
};

/// What is kept of a run that is reduced to its hosts.
struct HostsPlan {
  /// One for each pass of a round of each scenario, in their order: without hosts, with the bytes
  /// of a process in a pass (analysis/passes.h).
  std::vector<ScenarioResult> cases;
  int rounds = 0;                ///< asked for
  bool keeps_processes = false;  ///< the passes of each process as well
};

/// What is the same for all runs of a benchmark.
struct Spec {
  std::string name;
  std::string summary = {};            ///< one line
  Listing listing = {};                ///< in `numatlas --help`
  std::string description = {};        ///< for its page of help
  std::vector<Example> examples = {};  ///< two at the end of its help
  std::string less_memory_hint =       ///< what to do where its memory does not fit
      "use a smaller --size or fewer workers (--cpus)";
  std::string main_metric = {};  ///< what --csv holds: one row per size, one column per worker
  std::vector<std::string> without_options = {};  ///< common options that mean nothing to it
  /// Common options that it refuses whatever their value is, and says why: not in its help.
  std::vector<std::string> refused_options = {};
  const char* usual_cpus = "all";  ///< --cpus when not given, for its help; "": told elsewhere
  /// --threads when not given, for its help, where it takes several numbers; "": it takes one.
  const char* usual_threads = "";
  /// Common options that its short help has, though that of other commands only names them.
  std::vector<std::string> shown_options = {};
  const char* usual_pages = "";  ///< --pages when not given; "": the machine's best (best_pages)
  TimeOption time = {};          ///< --time when not given: of each point, or of all together
  /// Codes of warnings that say nothing here, as they tell how the benchmark works.
  std::vector<std::string> expected_warnings = {};
  bool by_host = false;  ///< views of several hosts are shown apart: those over nodes
  /// Plans are made host by host, and scenarios have passes (run/host_rounds.h).
  bool reduced_to_hosts = false;
  /// One visit to each point is enough for `refine` to choose more; else all points end first.
  bool refines_first_values = false;
};

class Benchmark {
 public:
  explicit Benchmark(Spec spec) : spec_(std::move(spec)) {}
  virtual ~Benchmark() = default;
  const Spec& spec() const { return spec_; }
  /// Options of its own, beside the common ones.
  virtual void add_options(CLI::App& app) = 0;
  /// Reads the texts of its options; errors name them.
  virtual Expected<void> parse_options() { return {}; }
  /// Workers without a launcher, --threads and OMP_NUM_THREADS; 0 = one a chosen CPU.
  virtual int default_threads(const RunOptions& /*options*/) const { return 0; }
  /// Adds to the machine what it needs to know beside what every machine says of itself; an error
  /// is the end of the run.
  virtual Expected<void> complete(const RunOptions& /*options*/, Machine& /*machine*/) const {
    return {};
  }
  /// The workers of this rank. Pure, but for what the options name.
  virtual Expected<std::vector<WorkerPlacement>> workers(const RunOptions& options,
                                                         const Machine& machine,
                                                         const TaskContext& task) const {
    return resolve_placement(options.placement, machine, task, default_threads(options));
  }
  /// What has to be in order on a host before anything is planned and measured there. By one rank
  /// of each host; not where only plans are made.
  virtual Expected<void> before_plan(const RunOptions& /*options*/) const { return {}; }
  /// Pure.
  virtual Expected<std::vector<PlannedScenario>> plan(const PlanInput& input) const = 0;
  /// What --csv writes.
  virtual std::string csv_file(const RunReport& report, const RunOptions& options) const;
  /// Figures of a flow in one visit, beside those of metrics.h. Pure.
  virtual std::vector<Figure> flow_figures(const FlowResult& /*flow*/,
                                           const ScenarioResult& /*visit*/) const {
    return {};
  }
  /// Figures over all flows of one visit, beside those of metrics.h; of `report` only hosts,
  /// machines and workers. Pure.
  virtual std::vector<Figure> totals(const ScenarioResult& /*visit*/,
                                     const RunReport& /*report*/) const {
    return {};
  }
  /// Adds figures to cases that follow from other cases, once all are measured; of a run that is
  /// reduced to its hosts also before its files are written meanwhile. Pure.
  virtual void conclude(RunReport& /*report*/) const {}
  /// What the whole report has to be read with, beside what the flows say. Pure.
  virtual std::vector<Warning> warnings(const RunReport& /*report*/) const { return {}; }
  /// Whether all of its figures are meant to be those of memory: sizes that are not given are past
  /// all caches (run/levels.h), and those that fit one are warned of.
  virtual bool is_of_memory() const { return false; }
  /// What is still to be measured, now that the plan, and what this gave before, is done; nothing
  /// ends the run. Pure. For runs of one process; `point` of what it gives counts from 0.
  virtual Expected<std::vector<PlannedScenario>> refine(const PlanInput& /*input*/,
                                                        const RunReport& /*report*/) const {
    return std::vector<PlannedScenario>{};
  }
  /// Part of a --time for all points that is spent when the plan (round 0), and what `refine` added
  /// for the first, second, ... time, is done.
  virtual double time_until(int /*round*/) const { return 1; }
  /// How `numatlas survey` runs it on this machine; as it is, it does not. Pure.
  virtual SurveyPart survey(const Machine& /*machine*/) const { return {}; }
  /// Where a run is reduced to its hosts (run/host_rounds.h): what is kept of these. Its scenarios
  /// then have passes, and plans are made host by host.
  virtual std::optional<HostsPlan> by_hosts(const PlanInput& /*input*/) const {
    return std::nullopt;
  }
  /// Numbers that a host comes to by itself and whose largest every host needs
  /// (PlanInput::largest).
  virtual std::vector<std::uint64_t> numbers_of_host(const PlanInput& /*input*/) const {
    return {};
  }
  /// What all hosts must have been told alike, beside what the names of scenarios say.
  virtual std::string same_on_all_hosts() const { return ""; }
  /// Of a run that is reduced to its hosts: those that are to be run again, as indices. On rank 0.
  virtual std::vector<std::size_t> hosts_to_retest(const RunReport& /*report*/) const { return {}; }
  /// Files of its own, each with its option; `report` may still be empty.
  virtual std::vector<OutputFile> own_files(const RunReport& /*report*/) const { return {}; }
  /// What the file of such an option holds.
  virtual std::string own_file(const std::string& /*option*/, const RunReport& /*report*/) const {
    return "";
  }
  /// The option that says how much memory it takes, where PlannedScenario::size_option does not.
  virtual const char* size_option() const { return "--size"; }
  /// The exit code of a run that came to its end.
  virtual int exit_code(const RunReport& /*report*/) const { return 0; }
  /// How the report is to be shown: on a terminal, on the page, in plots. Pure.
  virtual std::vector<View> views(const RunReport& /*report*/) const { return {}; }
  /// What a survey says of it, the gravest first. Pure.
  virtual std::vector<Fact> facts(const RunReport& /*report*/) const { return {}; }
  /// What the options have to do with what was found, for people: below the tables. Pure.
  virtual std::string remarks(const RunReport& /*report*/, const RunOptions& /*options*/) const {
    return "";
  }
  /// The report as --format asks for it, to people with remarks.
  std::string text(const RunReport& report, const RunOptions& options) const;

 private:
  Spec spec_;
};

/// What errors about the size of a point's memory name.
inline std::string size_option_of(const PlannedScenario& planned, const Benchmark& benchmark) {
  return planned.size_option.value_or(benchmark.size_option());
}

}  // namespace numatlas
