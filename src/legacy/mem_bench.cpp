// numa_mem_bench: latency by rank and size, with the table, results file, mapping file and memory
// statistics of the program of this name.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/units.h"
#include "benchmarks/parse.h"
#include "legacy/latency_run.h"
#include "legacy/programs.h"
#include "report/file.h"

namespace numatlas::legacy {
namespace {

constexpr const char* mem_bench_name = "numa_mem_bench";

struct Options {
  std::string sizes = "512", csv;
  bool serial = false;
};

void declare(CLI::App& app, Options& options) {
  app.name(mem_bench_name);
  app.add_option("--size", options.sizes,
                 "memory per rank in MiB: a number, the powers of two in a range (1-64), or a list "
                 "in this order (128,256,512)")
      ->type_name("SIZES")
      ->capture_default_str();
  app.add_flag("--serial", options.serial, "measure one rank at a time");
  app.add_option("--csv", options.csv,
                 "also write the latencies as CSV, one row per size and one column per rank")
      ->type_name("FILE");
  app.footer("`numatlas latency` measures the same with more options.");
  app.allow_extras();
}

/// The original goes on after options it does not know, and so do we; but not in silence.
void warn_of_unknown(const CLI::App& app) {
  for (const std::string& word : app.remaining()) {
    const Error error = leftover_error(app, {word});
    warn(mem_bench_name,
         fmt::format("{}, skipped{}", error.message, error.hint.empty() ? "" : "; " + error.hint));
  }
}

std::string number_or_nothing(const std::optional<int>& value) {
  return value && *value >= 0 ? std::to_string(*value) : "";
}

/// The mapping is a by-product: a folder that cannot be written to does not end the run.
void save_mapping(const RunReport& report, bool& warned) {
  const auto saved = write_whole("mapping_check.log", mapping_csv(report), "the mapping");
  if (!saved && !warned) {
    warn(mem_bench_name, full_text(saved.error()) + "; the run goes on without it");
    warned = true;
  }
}

/// "64MB" of a whole number of MiB.
std::string head_text(Bytes size) {
  return size.value % mib == 0 ? fmt::format("{}MB", size.value / mib) : compact_text(size);
}

/// The text with `prefix` before each line.
std::string with_prefix(const std::string& prefix, const std::string& text) {
  std::string result;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    result += prefix + text.substr(start, end - start) + '\n';
    start = end + 1;
  }
  return result;
}

}  // namespace

std::string worker_table(const RunReport& report) {
  const bool hosts = report.hosts.size() > 1;
  // Widths and places as in the original's own output; `NUMA` and ranks stand in the middle.
  TableGroup mpi{"MPI", {}, std::nullopt};
  if (hosts) mpi.columns.push_back({"Host", 6});
  mpi.columns.push_back({"Ranks", 7, true});
  const TableGroup cpu{"CPU", {{"Cores", 9}, {"NUMA", 6, true}}, 8};
  const TableGroup memory{"MEMORY", {{"Address", 11, false, true}, {"NUMA", 7, true}}, 9};
  TableGroup values{"LATENCY (ns)", {}, std::nullopt};
  for (const ScenarioResult& point : report.scenarios)
    values.columns.push_back({head_text(point.size), 8});
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < report.workers.size(); ++i) {
    const WorkerRow& worker = report.workers[i];
    const FlowResult* const last = last_flow(report, static_cast<int>(i));
    std::vector<std::string>& cells = rows.emplace_back();
    if (hosts) cells.push_back(report.hosts[static_cast<std::size_t>(worker.host)]);
    cells.push_back(fmt::format("{:03}", worker.rank));
    cells.push_back(cores_text(worker.cpus));
    cells.push_back(node_text(worker.cpu_node));
    cells.push_back(address_text(last));
    cells.push_back(last == nullptr ? "-" : memory_node_text(*last));
    for (const ScenarioResult& point : report.scenarios)
      cells.push_back(latency_text(flow_of(point, static_cast<int>(i))));
  }
  return grouped_table({mpi, cpu, memory, values}, rows);
}

