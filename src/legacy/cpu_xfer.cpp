// numa_cpu_xfer_bench: what the CPU extension of numa-gpu-xfer-bench has Intel MLC measure,
// measured by numatlas and printed in the layout that MLC's users know.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/environment.h"
#include "base/program.h"
#include "base/terminal.h"
#include "benchmarks/parse.h"
#include "engine/agreement.h"
#include "legacy/programs.h"
#include "report/file.h"
#include "report/notes.h"
#include "run/declare.h"
#include "run/runner.h"

namespace numatlas::legacy {
namespace {

/// MLC's names of its traffic, and the kernel of `numatlas bandwidth` that makes it.
struct Traffic {
  const char* label;
  const char* kernel;
};
constexpr std::array<Traffic, 5> traffics{{{"ALL Reads", "read"},
                                           {"3:1 Reads-Writes", "mix 3:1"},
                                           {"2:1 Reads-Writes", "mix 2:1"},
                                           {"1:1 Reads-Writes", "mix 1:1"},
                                           {"Stream-triad like", "triad"}}};

using Seconds = std::chrono::duration<double>;

struct XferOptions {
  bool matrix = false, injection = false;
  std::vector<std::optional<int>> nodes{std::nullopt};  ///< nullopt: each CPU's own
  std::string engine = "native";
  Nanoseconds time{};
};

Expected<std::vector<std::optional<int>>> nodes_in(const std::string& text) {
  const auto list = parse_list<NodeId>(text);
  if (!list || list->empty())
    return fail(ErrorKind::usage, fmt::format("'{}' is not a list of nodes", text),
                "for example 0,1");
  std::vector<std::optional<int>> nodes;
  for (const NodeId node : *list) nodes.emplace_back(node.value);
  return nodes;
}

void declare_options(CLI::App& app, XferOptions& options) {
  app.name("numa_cpu_xfer_bench");
  app.add_flag("--bandwidth_matrix", options.matrix,
               "measure reads of every node's CPUs from every node's memory");
  app.add_flag("--peak_injection_bandwidth", options.injection,
               "measure all CPUs together, in MLC's mixes of reads and writes");
  add_parsed(app, "--membind", options.nodes, "", "NODES",
             "memory nodes of the peak injection, one after the other, such as 0,1 (default: each "
             "CPU's own)",
             nodes_in);
  add_choice(app, "--engine", options.engine, named({"native", "mlc"}),
             "what to measure with; mlc also runs Intel MLC from the PATH and prints its figures "
             "beside ours. If it fails, ours are printed, and the error says how it ended");
  add_parsed(
      app, "--time", options.time, "20s", "TIME",
      "time for all bandwidths together, preparation of memory included; what MLC takes does "
      "not count",
      parse_duration);
  app.footer(
      "Without a flag both are measured. `numatlas matrix` and `numatlas bandwidth` measure the "
      "same "
      "with more options.");
}

std::optional<double> number_in(const std::string& word) {
  std::istringstream stream(word);
  double value = 0;
  if (!(stream >> value)) return std::nullopt;
  return value;
}

bool on_the_path(const std::string& program) {
  const char* path = environment_variable("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    folder += "/" + program;
    if (access(folder.c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string mb(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.1f}", *rate * 1e-6) : "-";
}

std::string ratio(const std::optional<double>& ours, const std::optional<double>& theirs) {
  return ours && theirs && *theirs > 0 ? fmt::format("{:.2f}", *ours / *theirs) : "-";
}

/// Of a point that was measured to its end.
std::optional<double> sum_of(const Case& one) {
  const Figure* sum = find_total(one, "bandwidth_sum");
  return sum != nullptr && one.status == Status::ok ? sum->value() : std::nullopt;
}

/// How it says what `numatlas bandwidth` and `matrix` say.
OwnWords own_words_of(const XferOptions& options) {
  OwnWords own{{{"--engine", "--engine"}},
               "name nodes that have more of it with --membind, or fewer CPUs with taskset"};
  if (options.nodes.front()) own.options["--memory"] = "--membind";
  return own;
}

NodeMatrix matrix_of(const RunReport& report) {
  NodeMatrix matrix;
  for (const Case& one : report.cases) {
    const int cpus = std::stoi(label_of(one, "cpu_node"));
    const int memory = std::stoi(label_of(one, "memory_node"));
    if (std::find(matrix.columns.begin(), matrix.columns.end(), memory) == matrix.columns.end())
      matrix.columns.push_back(memory);
    if (matrix.rows.empty() || matrix.rows.back().first != cpus) matrix.rows.push_back({cpus, {}});
    matrix.rows.back().second.push_back(sum_of(one));
  }
  // After a stop the last row is not whole.
  for (auto& [node, rates] : matrix.rows) rates.resize(matrix.columns.size());
  return matrix;
}

PeakInjection injection_of(const RunReport& report, std::optional<int> node) {
  PeakInjection result;
  result.memory_node = node;
  for (const Traffic& traffic : traffics) {
    std::optional<double> rate;
    for (const Case& one : report.cases) {
      if (one.kernel == traffic.kernel) rate = sum_of(one);
    }
    result.rates.emplace_back(traffic.label, rate);
  }
  return result;
}

class Run {
 public:
  explicit Run(XferOptions options)
      : options_(std::move(options)),
        seconds_left_(Seconds(options_.time).count()),
        parts_left_((options_.injection ? 1 : 0) + (options_.matrix ? 1 : 0)) {}

  Expected<void> operator()(Comm& comm) {
    std::optional<Error> problem;
    if (options_.engine == "mlc" && comm.rank() == 0 && !on_the_path("mlc")) {
      problem = Error{ErrorKind::unavailable, "mlc was not found on the PATH",
                      "put Intel MLC there, or leave --engine out", "--engine mlc"};
    }
    TRY(agree(comm, problem));
    if (options_.injection) {
      for (const std::optional<int>& node : options_.nodes) {
        TRY(injection(comm, node));
      }
    }
    return options_.matrix ? matrix(comm) : Expected<void>{};
  }

 private:
  Expected<void> injection(Comm& comm, std::optional<int> node) {
    std::vector<std::string> words{"--kernels", "read,triad", "--mix", "3:1,2:1,1:1"};
    std::vector<std::string> mlc{"mlc", "--peak_injection_bandwidth"};
    if (node) {
      words.insert(words.end(), {"--memory", fmt::format("bind:{}", *node)});
      mlc.insert(mlc.begin(), {"numactl", fmt::format("--membind={}", *node)});
    }
    return part(comm, "bandwidth", words, 1.0 / static_cast<double>(options_.nodes.size()),
                [&](const RunReport& report) {
                  return show(report, injection_of(report, node), mlc, parse_peak_injection,
                              peak_injection_text);
                });
  }

  Expected<void> matrix(Comm& comm) {
    return part(comm, "matrix", {"--only", "bandwidth", "--kernels", "read", "--mix", "none"}, 1,
                [&](const RunReport& report) {
                  return show(report, matrix_of(report), {"mlc", "--bandwidth_matrix"},
                              parse_bandwidth_matrix, bandwidth_matrix_text);
                });
  }

  /// Runs words of numatlas in `parts` of the parts that are left to do, and has rank 0 show what
  /// there is; after a stop too.
  Expected<void> part(Comm& comm, const std::string& command, std::vector<std::string> words,
                      double parts,
                      const std::function<Expected<void>(const RunReport&)>& show_report) {
    auto parsed = TRY(translated_run(command, words));
    // What the parts before took too long goes off the rest; the runner's own least time is left.
    constexpr double shortest = 0.02;
    const Seconds time{TRY(comm.broadcast_value(
        std::max(shortest, seconds_left_ * std::min(1.0, parts / parts_left_))))};
    parsed.options.stop.time = std::chrono::duration_cast<Nanoseconds>(time);
    parsed.options.time_of_all = true;
    std::optional<RunReport> seen;
    RunHooks hooks;
    hooks.in_words = [&](Error error) {
      return in_its_words(std::move(error), own_words_of(options_));
    };
    hooks.table = [&](const RunReport& report) {
      seen = report;
      return std::string();
    };
    const auto start = std::chrono::steady_clock::now();
    const auto ran = run_benchmark(parsed.benchmark, parsed.options, comm, hooks);
    // The scripted clock of the null engine is not this one.
    const Seconds spent =
        parsed.options.null_engine ? time : std::chrono::steady_clock::now() - start;
    seconds_left_ -= spent.count();
    parts_left_ -= parts;
    Expected<void> shown;
    if (seen) {
      say(notes_text(*seen, true));
      seen->complete = ran.has_value();
      shown = show_report(*seen);
    }
    if (!ran) return fail(ran.error());
    // A stop reaches each rank by itself.
    if (!shown && shown.error().kind == ErrorKind::interrupted) return shown;
    return agree(comm, error_of(shown));
  }

  /// Prints our figures, and MLC's beside them when it is asked for and ours are whole.
  template <class Figures>
  Expected<void> show(const RunReport& report, const Figures& ours,
                      const std::vector<std::string>& mlc, Figures (*parse)(const std::string&),
                      std::string (*text_of)(const Figures&, const Figures*)) const {
    const auto finished = [](const Case& one) { return one.status == Status::ok; };
    if (!report.complete && std::none_of(report.cases.begin(), report.cases.end(), finished)) {
      return {};
    }
    if (options_.engine != "mlc" || !report.complete) return write_stdout(text_of(ours, nullptr));
    // Not killed: MLC has settings of the CPU to put back.
    const auto run = run_program({.words = mlc, .output = ProgramOutput::kept});
    const Figures theirs = parse(run ? run->output : "");
    auto written = write_stdout(text_of(ours, theirs.empty() ? nullptr : &theirs));
    if (!written) return written;
    if (!run) return fail(about("--engine mlc", run.error()));
    if (run->ending == Ending::interrupted) return fail(ErrorKind::interrupted, "interrupted");
    return judge(mlc, *run, !theirs.empty());
  }

  static Expected<void> judge(const std::vector<std::string>& mlc, const ProgramRun& run,
                              bool has_figures) {
    if (has_figures && run.good()) return {};
    const std::string ending = run.ending == Ending::signalled
                                   ? fmt::format("was ended by signal {}", run.code)
                               : run.code != 0 ? fmt::format("ended with exit code {}", run.code)
                                               : "printed no bandwidths";
    const std::string said = run.output.substr(0, run.output.find('\n'));
    return fail_about(
        ErrorKind::unavailable, "--engine mlc",
        fmt::format("`{}` {}{}", fmt::join(mlc, " "), ending, said.empty() ? "" : ": " + said),
        "see what mlc itself says");
  }

  XferOptions options_;
  double seconds_left_;  ///< of --time
  double parts_left_;    ///< one for the injection, one for the matrix
};

}  // namespace

PeakInjection parse_peak_injection(const std::string& mlc_output) {
  PeakInjection result;
  std::istringstream lines(mlc_output);
  for (std::string line; std::getline(lines, line);) {
    for (const Traffic& traffic : traffics) {
      if (!line.starts_with(traffic.label)) continue;
      const std::size_t colon = line.find(':', std::string(traffic.label).size());
      if (colon == std::string::npos) continue;
      auto rate = number_in(line.substr(colon + 1));
      if (rate) *rate *= 1e6;
      result.rates.emplace_back(traffic.label, rate);
    }
  }
  return result;
}

NodeMatrix parse_bandwidth_matrix(const std::string& mlc_output) {
  NodeMatrix matrix;
  std::istringstream lines(mlc_output);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "Numa") {
      std::string second;
      words >> second;
      // Under "Numa node" stands the head with the memory nodes: "Numa node 0 1".
      for (std::string word; words >> word;) {
        if (const auto node = number_in(word)) matrix.columns.push_back(static_cast<int>(*node));
      }
      inside = inside || !matrix.columns.empty();
      continue;
    }
    const auto row = number_in(first);
    if (!inside || !row) continue;
    std::vector<std::optional<double>> rates;
    for (std::string word; words >> word;) {
      auto rate = number_in(word);
      if (rate) *rate *= 1e6;
      rates.push_back(rate);
    }
    if (rates.size() == matrix.columns.size())
      matrix.rows.emplace_back(static_cast<int>(*row), std::move(rates));
  }
  return matrix;
}

std::string peak_injection_text(const PeakInjection& ours, const PeakInjection* mlc) {
  std::string text = "Measuring Peak Injection Memory Bandwidths for the system";
  if (ours.memory_node) text += fmt::format(" (memory of node {})", *ours.memory_node);
  text +=
      "\nBandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)\n"
      "Using traffic with the following read-write ratios\n";
  if (mlc != nullptr)
    text += fmt::format("{:<17}:\t{:>10}\t{:>10}\t{:>5}\n", "", "numatlas", "mlc", "ratio");
  for (const auto& [label, rate] : ours.rates) {
    if (mlc == nullptr) {
      text += fmt::format("{:<17}:\t{}\t\n", label, mb(rate));
      continue;
    }
    std::optional<double> theirs;
    for (const auto& [other, value] : mlc->rates) {
      if (other == label) theirs = value;
    }
    text += fmt::format("{:<17}:\t{:>10}\t{:>10}\t{:>5}\n", label, mb(rate), mb(theirs),
                        ratio(rate, theirs));
  }
  return text + "\n";
}

std::string bandwidth_matrix_text(const NodeMatrix& ours, const NodeMatrix* mlc) {
  std::string text =
      "Measuring Memory Bandwidths between nodes within system\n"
      "Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)\n"
      "Using Read-only traffic type\n";
  if (mlc != nullptr) text += "Each cell: numatlas / mlc = ratio\n";
  text += "\t\tNuma node\nNuma node\t";
  for (int column : ours.columns) text += fmt::format("{:>6}\t", column);
  text += '\n';
  const auto theirs = [&](int row, int column) -> std::optional<double> {
    for (const auto& [node, rates] : mlc->rows) {
      for (std::size_t i = 0; i < rates.size(); ++i) {
        if (node == row && mlc->columns[i] == column) return rates[i];
      }
    }
    return std::nullopt;
  };
  for (const auto& [row, rates] : ours.rows) {
    text += fmt::format("{:>8}\t", row);
    for (std::size_t i = 0; i < rates.size(); ++i) {
      text += mb(rates[i]);
      if (mlc != nullptr) {
        const auto other = theirs(row, ours.columns[i]);
        text += fmt::format(" / {} = {}", mb(other), ratio(rates[i], other));
      }
      text += '\t';
    }
    text += '\n';
  }
  return text;
}

int cpu_xfer(const std::vector<std::string>& words) {
  CLI::App app("Bandwidth of the CPUs to each memory node, in the layout of Intel MLC.");
  XferOptions options;
  declare_options(app, options);
  if (const auto ended = parse_program(app, words)) return *ended;
  if (!options.matrix && !options.injection) options.matrix = options.injection = true;
  Run run(options);
  return run_on_ranks(own_words_of(options), run);
}

}  // namespace numatlas::legacy
