// How STREAM runs: each host sets up by itself, all hosts take the passes together, and rank 0
// keeps what FleetGathering brings.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/environment.h"
#include "base/signals.h"
#include "benchmarks/progress.h"
#include "benchmarks/runner.h"
#include "benchmarks/setup.h"
#include "benchmarks/stream/host_placement.h"
#include "benchmarks/stream/output.h"
#include "benchmarks/stream/stream.h"
#include "engine/agreement.h"
#include "fleet/gathering.h"
#include "fleet/summary.h"
#include "kernels/stream_loops.h"
#include "report/file.h"

namespace numatlas {
namespace {

using nlohmann::json;
using Steady = std::chrono::steady_clock;

/// NUMATLAS_TEST_SLOW_HOST=NAME:FACTOR (for tests): passes on that host take so many times as long.
double slow_down_of(const std::string& host) {
  const char* text = environment_variable("NUMATLAS_TEST_SLOW_HOST");
  const std::string said = text == nullptr ? "" : text;
  const std::size_t colon = said.rfind(':');
  if (colon == std::string::npos || said.substr(0, colon) != host) return 1;
  return std::max(1.0, std::atof(said.c_str() + colon + 1));
}

FleetKernel fleet_kernel(Operation operation, const KernelSpec& spec, std::uint64_t lines,
                         const std::string& mode) {
  const Traffic traffic = traffic_of_line(operation, spec.stores);
  FleetKernel kernel;
  kernel.name = name_of(operation);
  kernel.mode = mode;
  kernel.stores = traffic.written > 0 ? name_of(spec.stores) : "";
  kernel.bytes = traffic.counted() * lines;
  kernel.moved = traffic.with_allocate() * lines;
  return kernel;
}

/// "local"; "bind:0, bind:1" where workers have different ones.
std::string memory_text(const Layout& layout) {
  std::vector<std::string> texts;
  for (const Worker& worker : layout.workers) {
    const std::string text = worker.placement.memory.text();
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

/// One run on one rank.
class StreamRun {
 public:
  StreamRun(const Stream& stream, const RunOptions& options, Comm& comm, const StreamHooks& hooks)
      : stream_(stream),
        options_(options),
        comm_(comm),
        hooks_(hooks),
        host_(make_host_comm(comm)),
        progress_(comm.rank() == 0 && !options.quiet, {1}) {}

  Expected<int> go();

 private:
  Error in_own_words(Error error) const;
  Expected<void> set_up_host();
  Expected<void> agree_on_elements();
  Expected<void> check_all_say(const std::string& mine);
  Expected<void> check_same_options();
  Expected<void> check_same_plan();
  Expected<void> make_engine_and_fleet();
  std::vector<FleetKernel> kernels_of(const Scenario& scenario) const;
  void meet(const std::vector<const Trace*>& traces);
  Expected<void> take_pass(int pass, std::span<const Sample> of_host);
  Expected<void> run_scenario(const Scenario& scenario);
  Expected<void> run_all();
  Expected<void> run_plan(bool takes_part);
  Expected<void> gather_samples();
  Expected<void> retest();
  Expected<void> show_plan() const;
  std::vector<OutputFile> files() const;
  Expected<int> end(Expected<void> ran);
  bool root() const { return comm_.rank() == 0; }
  bool leads() const { return comm_.local_rank() == 0; }

  Stream stream_;  ///< with the number of elements that all agreed on
  const RunOptions& options_;
  Comm& comm_;
  const StreamHooks& hooks_;
  std::unique_ptr<Comm> host_;
  Progress progress_;
  Setup setup_;  ///< of this host
  std::unique_ptr<Engine> engine_;
  Steady::time_point start_ = Steady::now();
  Fleet fleet_;
  std::string dat_name_;                       ///< on rank 0, once hosts have met
  std::unique_ptr<FleetGathering> gathering_;  ///< on the first ranks of hosts
  std::vector<int> rank_of_;                   ///< by flow of this host
  std::size_t first_kernel_ = 0;               ///< of the scenario at hand
  std::vector<PassTimes> round_;               ///< passes of the round at hand
  std::vector<ProcessRounds> processes_;
  std::optional<CpuWatch> cpu_watch_;                    ///< on the first ranks of hosts
  std::vector<Warning> said_warnings_, later_warnings_;  ///< of this host
  std::string placement_;                                ///< of this host, in the first scenario
  std::string elements_source_;
  bool met_ = false, retesting_ = false;
  Steady::duration last_save_{0};
  Steady::time_point saved_ = start_;
};

/// What is said of --size is said of the options that stream has.
Error StreamRun::in_own_words(Error error) const {
  if (error.kind != ErrorKind::resource) return error;
  if (stream_.size_text_.empty()) error = renamed(std::move(error), "--size", "--elements");
  error.hint.clear();
  error.option_hint = stream_.less_memory_hint();
  return error;
}

/// By itself: a host knows nothing of the others' CPUs and needs nothing of them.
Expected<void> StreamRun::set_up_host() {
  auto setup = numatlas::set_up(stream_, options_, *host_);
  if (!setup) setup = fail(in_own_words(setup.error()));
  if (auto agreed = agree(comm_, error_of(setup)); !agreed) return agreed;
  setup_ = *std::move(setup);
  setup_.layout.of_this_host = true;
  return {};
}

Expected<void> StreamRun::agree_on_elements() {
  const PlanInput input{options_, setup_.layout, setup_.machines};
  if (stream_.elements_) {
    elements_source_ = "as asked for";
    return {};
  }
  const Stream::Elements mine = stream_.elements_for(input);
  const auto wanted = comm_.largest(mine.wanted);
  if (!wanted) return fail(wanted.error());
  const auto room = comm_.largest(~mine.room);
  if (!room) return fail(room.error());
  const std::uint64_t elements = std::min(*wanted, ~*room);
  elements_source_ = stream_.source_of_elements(input, *wanted, elements);
  const auto unlike = comm_.largest(elements != std::min(mine.wanted, mine.room) ? 1 : 0);
  if (!unlike) return fail(unlike.error());
  stream_.elements_ = elements;
  return *unlike > 0 ? set_up_host() : Expected<void>{};
}

/// Ranks with unlike words would wait for each other for ever: the first that differs is named.
Expected<void> StreamRun::check_all_say(const std::string& mine) {
  const auto unlike = first_unlike(comm_, mine);
  if (!unlike) return fail(unlike.error());
  if (!*unlike) return {};
  return fail(ErrorKind::usage,
              fmt::format("rank {} was told to measure something else than rank 0", **unlike),
              "give all ranks the same options");
}

Expected<void> StreamRun::check_same_options() {
  json words = {stream_.repeats_, stream_.samples_, stream_.retest_,
                stream_.check_,   options_.dry_run, options_.null_engine};
  words.push_back(stream_.elements_ ? json(*stream_.elements_) : json(nullptr));
  words.push_back(name_of(stream_.stores_));
  words.push_back(instruction_set());
  for (const PageKind pages : options_.pages) words.push_back(name_of(pages));
  for (const Operation operation : stream_.operations_) words.push_back(name_of(operation));
  for (const Persist persist : stream_.persists_) words.push_back(name_of(persist));
  return check_all_say(words.dump());
}

/// Every host computed its plan from its own words; ranks of one host compared theirs in set_up.
Expected<void> StreamRun::check_same_plan() {
  json words = json::array();
  for (const PlannedScenario& planned : setup_.plan) words.push_back(planned.scenario.name);
  return check_all_say(words.dump());
}

std::vector<FleetKernel> StreamRun::kernels_of(const Scenario& scenario) const {
  const KernelSpec& spec = scenario.flows.front().kernel;
  const bool lasting = lasts(scenario.flows.front().region.placement);
  const std::uint64_t lines = lines_of(*stream_.elements_);
  std::vector<FleetKernel> kernels;
  for (const Operation operation : spec.passes)
    kernels.push_back(
        fleet_kernel(operation, spec, lines, lasting ? name_of(spec.persist) : "memory"));
  return kernels;
}

Expected<void> StreamRun::make_engine_and_fleet() {
  EngineOptions engine;
  engine.strict = options_.strict;
  engine.progress = &progress_;
  engine.when_prepared = [this](const auto& traces) { meet(traces); };
  engine.after_pass = [this](int pass, auto of_host) { return take_pass(pass, of_host); };
  const auto here =
      static_cast<std::size_t>(comm_.layout().host_of[static_cast<std::size_t>(comm_.rank())]);
  engine.slow_down = slow_down_of(comm_.layout().hosts[here]);
  auto made = options_.null_engine ? Expected<std::unique_ptr<Engine>>(make_null_engine(
                                         comm_, setup_.layout, setup_.machine, engine))
                                   : make_engine(comm_, setup_.layout, setup_.machine, engine);
  if (auto agreed = agree(comm_, error_of(made)); !agreed) return agreed;
  engine_ = *std::move(made);
  for (const Flow& flow : setup_.plan.front().scenario.flows) {
    const int local = setup_.layout.workers[static_cast<std::size_t>(flow.worker)].rank;
    rank_of_.push_back(host_->world_rank(local));
  }
  for (const PlannedScenario& planned : setup_.plan) {
    for (FleetKernel& kernel : kernels_of(planned.scenario))
      fleet_.kernels.push_back(std::move(kernel));
  }
  fill_head(fleet_, options_, comm_, *engine_);
  fleet_.elements = lines_of(*stream_.elements_) * elements_a_line;
  fleet_.elements_source = elements_source_;
  fleet_.repeats = stream_.repeats_;
  fleet_.memory = memory_text(setup_.layout);
  if (leads()) gathering_ = std::make_unique<FleetGathering>(*comm_.leaders(), fleet_);
  return {};
}

/// The name of the .dat is known once hosts have met.
std::vector<OutputFile> StreamRun::files() const {
  std::vector<OutputFile> files = output_files(options_);
  if (!stream_.dat_folder_.empty()) {
    const std::string name = dat_name_.empty() ? "memory_results" : dat_name_;
    files.push_back({"--dat", (std::filesystem::path(stream_.dat_folder_) / name).string()});
  }
  return files;
}

/// Before the first pass: an error here is one of the ranks' talk, which the engine meets next.
void StreamRun::meet(const std::vector<const Trace*>& traces) {
  if (retesting_) return;
  const auto all = host_->gather(placement_of_rank(traces));
  if (!all || !leads()) return;
  const HostPlacement placement = placement_of_host(*all);
  if (met_) {
    if (placement.text != placement_)
      later_warnings_.push_back(
          {"placement", "", "a later scenario's memory lay elsewhere: " + placement.text});
    for (const Warning& warning : placement.warnings) {
      // Said once, and not again by each scenario.
      if (std::find(said_warnings_.begin(), said_warnings_.end(), warning) != said_warnings_.end())
        continue;
      said_warnings_.push_back(warning);
      later_warnings_.push_back(warning);
    }
    return;
  }
  met_ = true;
  FleetHost host;
  host.name = setup_.layout.hosts.front();
  host.first_rank = host_->world_rank(0);
  host.placement = placement_ = placement.text;
  host.warnings = setup_.warnings;
  host.warnings.insert(host.warnings.end(), placement.warnings.begin(), placement.warnings.end());
  said_warnings_ = host.warnings;
  const int workers = static_cast<int>(setup_.layout.workers.size());
  (void)gathering_->meet(host, kind_of(setup_.machine, host_->size(), workers), setup_.machine);
}

Expected<void> StreamRun::take_pass(int pass, std::span<const Sample> of_host) {
  const std::size_t kernels = round_.size();
  const std::size_t kernel = static_cast<std::size_t>(pass) % kernels;
  const std::span<const int> ranks(rank_of_.data(), of_host.size());
  round_[kernel] = reduce_pass(of_host, ranks);
  if (stream_.samples_ && !retesting_) {
    const std::vector<ProcessPass> passes = process_passes(of_host, ranks);
    for (std::size_t i = 0; i < passes.size(); ++i) {
      processes_[i].starts[first_kernel_ + kernel].push_back(passes[i].start);
      processes_[i].seconds[first_kernel_ + kernel].push_back(passes[i].seconds);
    }
  }
  if (kernel + 1 < kernels) return {};
  if (auto added = gathering_->add_round(first_kernel_, round_); !added) return added;
  if (!root() || retesting_) return {};
  const int round = pass / static_cast<int>(kernels) + 1;
  progress_.phase(setup_.plan.front().scenario,
                  fmt::format("round {} of {}", round, stream_.repeats_));
  // So that next to nothing is lost, and next to no time: at most a tenth of it goes to writing.
  const auto now = Steady::now();
  if (now - saved_ < 10 * last_save_) return {};
  note_time(fleet_, options_, start_);
  if (dat_name_.empty()) dat_name_ = unused_dat_name(fleet_, stream_.dat_folder_);
  (void)save(fleet_, files(), stream_.rule_);  // said at the end, if it still fails then
  saved_ = Steady::now();
  last_save_ = saved_ - now;
  return {};
}

Expected<void> StreamRun::run_scenario(const Scenario& scenario) {
  const auto traces = engine_->run(scenario);
  if (!traces) {
    // Nobody was told to stop: a rank died, and the next wait tells which.
    const bool interrupted = traces.error().kind == ErrorKind::interrupted;
    if (interrupted && stop_signal() == 0 && comm_.peer_failed()) {
      if (auto lost = comm_.barrier(); !lost) return lost;
    }
    return fail(traces.error());
  }
  std::optional<Error> wrong;
  for (const Trace& trace : *traces) {
    if (!wrong) wrong = trace.wrong;
  }
  return agree(comm_, wrong);
}

Expected<void> StreamRun::run_all() {
  if (leads() && stream_.samples_) {
    for (int rank = 0; rank < host_->size(); ++rank) {
      processes_.push_back({host_->world_rank(rank), {}, {}});
      processes_.back().starts.resize(fleet_.kernels.size());
      processes_.back().seconds.resize(fleet_.kernels.size());
    }
  }
  if (leads() && !options_.null_engine) cpu_watch_.emplace(Tree(""), host_->local_pids());
  if (auto ran = run_plan(true); !ran) return ran;
  return gather_samples();
}

/// Where this host does not take part, it waits for those that do.
Expected<void> StreamRun::run_plan(bool takes_part) {
  first_kernel_ = 0;
  for (const PlannedScenario& planned : setup_.plan) {
    Scenario scenario = planned.scenario;
    const std::size_t kernels = scenario.flows.front().kernel.passes.size();
    if (!takes_part) scenario.flows.clear();
    round_.assign(kernels, {});
    if (auto ran = run_scenario(scenario); !ran) return ran;
    first_kernel_ += kernels;
  }
  return {};
}

Expected<void> StreamRun::gather_samples() {
  std::optional<Error> problem;
  if (leads()) {
    problem = error_of(gathering_->add_warnings(later_warnings_));
    if (!problem && cpu_watch_) problem = error_of(gathering_->add_cpu_use(cpu_watch_->use()));
    if (!problem && stream_.samples_) problem = error_of(gathering_->add_processes(processes_));
  }
  return agree(comm_, problem);
}

/// All scenarios again, on slow hosts and some healthy ones; the others wait.
Expected<void> StreamRun::retest() {
  std::string chosen(comm_.layout().hosts.size(), 'n');
  if (root()) {
    for (const std::size_t host : hosts_to_retest(fleet_, find_slow(fleet_, stream_.rule_)))
      chosen[host] = 'y';
  }
  const auto said = comm_.broadcast(chosen);
  if (!said) return fail(said.error());
  if (said->find('y') == std::string::npos) return {};
  const auto here =
      static_cast<std::size_t>(comm_.layout().host_of[static_cast<std::size_t>(comm_.rank())]);
  retesting_ = true;
  Fleet again;
  again.kernels = fleet_.kernels;
  for (const FleetHost& host : fleet_.hosts) {
    again.hosts.push_back({});
    again.hosts.back().name = host.name;
    again.hosts.back().kind = host.kind;
    again.hosts.back().first_rank = host.first_rank;
    again.hosts.back().rounds.resize(fleet_.kernels.size());
  }
  if (leads()) gathering_ = std::make_unique<FleetGathering>(*comm_.leaders(), again);
  auto ran = run_plan((*said)[here] == 'y');
  if (root()) {
    Retest retest;
    for (std::size_t host = 0; host < again.hosts.size(); ++host) {
      if ((*said)[host] == 'y') retest.hosts.push_back(std::move(again.hosts[host]));
    }
    if (ran) fleet_.retest = std::move(retest);
  }
  return ran;
}

Expected<void> StreamRun::show_plan() const {
  if (!root()) return {};
  std::string text = plan_text(setup_, options_);
  const std::size_t hosts = comm_.layout().hosts.size();
  if (hosts > 1 && options_.format != Format::json)
    text += fmt::format("and as much on {} more host{}\n", hosts - 1, hosts == 2 ? "" : "s");
  return write_stdout(text);
}

/// Whatever happened, what was measured is written and shown.
Expected<int> StreamRun::end(Expected<void> ran) {
  progress_.clear();
  std::optional<Error> problem = error_of(ran);
  int verdict = 0;
  if (root()) {
    fleet_.complete = ran.has_value();
    fleet_.incomplete_reason =
        ran ? "" : full_text(hooks_.in_words ? hooks_.in_words(ran.error()) : ran.error());
    note_time(fleet_, options_, start_);
    if (engine_) fleet_.clock_error = engine_->clock_error();
    for (auto& [code, text] : {std::pair("low-overlap", overlap_warning(fleet_)),
                               {"other-processes", disturbance_warning(fleet_)}})
      if (!text.empty()) fleet_.warnings.push_back({code, "", text});
    // More than that, and hosts that share a network or a power supply did not load it together.
    constexpr double most_apart = 0.1;
    if (const auto spread = start_spread(fleet_); spread && spread->part > most_apart) {
      fleet_.warnings.push_back(
          {"late-hosts", "",
           fmt::format("hosts began a pass {:.0f} % of its time apart (median): larger arrays make "
                       "that less",
                       spread->part * 100)});
    }
    const bool anything = has_rounds(fleet_);
    if (anything) {
      if (dat_name_.empty()) dat_name_ = unused_dat_name(fleet_, stream_.dat_folder_);
      const auto saved = save(fleet_, files(), stream_.rule_);
      const auto shown = show(fleet_, stream_.rule_, options_.format, stream_.lines_, hooks_.table);
      if (!problem) problem = error_of(saved);
      if (!problem) problem = error_of(shown);
    }
    if (stream_.check_) verdict = exit_code_of(find_slow(fleet_, stream_.rule_));
  }
  if (!ran) return fail(*problem);
  if (auto agreed = agree(comm_, problem); !agreed) return fail(agreed.error());
  const auto everywhere =
      comm_.largest(static_cast<std::uint64_t>(verdict));  // rank 0's: the others have 0
  if (!everywhere) return fail(everywhere.error());
  return static_cast<int>(*everywhere);
}

Expected<int> StreamRun::go() {
  const auto writable =
      root() && !options_.only_plans() ? check_writable(files()) : Expected<void>{};
  if (auto agreed = agree(comm_, error_of(writable)); !agreed) return fail(agreed.error());
  if (auto done = check_same_options(); !done) return fail(done.error());
  if (auto done = set_up_host(); !done) return fail(done.error());
  if (auto done = agree_on_elements(); !done) return fail(done.error());
  if (auto done = check_same_plan(); !done) return fail(done.error());
  if (options_.only_plans()) {
    const auto shown = show_plan();
    if (auto agreed = agree(comm_, error_of(shown)); !agreed) return fail(agreed.error());
    return 0;
  }
  if (auto done = make_engine_and_fleet(); !done) return fail(done.error());
  auto ran = run_all();
  if (ran && stream_.retest_) ran = retest();
  return end(std::move(ran));
}

Expected<int> Stream::run(const RunOptions& options, Comm& comm, const StreamHooks& hooks) const {
  return StreamRun(*this, options, comm, hooks).go();
}

}  // namespace numatlas
