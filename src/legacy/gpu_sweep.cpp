#include "legacy/gpu_sweep.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/environment.h"
#include "base/json.h"
#include "base/signals.h"
#include "base/terminal.h"
#include "base/units.h"
#include "base/version.h"
#include "engine/agreement.h"
#include "gpu/runtime.h"
#include "placement/system_weights.h"
#include "record/report_json.h"
#include "report/csv.h"
#include "report/file.h"
#include "run/declare.h"

namespace numatlas::legacy {
namespace {

constexpr const char* sweep_name = "numa_gpu_xfer_sweep";

// What the scripts of the original sweep; node 3 is the CXL memory of their machine.
constexpr const char* usual_nodes = "0;0,1;3;0,3";
constexpr const char* usual_sizes = "1KiB-2GiB";
constexpr const char* usual_weighted_nodes = "0,3";
constexpr const char* usual_weighted_sizes = "4KiB-2GiB";
constexpr const char* usual_weights = "1,1;1,2;1,3;1,4";

/// How it says what `numatlas transfer` and `weights` say.
const OwnWords sweep_words{{{"--apply", "--kernel-weights"},
                            {"--gpus", "--ngpus"},
                            {"--latency-size", "--sizes"},
                            {"--memory", "--nodes"},
                            {"--json", "--json"}}};

struct SweepOptions {
  SweepLists lists{"1,2", "", "", ""};
  GpuXfer common;  ///< what is alike in all rows
  std::string json;
  bool weighted = false, kernel_weights = false;
};

void declare_gpu_sweep(CLI::App& app, SweepOptions& options) {
  app.name(sweep_name);
  const auto text = [&](const char* name, std::string& value, const char* type, const char* what) {
    add_value(app, name, value, type, what);
  };
  text("--ngpus", options.lists.gpus, "LIST",
       "numbers of GPUs; all GPUs of a number copy at the same time");
  text("--nodes", options.lists.nodes, "LISTS",
       "nodes to interleave the memory over, lists separated by semicolons (default: 0;0,1;3;0,3, "
       "with weights 0,3)");
  text("--sizes", options.lists.sizes, "SIZES",
       "bytes per copy: the powers of two in a range, or a list; bare numbers are MiB (default: "
       "1KiB-2GiB, with weights 4KiB-2GiB)");
  app.add_flag("--weighted", options.weighted, "interleave with weights");
  text("--weights", options.lists.weights, "LISTS",
       "a weight from 1 to 255 for each node in its order, lists separated by semicolons; implies "
       "--weighted (default with --weighted: 1,1;1,2;1,3;1,4)");
  app.add_flag("--kernel-weights", options.kernel_weights,
               "with weights, also set them system-wide for their rows, and restore the old ones, "
               "however the program ends. Requires root and Linux 6.9");
  add_parsed(app, "--iterations", options.common.iterations, "100", "N",
             "number of timed copies per GPU and direction, after a warm-up of at least 2 copies",
             whole(1, std::numeric_limits<int>::max()));
  add_choice(app, "--pin_memory", options.common.pinned, zero_or_one,
             "whether the host's memory is pinned");
  add_parsed(
      app, "--time", options.common.time, "", "TIME",
      "limit on measuring each direction of a row (default: what its copies would take one after "
      "the other at 1 GB/s, at least 2 s)",
      parse_duration);
  text("--json", options.json, "FILE",
       "also write an object whose rows have the report of each row, as `numatlas transfer` writes "
       "it, or its error; at the end or at a stop");
  app.add_flag("--strict", options.common.strict,
               "make memory that does not lie where it was asked for a failure of its row");
  add_quiet(app, options.common.quiet);
  app.footer(
      "Prints CSV on standard output, each row as soon as it is measured. A row that this machine "
      "cannot measure says why; the exit code is then that of the first such row.");
}

Expected<std::vector<int>> numbers_in(const std::string& text, const char* option) {
  const auto numbers = parse_ordered_list(text);
  if (numbers && !numbers->empty()) return *numbers;
  return fail_usage(option, fmt::format("'{}' is not a list of numbers such as 0,1", text));
}

Expected<void> check_nodes_and_weights(const std::string& nodes, const std::string& weights) {
  const auto all = TRY(numbers_in(nodes, "--nodes"));
  if (std::set<int>(all.begin(), all.end()).size() != all.size()) {
    return fail_usage("--nodes", fmt::format("'{}' names a node twice", nodes));
  }
  if (weights.empty()) return {};
  const auto each = TRY(numbers_in(weights, "--weights"));
  if (each.size() != all.size()) {
    return fail_usage("--weights",
                      fmt::format("'{}' are {} weights, and the nodes '{}' are {}", weights,
                                  each.size(), nodes, all.size()),
                      "give one weight per node, in their order");
  }
  for (int weight : each) {
    // As the kernel's.
    if (weight >= 1 && weight <= 255) continue;
    return fail_usage("--weights", fmt::format("{} is not a weight from 1 to 255", weight));
  }
  return {};
}

/// The --sizes, of any number of bytes.
Expected<std::vector<Bytes>> sizes_in(const std::string& text) {
  auto sizes = parse_sizes(text);
  if (!sizes) return fail(renamed(sizes.error(), "--size", "--sizes"));
  return sizes;
}

Expected<SweepOptions> completed(SweepOptions options) {
  options.weighted = options.weighted || !options.lists.weights.empty();
  SweepLists& lists = options.lists;
  if (options.weighted && lists.weights.empty()) lists.weights = usual_weights;
  if (lists.nodes.empty()) lists.nodes = options.weighted ? usual_weighted_nodes : usual_nodes;
  if (lists.sizes.empty()) lists.sizes = options.weighted ? usual_weighted_sizes : usual_sizes;
  if (options.kernel_weights && !options.weighted)
    return fail_usage("--kernel-weights", "there are no weights to set", "add --weights");
  options.common.directions = {"h2d", "d2h"};
  // On a terminal the rows are the progress, and a bar would stand among them.
  if (isatty(STDOUT_FILENO) == 1) options.common.quiet = true;
  return options;
}

/// Scripted runs leave the system's weights alone, but for tests.
bool sets_nothing() {
  return is_scripted() && environment_variable("NUMATLAS_TEST_WEIGHTS") == nullptr;
}

class Sweep {
 public:
  Sweep(const SweepOptions& options, std::vector<SweepRow> rows)
      : options_(options), rows_(std::move(rows)) {}

