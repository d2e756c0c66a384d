// Holds a load on memory: for a time, until it is stopped, or for the life of a program.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "advise/layout.h"
#include "base/program.h"
#include "base/signals.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/version.h"
#include "benchmarks/common.h"
#include "commands/command.h"
#include "engine/engine.h"
#include "load/held_load.h"
#include "record/labels.h"
#include "report/file.h"
#include "report/reporter.h"
#include "run/cases.h"
#include "run/choices.h"
#include "run/place_words.h"
#include "run/runner.h"

namespace numatlas {
namespace {

/// Bytes a second, or a part of what the load can do; neither: all of it.
struct Rate {
  std::string text;
  std::optional<double> bytes, part;
};

struct LoadOptions {
  CommonOptions common;
  std::vector<std::string> words;
  std::string kernel = "read", isa;
  std::optional<MixParameters> mix;
  Stores stores = Stores::regular;
  std::optional<Bytes> size;
  Rate rate;
  std::optional<Nanoseconds> time;
};

/// What is to be done, once the machine is known.
struct LoadPlan {
  LoadRequest request;
  CpuSet program_cpus;
};

Expected<Rate> parse_rate(const std::string& text) {
  constexpr double least = 1e6;  // a burst of a thread takes no second then
  if (text.ends_with('%'))
    if (const auto part = parse_part(text)) return Rate{text, std::nullopt, *part};
  const auto rate = parse_quantity(text);
  if (!rate || std::string(rate->unit) != "B/s" || rate->value < least)
    return fail(ErrorKind::usage, fmt::format("'{}' is not a rate", text),
                "give at least 1MB/s, or 1% to 100% of what the load can do: 20GB/s, 50%");
  return Rate{text, rate->value, std::nullopt};
}

bool is_spread(const MemoryPlacement& memory) {
  const MemoryMode mode = memory.in_force().mode;
  return mode == MemoryMode::interleave || mode == MemoryMode::weighted;
}

Expected<LoadPlan> plan_of(const LoadOptions& own, const RunOptions& options,
                           const Machine& machine, bool beside) {
  LoadPlan plan;
  PlacementSpec spec = options.placement;
  NodeSet nodes;
  if (spec.memory) nodes = with_all_nodes(*spec.memory, machine).single.node_set();
  LoadCpus cpus;
  if (spec.cpus.is_default) {
    cpus = TRY(usual_load_cpus(machine, nodes, beside));
    spec.cpus = TRY(parse_cpu_spec(to_list(cpus.load)));
    spec.cpus.is_default = false;
  }
  TaskContext task = machine.is_live() ? read_task_context() : TaskContext{};
  // Those of the environment are for the program.
  task.omp_num_threads = std::nullopt;
  task.omp_binds = false;
  LoadRequest& request = plan.request;
  request.workers = TRY(resolve_placement(spec, machine, task, 0));
  if (request.workers.size() > request.cpus().size())
    return fail_usage("--threads",
                      fmt::format("{} for {}: each thread of a load has a CPU of its own",
                                  count_text(request.workers.size(), "thread"),
                                  count_text(request.cpus().size(), "CPU")),
                      "leave it out, or name more --cpus");
  plan.program_cpus = cpus.program.empty() ? machine.usable_cpus() - request.cpus() : cpus.program;
  if (beside && plan.program_cpus.empty())
    return fail_about(ErrorKind::unavailable, "--cpus",
                      fmt::format("the load takes all CPUs that this process may use ({}), and "
                                  "none is left for the program",
                                  to_list(machine.usable_cpus())),
                      "name fewer of them");
  request.kernel = own.mix ? KernelSpec{*own.mix} : kernel_named(own.kernel);
  request.kernel.stores = own.stores;
  const bool spread = is_spread(request.workers.front().memory);
  request.pages = !options.pages.empty() ? options.pages.front()
                  : spread               ? PageKind::base
                                         : best_pages(machine).kind;
  if (nodes.empty()) nodes = machine.nodes_of(request.cpus());
  request.size =
      own.size ? *own.size : size_past_caches(machine, request.cpus(), nodes, least_past_caches);
  TRY(of_option("--size", check_size(request.kernel, request.size)));
  return plan;
}

/// A load from its first second to its report.
class Loading {
 public:
  Loading(const LoadOptions& own, const RunOptions& options, const Machine& machine,
          const LoadPlan& plan, std::vector<std::string> program)
      : own_(own),
        options_(options),
        machine_(machine),
        plan_(plan),
        program_(std::move(program)) {}