std::string mapping_csv(const RunReport& report) {
  std::string text = "rank,cpu_id,cpu_numa,memory_numa\n";
  for (std::size_t i = 0; i < report.workers.size(); ++i) {
    const WorkerRow& worker = report.workers[i];
    const FlowResult* flow = last_flow(report, static_cast<int>(i));
    std::optional<int> cpu, cpu_node, memory_node;
    if (flow != nullptr) {
      const std::optional<CpuId> seen = flow->cpu_after ? flow->cpu_after : flow->cpu_before;
      const Machine& machine = report.machines[static_cast<std::size_t>(worker.host)];
      const Cpu* known = seen ? machine.find_cpu(*seen) : nullptr;
      if (seen) cpu = seen->value;
      if (known != nullptr) cpu_node = known->node.value;
      if (const auto node = flow->residency.main_node()) memory_node = node->value;
    }
    text += fmt::format("{},{},{},{}\n", worker.rank, number_or_nothing(cpu),
                        number_or_nothing(cpu_node), number_or_nothing(memory_node));
  }
  return text;
}

std::string statistics_block(const ProcessMemory& memory, int rank, Bytes size) {
  const std::string prefix = fmt::format("[{}]", rank);
  const std::string text = fmt::format(
      "===================== NUMA Statistics =====================\n"
      "Last Process: Rank {}\n"
      "Process ID: {}\n"
      "Allocated Memory Size: {:g} MB\n"
      "Running numastat...\n"
      "\n"
      "{}",
      rank, memory.pid, static_cast<double>(size.value) / mib, process_memory_table(memory));
  return with_prefix(prefix + " ", text) + prefix +
         "==========================================================\n";
}

std::string size_matrix_csv(const RunReport& report) {
  std::string text = "size (MB)";
  for (std::size_t worker = 0; worker < report.workers.size(); ++worker) {
    text += fmt::format(",{}", worker);
  }
  text += '\n';
  for (const ScenarioResult& scenario : report.scenarios) {
    if (scenario.flows.empty()) continue;
    text += fmt::format("{:g}", static_cast<double>(scenario.size.value) / mib);
    for (std::size_t worker = 0; worker < report.workers.size(); ++worker) {
      text += ',';
      for (const FlowResult& flow : scenario.flows) {
        const Figure* found = find_figure(flow, "latency");
        if (flow.worker == static_cast<int>(worker) && found != nullptr && found->value())
          text += fmt::format("{:.2f}", *found->value() * 1e9);
      }
    }
    text += '\n';
  }
  return text;
}

int mem_bench(const std::vector<std::string>& words) {
  CLI::App app("Memory latency of each MPI rank over sizes, by a pointer chase.");
  Options options;
  declare(app, options);
  if (const auto ended = parse_program(app, words)) return *ended;
  const auto sizes = parse_sizes(options.sizes);
  if (!sizes) return end_with_error(sizes.error());
  warn_of_unknown(app);
  std::vector<std::string> latency_words{"--size=" + options.sizes};
  if (options.serial) latency_words.emplace_back("--serial");
  std::vector<OwnFile> files;
  if (app.count("--csv") > 0) files.push_back({{"--csv", options.csv}, size_matrix_csv});
  RunHooks hooks = plain_hooks([](const RunReport& report) { return worker_table(report) + "\n"; });
  hooks.save = [warned = false](const RunReport& report) mutable -> Expected<void> {
    save_mapping(report, warned);
    return {};
  };
  hooks.process_memory = [last = sizes->back()](const ProcessMemory& memory, int rank) {
    return statistics_block(memory, rank, last);
  };
  return run_latency(latency_words, {{{"--size", "--size"}, {"--csv", "--csv"}}, less_memory},
                     std::move(hooks), files);
}

}  // namespace numatlas::legacy