  Expected<void> operator()(Comm& comm);

 private:
  Expected<void> get_ready(Comm& comm) const;
  Expected<void> set_weights(const SweepRow& row);
  Expected<void> put_weights_back();
  Expected<void> measure(const SweepRow& row, Comm& comm);
  Expected<void> print(const SweepRow& row, const GpuXfer& asked, const RunReport& report,
                       const std::optional<Error>& error);
  void say_notes(const RunReport& report, const GpuXfer& asked);
  Expected<void> save(const std::string& incomplete) const;

  const SweepOptions& options_;
  std::vector<SweepRow> rows_;
  std::optional<SystemWeights> weights_;
  std::optional<Error> weights_problem_;  ///< why they are not set for these rows
  std::string weights_of_;                ///< nodes and weights that weights_ is for
  std::set<std::string> said_;
  nlohmann::json reports_ = nlohmann::json::array();
  std::optional<Error> first_failure_;
  std::size_t failures_ = 0;
};

/// What would be the same for every row.
Expected<void> Sweep::get_ready(Comm& comm) const {
  TRY(check_one_task(comm));
  if (!options_.json.empty()) {
    TRY(check_writable(options_.json, "--json"));
  }
  if (!is_scripted()) TRY(find_device(0));
  if (!options_.kernel_weights) return {};
  if (sets_nothing()) {
    return fail_usage("--kernel-weights", "nothing is measured, so nothing is set", "leave it out");
  }
  const auto repaired = TRY(repair_system_weights());
  if (!repaired.empty()) {
    say(fmt::format("{}: weights left system-wide by a killed run were restored: {}\n", sweep_name,
                    repaired));
  }
  return check_system_weights();
}

/// Rows of the same nodes and weights share them.
Expected<void> Sweep::set_weights(const SweepRow& row) {
  const std::string wanted = memory_of_row(row);
  if (!options_.kernel_weights || wanted == weights_of_) return {};
  TRY(put_weights_back());
  weights_of_ = wanted;
  auto set = SystemWeights::set(weights_of_row(row));
  weights_problem_ = set ? std::nullopt : std::optional(set.error());
  if (set) weights_.emplace(*std::move(set));
  return {};
}

Expected<void> Sweep::put_weights_back() {
  if (!weights_) return {};
  const auto restored = weights_->restore();
  weights_.reset();
  if (!restored) return fail(restored.error());
  // Rows with other weights would say it again.
  if (!restored->empty() && said_.insert(*restored).second)
    say(fmt::format("{}: {}\n", sweep_name, *restored));
  return {};
}

Expected<void> Sweep::operator()(Comm& comm) {
  TRY(get_ready(comm));
  TRY(write_stdout(sweep_head(options_.weighted)));
  Expected<void> done;
  for (const SweepRow& row : rows_) {
    done = stop_requested() ? fail(ErrorKind::interrupted, "interrupted") : set_weights(row);
    if (done) done = measure(row, comm);
    if (!done) break;
  }
  const auto back = put_weights_back();
  const auto saved = save(done ? "" : full_text(in_its_words(done.error(), sweep_words)));
  if (!done) return done;
  if (!back) return back;
  if (!saved || !first_failure_) return saved;
  return fail(first_failure_->kind,
              fmt::format("{} of {} rows failed; the first: {}", failures_, rows_.size(),
                          full_text(*first_failure_)),
              first_failure_->hint);
}

/// Prints the row, whatever became of it. Errors end the sweep: a stop, or nowhere to write.
Expected<void> Sweep::measure(const SweepRow& row, Comm& comm) {
  GpuXfer asked = options_.common;
  asked.gpus = row.gpus;
  asked.bytes = row.size;
  asked.memory = memory_of_row(row);
  RunReport report;
  if (weights_problem_) return print(row, asked, report, weights_problem_);
  const auto parsed = transfer_run(asked);
  if (!parsed) return print(row, asked, report, parsed.error());
  RunHooks hooks;
  hooks.table = [](const RunReport&) { return std::string(); };
  hooks.in_words = [](Error error) { return in_its_words(std::move(error), sweep_words); };
  hooks.save = [&](const RunReport& now) -> Expected<void> {
    report = now;
    return {};
  };
  const auto ran = run_benchmark(parsed->benchmark, parsed->options, comm, hooks);
  if (!ran && ran.error().kind == ErrorKind::interrupted) return fail(ran.error());
  return print(row, asked, report, error_of(ran));
}

Expected<void> Sweep::print(const SweepRow& row, const GpuXfer& asked, const RunReport& report,
                            const std::optional<Error>& error) {
  say_notes(report, asked);
  std::optional<Error> problem;
  if (error) problem = in_its_words(*error, sweep_words);
  const auto figures = [&](const char* direction) {
    GpuXferFigures now = figures_of(report, direction);
    const bool known = std::any_of(
        report.scenarios.begin(), report.scenarios.end(),
        [&](const ScenarioResult& point) { return label_of(point, "direction") == direction; });
    if (!known && problem) now.problem = full_text(*problem);
    return now;
  };
  const GpuXferFigures read = figures("h2d"), write = figures("d2h");
  const std::string& reason = read.problem.empty() ? write.problem : read.problem;
  if (!reason.empty()) {
    ++failures_;
    if (!first_failure_)
      first_failure_ = problem.value_or(Error{ErrorKind::unavailable, reason, ""});
  }
  if (!options_.json.empty()) {
    nlohmann::json value{{"ngpus", row.gpus},      {"numa_nodes", row.nodes},
                         {"numa_weight", nullptr}, {"access_size_bytes", row.size.value},
                         {"error", nullptr},       {"report", nullptr}};
    if (!row.weights.empty()) value["numa_weight"] = row.weights;
    if (!reason.empty()) value["error"] = reason;
    if (!report.scenarios.empty()) value["report"] = to_json(report);
    reports_.push_back(std::move(value));
  }
  return write_stdout(sweep_line(row, read, write));
}

/// What is alike in many rows is said once, of the first.
void Sweep::say_notes(const RunReport& report, const GpuXfer& asked) {
  std::string text;
  for (const Warning& note : gpu_xfer_notes(report, asked)) {
    if (said_.insert(note.text).second) text += note_line(note);
  }
  say(text);
}

Expected<void> Sweep::save(const std::string& incomplete) const {
  if (options_.json.empty()) return {};
  const nlohmann::json all{{"program", sweep_name},
                           {"version", version},
                           {"complete", incomplete.empty()},
                           {"incomplete_reason", incomplete.empty() ? nlohmann::json(nullptr)
                                                                    : nlohmann::json(incomplete)},
                           {"rows", reports_}};
  return write_whole(options_.json, pretty(all), "--json");
}

std::string cells_text(const GpuXferFigures& figures) {
  if (figures.problem.empty()) return ms_text(figures.copy_ms) + "," + gib_text(figures.gib_second);
  return csv_field("failed: " + figures.problem) + ",failed";
}

}  // namespace

Expected<std::vector<SweepRow>> sweep_rows(const SweepLists& lists) {
  const auto gpus = TRY(numbers_in(lists.gpus, "--ngpus"));
  for (int number : gpus) {
    if (number < 1) return fail_usage("--ngpus", "at least one GPU is required");
  }
  const auto sizes = TRY(sizes_in(lists.sizes));
  std::vector<SweepRow> rows;
  for (int number : gpus) {
    for (const std::string& nodes : words_of(lists.nodes, ';')) {
      for (const std::string& weights : words_of(lists.weights, ';')) {
        TRY(check_nodes_and_weights(nodes, weights));
        for (Bytes size : sizes) rows.push_back({number, nodes, weights, size});
      }
    }
  }
  return rows;
}

WeightedNodes weights_of_row(const SweepRow& row) {
  const std::vector<int> nodes = *parse_ordered_list(row.nodes);
  const std::vector<int> weights = *parse_ordered_list(row.weights);
  WeightedNodes both;
  for (std::size_t i = 0; i < nodes.size(); ++i) both.emplace_back(NodeId{nodes[i]}, weights[i]);
  return both;
}

std::string memory_of_row(const SweepRow& row) {
  if (row.weights.empty()) return "interleave:" + row.nodes;
  std::string text;
  for (const auto& [node, weight] : weights_of_row(row))
    text += fmt::format("{}{}={}", text.empty() ? "weighted:" : ",", node.value, weight);
  return text;
}

std::string sweep_head(bool weighted) {
  return fmt::format(
      "ngpus,numa_nodes,{}access_size(bytes),read_latency(ms),read_bw(gib/s),write_latency(ms),"
      "write_bw(gib/s)\n",
      weighted ? "numa_weight," : "");
}

std::string sweep_line(const SweepRow& row, const GpuXferFigures& read,
                       const GpuXferFigures& write) {
  // The original's scripts quote them always.
  const std::string weights = row.weights.empty() ? "" : fmt::format("\"{}\",", row.weights);
  return fmt::format("{},\"{}\",{}{},{},{}\n", row.gpus, row.nodes, weights, row.size.value,
                     cells_text(read), cells_text(write));
}

int gpu_sweep(const std::vector<std::string>& words) {
  CLI::App app("Copies between GPUs and interleaved memory: a table over GPUs, nodes and sizes.");
  SweepOptions given;
  declare_gpu_sweep(app, given);
  if (const auto ended = parse_program(app, words)) return *ended;
  const auto options = completed(given);
  if (!options) return end_with_error(options.error());
  auto rows = sweep_rows(options->lists);
  if (!rows) return end_with_error(rows.error());
  Sweep sweep(*options, *std::move(rows));
  return run_on_ranks(sweep_words, [&](Comm& comm) { return sweep(comm); });
}

}  // namespace numatlas::legacy