  Expected<int> run() {
    const LoadRequest& request = plan_.request;
    auto started =
        options_.null_engine ? simulate_load(request, machine_) : start_load(request, machine_);
    if (!started) {
      Error error = started.error();
      for (const char* part : {"size", "pages", "memory"})
        error = renamed(std::move(error), part, std::string("--") + part);
      return fail(std::move(error));
    }
    load_ = *std::move(started);
    before_ = load_->residencies();
    asked_ = own_.rate.bytes;
    if (own_.rate.part) {
      const LoadWindow peak = peak_of(*load_);
      asked_ = *own_.rate.part * peak.rate();
      if (const auto lack = lack_of_peak(peak, threads()); !lack.empty())
        warnings_.push_back({"peak", "load", "the peak was measured while " + lack});
      tell(fmt::format("{}: {}, so {} is {}", request.text(), peak_text(peak, threads()),
                       own_.rate.text, quantity_text(*asked_, "B/s")));
    } else {
      tell(request.text());
    }
    load_->hold(asked_);
    constexpr double settling = 0.05;
    load_->wait(settling);
    load_->look(settling);
    // Nothing was done yet, and nothing is started.
    if (is_cut()) return fail(ErrorKind::interrupted, "interrupted");
    int code = program_.empty() ? load() : TRY(load_beside());
    if (seconds_.empty()) seconds_.push_back(load_->look(1));
    const auto after = load_->residencies();
    const auto right = load_->finish();
    TRY(show(report(after)));
    if (!right) return fail(right.error());
    if (is_cut()) return fail(ErrorKind::interrupted, "interrupted");
    return code;
  }

 private:
  void tell(const std::string& line) const {
    if (!options_.quiet) say(fmt::format("numatlas load: {}\n", line));
  }

  void note_second(double seconds = 1) {
    const LoadWindow window = load_->look(seconds);
    seconds_.push_back(window);
    spent_ += window.seconds;
    std::string line = fmt::format("{:.0f} s: {}", spent_, quantity_text(window.rate(), "B/s"));
    if (asked_) line += " of " + quantity_text(*asked_, "B/s");
    const auto why = shortfall_text(window, asked_.value_or(0), threads());
    tell(why.empty() ? line : line + ", " + why);
  }

  int load() {
    constexpr double simulated = 5;
    double left = own_.time              ? std::chrono::duration<double>(*own_.time).count()
                  : options_.null_engine ? simulated
                                         : HUGE_VAL;
    for (; left > 0 && !stop_requested(); left -= 1) {
      const double window = std::min(1.0, left);
      load_->wait(window);
      // A second that was cut off says little, unless it is all there is.
      if (stop_requested() && !seconds_.empty()) break;
      note_second(window);
    }
    return 0;
  }

  /// Until the program ends: its exit code, or as `exec` has it that of one that cannot be started.
  Expected<int> load_beside() {
    ProgramRequest request{program_};
    request.grace = std::chrono::seconds(2);
    // What a script has started ends with it. At a terminal a program may read from that, and a
    // signal from the keyboard reaches all of it anyway.
    request.own_group = ::isatty(STDIN_FILENO) == 0;
    ProgramLayout layout;
    layout.cpus = plan_.program_cpus;
    request.prepare = [&] { return put_in_force(layout); };
    auto last = std::chrono::steady_clock::now();
    request.running = [&](pid_t) {
      constexpr std::chrono::seconds second{1};
      const auto now = std::chrono::steady_clock::now();
      if (now - last < second) return;
      // Not once for each second in which this process was suspended.
      last = now - last < 2 * second ? last + second : now;
      note_second();
    };
    const auto run = run_program(request);
    if (run) return run->exit_code();
    if (!is_about(run.error(), program_.front())) return fail(run.error());
    print_error(run.error());
    started_ = false;
    return run.error().kind == ErrorKind::unavailable ? not_found : cannot_execute;
  }

