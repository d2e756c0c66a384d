#include "legacy/mem_bench.h"

#include <cstddef>
#include <optional>

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include "base/size_list.h"
#include "benchmarks/parse.h"
#include "report/file.h"
#include "report/process_memory.h"
#include "report/worker_table.h"

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
                 "memory a rank in MB: a value, a range (1-64: its powers of two), or a list "
                 "(128,256,512)")
      ->type_name("SIZE")
      ->capture_default_str();
  app.add_flag("--serial", options.serial, "one rank at a time");
  app.add_option("--csv", options.csv, "also write the results to this file")->type_name("FILE");
  app.footer("\n`numatlas latency` measures the same with more options. man numa_mem_bench");
  app.allow_extras();
}

/// The original goes on after options it does not know, and so do we; but not in silence.
void warn_of_unknown(const CLI::App& app) {
  for (const std::string& word : app.remaining()) {
    const Error error = unknown_word(app, {word});
    const bool close = error.hint.starts_with("did you mean");
    warn(mem_bench_name,
         fmt::format("{}, passed over{}", error.message, close ? "; " + error.hint : ""));
  }
}

std::string number_or_nothing(const std::optional<int>& value) {
  return value && *value >= 0 ? std::to_string(*value) : "";
}

/// The last point's flow of a worker, whose memory the table shows; nullptr for none.
const FlowResult* last_flow(const RunReport& report, int worker) {
  const FlowResult* found = nullptr;
  for (const ScenarioResult& scenario : report.scenarios) {
    for (const FlowResult& flow : scenario.flows) {
      if (flow.worker == worker) found = &flow;
    }
  }
  return found;
}

/// The mapping is a by-product: a folder that cannot be written to does not end the run.
void save_mapping(const RunReport& report, bool& warned) {
  const auto saved = write_whole("mapping_check.log", mapping_csv(report), "the mapping");
  if (!saved && !warned) {
    warn(mem_bench_name, saved.error().message + "; the run goes on without it");
    warned = true;
  }
}

}  // namespace

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

std::string statistics_block(const LastRank& last, Bytes size) {
  const std::string prefix = fmt::format("[{}]", last.rank);
  const std::string text = fmt::format(
      "===================== NUMA Statistics =====================\n"
      "Last Process: Rank {}\n"
      "Process ID: {}\n"
      "Allocated Memory Size: {:g} MB\n"
      "Running numastat...\n"
      "\n"
      "{}",
      last.rank, last.memory.pid, static_cast<double>(size.value) / mib,
      process_memory_table(last.memory));
  return with_prefix(prefix + " ", text) + prefix +
         "==========================================================\n";
}

int mem_bench(const std::vector<std::string>& words) {
  CLI::App app("Memory latency of each MPI rank over sizes, by a pointer chase.");
  Options options;
  declare(app, options);
  if (const auto ended = parse_program(app, words)) return *ended;
  const auto sizes = parse_sizes(options.sizes);
  if (!sizes) return end_with_error(sizes.error());
  warn_of_unknown(app);
  bool warned = false;
  Command command;
  command.wording = {measures_what_fits};
  command.words = {"--size=" + options.sizes};
  if (options.serial) command.words.push_back("--serial");
  if (app.count("--csv") > 0) command.words.push_back("--csv=" + options.csv);
  command.table = [](const RunReport& report) {
    return worker_table(report, "latency", "", true) + "\n";
  };
  command.save = [&warned](const RunReport& report) { save_mapping(report, warned); };
  command.process_memory = [last = sizes->back()](const LastRank& rank) {
    return statistics_block(rank, last);
  };
  return run(command);
}

}  // namespace numatlas::legacy
