#include "legacy/cpu_xfer.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include "base/say.h"
#include "benchmarks/parse.h"
#include "benchmarks/runner.h"
#include "comm/launcher.h"
#include "engine/agreement.h"
#include "legacy/program.h"
#include "report/file.h"
#include "report/worker_table.h"

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

struct XferOptions {
  bool matrix = false, injection = false;
  std::string nodes, engine = "native", time = "20s";
};

void declare_options(CLI::App& app, XferOptions& options) {
  app.name("numa_cpu_xfer_bench");
  app.add_flag("--bandwidth_matrix", options.matrix,
               "reads of every node's CPUs from every node's memory");
  app.add_flag("--peak_injection_bandwidth", options.injection,
               "all CPUs together, in MLC's mixes of reads and writes");
  app.add_option("--membind", options.nodes,
                 "memory nodes of the peak injection, one after the other: 0,1 (default: each "
                 "CPU's own)")
      ->type_name("NODES");
  app.add_option("--engine", options.engine,
                 "native, or mlc: also run Intel MLC from the PATH and print both")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--time", options.time, "measuring time in all, without MLC's own")
      ->type_name("TIME")
      ->capture_default_str();
  app.footer(
      "\nWithout a flag both are measured. `numatlas matrix` and `numatlas bandwidth` measure the "
      "same with more options. man numa_cpu_xfer_bench");
}

std::optional<double> number_in(const std::string& word) {
  std::istringstream stream(word);
  double value = 0;
  if (!(stream >> value)) return std::nullopt;
  return value;
}

/// Output of a command; nothing when it cannot be run or fails.
std::optional<std::string> output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      popen(command.c_str(), "r"), [](FILE* file) { return file == nullptr ? 0 : pclose(file); });
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), pipe.get()))
    text.append(part.data(), count);
  return text;
}

bool on_the_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string mb(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.1f}", *rate * 1e-6) : "-";
}

std::string ratio(const std::optional<double>& ours, const std::optional<double>& theirs) {
  return ours && theirs && *theirs > 0 ? fmt::format("{:.2f}", *ours / *theirs) : "-";
}

std::optional<double> sum_of(const ScenarioResult& point) {
  const Metric* sum = find_total(point, "bandwidth_sum");
  return sum != nullptr ? sum->value : std::nullopt;
}

/// Runs words of numatlas without a report of their own; what there is to note goes to stderr.
Expected<RunReport> run_words(const std::string& command, std::vector<std::string> words,
                              Comm& comm) {
  const std::vector<std::string> test = test_words();
  words.insert(words.end(), test.begin(), test.end());
  auto parsed = parse_run(command, words);
  if (!parsed) return fail(parsed.error());
  RunHooks hooks;
  hooks.table = [](const RunReport& report) {
    say(notes_text(report));
    return std::string();
  };
  auto report = run_benchmark(*parsed->benchmark, parsed->options, comm, hooks);
  if (report) return report;
  // Errors name the option that this program has.
  Error error = renamed(report.error(), "--memory", "--membind");
  if (error.kind == ErrorKind::resource) {
    error = renamed(std::move(error), "--size", "memory");
    error.hint = "name nodes that have more of it with --membind, or fewer CPUs with taskset";
  }
  return fail(error);
}

NodeMatrix matrix_of(const RunReport& report) {
  NodeMatrix matrix;
  for (const ScenarioResult& point : report.scenarios) {
    const int cpus = std::stoi(label_of(point, "cell_cpu_node"));
    const int memory = std::stoi(label_of(point, "cell_memory_node"));
    if (std::find(matrix.columns.begin(), matrix.columns.end(), memory) == matrix.columns.end())
      matrix.columns.push_back(memory);
    if (matrix.rows.empty() || matrix.rows.back().first != cpus) matrix.rows.push_back({cpus, {}});
    matrix.rows.back().second.push_back(sum_of(point));
  }
  return matrix;
}

PeakInjection injection_of(const RunReport& report, std::optional<int> node) {
  PeakInjection result;
  result.memory_node = node;
  for (const Traffic& traffic : traffics) {
    std::optional<double> rate;
    for (const ScenarioResult& point : report.scenarios) {
      if (point.kernel == traffic.kernel) rate = sum_of(point);
    }
    result.rates.emplace_back(traffic.label, rate);
  }
  return result;
}

class Run {
 public:
  Run(XferOptions options, std::vector<std::optional<int>> nodes, double seconds)
      : options_(std::move(options)), nodes_(std::move(nodes)), seconds_(seconds) {}