  /// Stopped, though it was to end otherwise.
  bool is_cut() const { return stop_requested() && (own_.time || !program_.empty()); }

  std::size_t threads() const { return plan_.request.workers.size(); }

  template <class Value>
  Estimate mean_over(const Value& value) const {
    std::vector<double> values;
    for (const LoadWindow& window : seconds_) values.push_back(value(window));
    return estimate_of_visits(values, std::nullopt, std::nullopt);
  }

  Estimate reached() const {
    return mean_over([](const LoadWindow& window) { return window.rate(); });
  }

  std::string answer() const {
    LoadWindow all;
    double worst = 0;
    std::size_t short_of = 0;
    for (const LoadWindow& window : seconds_) {
      all += window;
      const double lack = asked_ ? 1 - window.rate() / *asked_ : 0;
      worst = std::max(worst, lack);
      if (lack > held_within) ++short_of;
    }
    const std::string what = plan_.request.text(), rate = estimate_text(reached(), "B/s");
    constexpr double shortest = 0.2;
    if (all.seconds < shortest)
      return fmt::format("The load lasted {:.0f} ms, too short to tell its rate: {}",
                         all.seconds * in_ms, what);
    if (!asked_) return fmt::format("Load of {}: {}", rate, what);
    const std::string asked = quantity_text(*asked_, "B/s");
    if (const auto why = shortfall_text(all, *asked_, threads()); !why.empty())
      return fmt::format("Load of {} instead of {}, {}", rate, asked, why);
    std::string text = fmt::format("Load held: {} of {} asked", rate, asked);
    if (short_of > 0)
      text += fmt::format("; {} of {} fell short, by {:.0f} % at most", short_of,
                          count_text(seconds_.size(), "second"), 100 * worst);
    return text + ": " + what;
  }

  Case load_case(const std::vector<Residency>& after) const {
    const LoadRequest& request = plan_.request;
    Case one;
    one.name = "load";
    one.size = request.size;
    one.pages = name_of(request.pages);
    one.kernel = full_name(request.kernel);
    if (traits_of(request.kernel).writes) one.stores = name_of(request.kernel.stores);
    one.labels = {{"asked", own_.rate.text.empty() ? "all" : own_.rate.text}};
    if (asked_) one.figures.push_back({"rate_asked", "B/s", Estimate(*asked_), std::nullopt});
    const Estimate sum = reached();
    one.figures.push_back({"bandwidth_sum", "B/s", sum, std::nullopt});
    if (asked_)
      one.figures.push_back({"reached_share", "1", scaled(sum, 1 / *asked_), std::nullopt});
    Visits visits;
    VisitValues values{"bandwidth_sum", "B/s", {}, 0};
    for (const LoadWindow& window : seconds_) {
      values.values.push_back(window.rate());
      visits.seconds += window.seconds;
    }
    values.best = std::ranges::max(values.values);
    const Estimate busy = mean_over([](const auto& one) { return one.cpu / one.seconds; });
    const Estimate taken = mean_over([](const auto& one) { return one.taken / one.seconds; });
    one.figures.push_back({"cpus_busy", "cost", busy, std::nullopt});
    one.figures.push_back({"cpus_taken", "cost", taken, std::nullopt});
    visits.count = static_cast<int>(seconds_.size());
    visits.figures = {std::move(values)};
    one.visits = std::move(visits);
    const auto policies = load_->policies();
    const auto levels = request.levels(machine_);
    for (std::size_t i = 0; i < request.workers.size(); ++i) {
      FlowResult& flow = one.flows.emplace_back();
      flow.load = true;
      flow.worker = static_cast<int>(i);
      flow.kernel = one.kernel;
      flow.stores = one.stores;
      flow.size = request.size;
      flow.level = levels[i];
      flow.memory = request.workers[i].memory.text();
      if (asked_) flow.rate = *asked_ / static_cast<double>(threads());
      flow.stop = is_cut() ? "interrupted" : "time_cap";
      flow.residency = after[i];
      flow.pages_moved = pages_moved(before_[i], after[i]);
      flow.policy = policies[i];
      flow.warnings = placement_warnings(request.region_of(request.workers[i]), before_[i],
                                         request.workers[i].cpu_node, machine_);
    }
    return one;
  }

  RunReport report(const std::vector<Residency>& after) const {
    RunReport report;
    report.command = "load";
    report.version = version;
    report.arguments = own_.words;
    report.started = start_time(options_);
    report.complete = !is_cut();
    report.incomplete_reason = report.complete ? "" : "interrupted";
    report.comm = "none";
    report.engine = options_.null_engine ? "null (scripted clock, no memory touched)" : "real";
    report.isa = instruction_set();
    report.hosts = {machine_.host};
    report.machines = {machine_};
    for (const WorkerPlacement& place : plan_.request.workers) {
      WorkerRow& row = report.workers.emplace_back();
      row.thread = place.thread;
      row.cpus = place.cpus;
      row.cpu_node = place.cpu_node;
      row.memory = place.memory.text();
    }
    report.cases = {load_case(after)};
    report.warnings = warnings_;
    for (const FlowResult& flow : report.cases.front().flows)
      for (const Warning& warning : memory_warnings(flow))
        report.warnings.push_back(
            {warning.code, fmt::format("load, worker {}", flow.worker), warning.text});
    for (Warning& warning : cache_warnings(report)) report.warnings.push_back(std::move(warning));
    report.seconds = report.cases.front().visits->seconds;
    report.answer = answer();
    View view{.title = "Load in GB/s"};
    view.cells = {label_column("asked", "asked")};
    if (asked_) view.cells.push_back(figure_column("rate", "rate_asked", in_gb_per_s));
    view.cells.push_back(
        figure_column("reached", "bandwidth_sum", in_gb_per_s, Part::with_interval));
    if (asked_)
      view.cells.push_back(
          figure_column("of it", "reached_share", in_percent, Part::value, 1, " %"));
    view.cells.push_back(figure_column("CPUs busy", "cpus_busy", 1));
    view.cells.push_back(figure_column("CPUs taken away", "cpus_taken", 1));
    view.cells.push_back(label_column("CPUs -> memory", "nodes"));
    view.notes = {"reached: mean over the seconds, with the 95 % interval of it"};
    report.views = {std::move(view)};
    return report;
  }

  Expected<void> show(const RunReport& report) const {
    if (!started_) return {};
    TextStyle style = options_.style;
    style.width = terminal_columns(program_.empty() ? STDOUT_FILENO : STDERR_FILENO).value_or(0);
    const std::string text = text_in(options_.format, report, style);
    // Standard output is the program's, where there is one. The answer first: a file that fails
    // takes nothing of it.
    const auto shown = program_.empty() ? write_stdout(text) : Expected<void>{};
    if (!program_.empty()) say(text);
    for (const OutputFile& file : output_files(options_)) {
      if (file.path.empty()) continue;
      TRY(write_whole(file.path,
                      file.option == "--csv" ? first_table_csv(report) : text_in("json", report),
                      file.option));
    }
    return shown;
  }