  Expected<void> operator()(Comm& comm) {
    std::optional<Error> problem;
    if (options_.engine == "mlc" && comm.rank() == 0 && !on_the_path("mlc")) {
      problem = Error{ErrorKind::unavailable, "--engine mlc: there is no mlc on the PATH",
                      "put Intel MLC there, or leave --engine out"};
    }
    if (auto agreed = agree(comm, problem); !agreed) return agreed;
    if (options_.injection) {
      for (const std::optional<int>& node : nodes_) {
        if (auto done = injection(comm, node); !done) return done;
      }
    }
    return options_.matrix ? matrix(comm) : Expected<void>{};
  }

 private:
  Expected<void> injection(Comm& comm, std::optional<int> node) {
    const double points = static_cast<double>(traffics.size() * nodes_.size());
    std::vector<std::string> words{
        "--kernels",   "read,triad", "--mix",
        "3:1,2:1,1:1", "--time",     fmt::format("{:.3f}s", injection_seconds() / points)};
    if (node) words.insert(words.end(), {"--memory", fmt::format("bind:{}", *node)});
    const auto report = run_words("bandwidth", words, comm);
    if (!report) return fail(report.error());
    return agree(comm,
                 error_of(comm.rank() == 0 ? show_injection(*report, node) : Expected<void>{}));
  }

  Expected<void> show_injection(const RunReport& report, std::optional<int> node) const {
    const PeakInjection ours = injection_of(report, node);
    if (options_.engine != "mlc") return write_stdout(peak_injection_text(ours, nullptr));
    const std::string bind = node ? fmt::format("numactl --membind={} ", *node) : "";
    const auto text = output_of(bind + "mlc --peak_injection_bandwidth 2>&1");
    const PeakInjection theirs = parse_peak_injection(text.value_or(""));
    if (theirs.rates.empty()) return no_mlc(text.value_or(""));
    return write_stdout(peak_injection_text(ours, &theirs));
  }

  Expected<void> matrix(Comm& comm) {
    const auto report =
        run_words("matrix",
                  {"--only", "bandwidth", "--kernels", "read", "--mix", "none", "--time",
                   fmt::format("{:.3f}s", seconds_ - injection_seconds())},
                  comm);
    if (!report) return fail(report.error());
    return agree(comm, error_of(comm.rank() == 0 ? show_matrix(*report) : Expected<void>{}));
  }

  Expected<void> show_matrix(const RunReport& report) const {
    const NodeMatrix ours = matrix_of(report);
    if (options_.engine != "mlc") return write_stdout(bandwidth_matrix_text(ours, nullptr));
    const auto text = output_of("mlc --bandwidth_matrix 2>&1");
    const NodeMatrix theirs = parse_bandwidth_matrix(text.value_or(""));
    if (theirs.rows.empty()) return no_mlc(text.value_or(""));
    return write_stdout(bandwidth_matrix_text(ours, &theirs));
  }

  double injection_seconds() const {
    return !options_.injection ? 0 : options_.matrix ? seconds_ / 2 : seconds_;
  }

  Expected<void> no_mlc(const std::string& said) const {
    return fail(ErrorKind::unavailable,
                "--engine mlc: mlc printed no bandwidths" +
                    (said.empty() ? "" : ": " + said.substr(0, said.find('\n'))),
                "see what mlc itself says");
  }

  XferOptions options_;
  std::vector<std::optional<int>> nodes_;
  double seconds_;
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
  if (options.engine != "native" && options.engine != "mlc") {
    return end_with_error({ErrorKind::usage,
                           fmt::format("--engine: '{}' is not one of native, mlc", options.engine),
                           ""});
  }
  if (!options.matrix && !options.injection) options.matrix = options.injection = true;
  std::vector<std::optional<int>> nodes{std::nullopt};
  if (!options.nodes.empty()) {
    const auto list = parse_list<NodeId>(options.nodes);
    if (!list || list->empty()) {
      return end_with_error({ErrorKind::usage,
                             fmt::format("--membind: '{}' is not a list of nodes", options.nodes),
                             "for example 0,1"});
    }
    nodes.clear();
    for (NodeId node : *list) nodes.push_back(node.value);
  }
  const auto time = parse_duration(options.time);
  if (!time) {
    Error error = time.error();
    error.message = "--time: " + error.message;
    return end_with_error(error);
  }
  const double seconds = std::chrono::duration<double>(*time).count();
  Run run(options, nodes, seconds);
  return with_ranks("auto", false, run);
}

}  // namespace numatlas::legacy