  const LoadOptions& own_;
  const RunOptions& options_;
  const Machine& machine_;
  const LoadPlan& plan_;
  std::vector<std::string> program_;
  std::unique_ptr<HeldLoad> load_;
  std::optional<double> asked_;
  std::vector<LoadWindow> seconds_;
  double spent_ = 0;
  std::vector<Residency> before_;
  std::vector<Warning> warnings_;
  bool started_ = true;
};

Expected<int> run_load(const LoadOptions& own, const std::vector<std::string>& program) {
  RunOptions options = TRY(own.common.parse());
  if (own.time && !program.empty())
    return fail_usage("--time", "the load lasts as long as the program", "leave one of them out");
  TRY(of_option("--isa", use_instruction_set(own.isa)));
  TRY(check_stores({own.stores}));
  TRY(put_words_in_place(options));
  const auto machine = TRY(machine_of_option(options.machine));
  const LoadPlan plan = TRY(plan_of(own, options, machine, !program.empty()));
  if (options.only_plans()) {
    std::string text = plan.request.text();
    if (!own.rate.text.empty()) text += ", at " + own.rate.text;
    if (!program.empty()) {
      text += fmt::format("; beside it on {}:", cpus_text(plan.program_cpus));
      for (const std::string& word : program) text += " " + shell_word(word);
    }
    return answer(text + "\n");
  }
  TRY(check_writable(output_files(options)));
  install_signal_handlers();
  return Loading(own, options, machine, plan, program).run();
}

Start declare_load(CLI::App& app, const CommandLine& line) {
  auto own = std::make_shared<LoadOptions>();
  own->words = all_words(line);
  LoadOptions& its = *own;
  add_parsed(app, "--rate", its.rate, "", "RATE|PERCENT",
             "bytes a second of all CPUs together, such as 20GB/s, or a part of what they can do, "
             "such as 50% (default: all that they can)\nOf a part the peak is measured first, for "
             "a second. Bytes are counted as STREAM does",
             parse_rate);
  auto* const kernel = add_choice(app, "--kernel", its.kernel, named(stream_kernels),
                                  "what the load does with its memory");
  add_parsed(app, "--mix", its.mix, "", "R:W", "a mix of lines read to lines written instead: 2:1",
             parse_mix)
      ->excludes(kernel);
  add_stores_option(app, its.stores);
  add_isa_option(app, its.isa);
  add_parsed(app, "--size", its.size, "", "SIZE",
             "memory of each CPU of the load (default: past all caches)",
             [](const std::string& text) { return parse_one_size(text, "load"); });
  Benchmark like;
  like.name = "load";
  like.options.usual_cpus =
      "one per core of the node nearest to the memory; beside a program half of them";
  like.options.one_kind_of_pages = true;
  its.common.add_to(app, like,
                    {"--serial", "--precision", "--visits", "--seed", "--verify", "--noise",
                     "--time", "--skip-too-large", "--ignore-side-caches", "--strict", "--mpi"});
  add_parsed(app, "--time", its.time, "", "TIME",
             "how long the load lasts (default: until it is stopped)", parse_duration);
  return [own, &app, &line]() -> Expected<int> {
    const auto program = TRY(program_of(app, line));
    if (program.empty() && line.names_program)
      return fail_usage("--", "no program is named", "numatlas load --rate 50% -- ./program");
    return run_load(*own, program);
  };
}

}  // namespace

Command load_command() {
  return {.name = "load",
          .summary = "keep memory busy at a rate, also beside a program",
          .listing = {Topic::place},
          .description =
              "A program may follow: numatlas load --rate 50% -- PROGRAM [ARGUMENTS...]. The load "
              "lasts as long as the program, which has the other CPUs.",
          .examples = {{"A program, while half of what node 1 can do is taken by others",
                        "numatlas load --memory bind:1 --rate 50% -- ./program"},
                       {"Two reads to a write by four CPUs, for a minute",
                        "numatlas load --cpus 0-3 --mix 2:1 --rate 20GB/s --time 60s"}},
          .has_program = true,
          .declare = declare_load,
          .exit_codes = "those of the program, else 0"};
}

}  // namespace numatlas
