// numa_allocator: latency of one size, with the debug block, the wide table and the memory table of
// the program of this name.
#include <cerrno>  // program_invocation_name
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/whole.h"
#include "legacy/latency_run.h"
#include "legacy/programs.h"

namespace numatlas::legacy {
namespace {

constexpr const char* allocator_name = "numa_allocator";

/// SIZE_MB, as text that --size takes.
Expected<std::string> checked_size(const std::string& text) {
  // Beyond this, bytes do not fit in 63 bits.
  constexpr std::uint64_t most = (std::uint64_t{1} << 63) / mib - 1;
  const auto size = parse_whole<std::uint64_t>(text, 1, most, "SIZE_MB");
  if (size) return std::to_string(*size);
  return fail_usage("SIZE_MB",
                    fmt::format("'{}' is not a whole number of MB from 1 to {}", text, most),
                    "numa_allocator [--serial] SIZE_MB, for example numa_allocator --serial 512");
}

Error leftover(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining();
  const std::string& word = words.front();
  const bool negative = word.size() > 1 && word[0] == '-' && word[1] >= '0' && word[1] <= '9';
  if (negative) return checked_size(word).error();
  Error error = unknown_word(app, words);
  if (!word.starts_with('-')) {
    error.message = fmt::format("only one size is taken, and '{}' follows it", word);
  }
  return error;
}

/// Whether the kernel manages nodes; a recorded machine does when it has any.
bool numa_available(const Machine& machine) {
  std::error_code code;
  if (machine.is_live()) return std::filesystem::exists("/sys/devices/system/node/online", code);
  return !machine.nodes.empty();
}

}  // namespace

std::string page_size_cell(const Residency& residency) {
  if (!residency.page_size) return "-";
  // Less than half a percent on either side is the ragged end of a range.
  const double huge = residency.thp_fraction.value_or(0);
  const std::uint64_t huge_kb = thp_size_over(*residency.page_size).value / kib;
  if (huge >= 0.995) return fmt::format("kB={}", huge_kb);
  const std::uint64_t kb = residency.page_size->value / kib;
  return huge < 0.005 ? fmt::format("kB={}", kb) : fmt::format("kB={},{}", kb, huge_kb);
}

std::string debug_block(const RunReport& report, const std::vector<std::string>& argv) {
  const Machine& machine = report.machines.front();
  std::string text = fmt::format(
      "=== Debug Information ===\n"
      "MPI Configuration:\n"
      "  Number of ranks: {}\n"
      "  Command line arguments:\n",
      report.ranks);
  for (std::size_t i = 0; i < argv.size(); ++i)
    text += fmt::format("    argv[{}] = {}\n", i, argv[i]);
  const FlowResult* first = last_flow(report, 0);
  const std::optional<CpuId> seen = first == nullptr ? std::nullopt : first->cpu_before;
  const Cpu* cpu = seen ? machine.find_cpu(*seen) : nullptr;
  text += fmt::format(
      "\n"
      "System Information:\n"
      "  Page size: {} bytes\n"
      "  Number of NUMA nodes: {}\n"
      "  NUMA available: {}\n"
      "  Number of CPUs: {}\n"
      "  Current CPU: {}\n"
      "  Current NUMA node: {}\n",
      machine.page_size ? std::to_string(machine.page_size->value) : "-", machine.nodes.size(),
      numa_available(machine) ? "Yes" : "No", machine.cpus.size(),
      seen ? std::to_string(seen->value) : "-", cpu == nullptr ? "-" : node_text(cpu->node));
  return text;
}

std::string wide_table(const RunReport& report) {
  // Widths and places as in the original's own output.
  const TableGroup mpi{"MPI", {{"ranks", 7, true}}, std::nullopt};
  const TableGroup cpu{"CPU", {{"Cores", 9}, {"NUMA", 6, true}}, 8};
  const TableGroup memory{"MEMORY",
                          {{"Address", 16, false, true},
                           {"SIZE (MB)", 14},
                           {"NUMA", 7, true},
                           {"Page Size", 13, false, true}},
                          29};
  const TableGroup latency{"LATENCY", {{"Avg (ns)", 12}}, std::nullopt};
  const std::string size =
      report.scenarios.empty() ? "-" : std::to_string(report.scenarios.front().size.value / mib);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < report.workers.size(); ++i) {
    const WorkerRow& worker = report.workers[i];
    const FlowResult* flow = last_flow(report, static_cast<int>(i));
    rows.push_back({fmt::format("{:03}", worker.rank), cores_text(worker.cpus),
                    node_text(worker.cpu_node), address_text(flow), size,
                    flow == nullptr ? "-" : memory_node_text(*flow),
                    flow == nullptr ? "-" : page_size_cell(flow->residency), latency_text(flow)});
  }
  return grouped_table({mpi, cpu, memory, latency}, rows);
}

int allocator(const std::vector<std::string>& words) {
  CLI::App app("Latency of one size of memory in each MPI rank.");
  app.name(allocator_name);
  std::string size = "512";
  bool serial = false;
  app.add_option("SIZE_MB", size, "memory per rank in MiB")->type_name("")->capture_default_str();
  app.add_flag("--serial", serial, "measure one rank at a time");
  app.footer("`numatlas latency` measures the same with more options.");
  app.allow_extras();
  if (const auto ended = parse_program(app, words)) return *ended;
  if (!app.remaining().empty()) return end_with_error(leftover(app));
  const auto checked = checked_size(size);
  if (!checked) return end_with_error(checked.error());
  std::vector<std::string> latency_words{"--size=" + *checked};
  if (serial) latency_words.emplace_back("--serial");
  std::vector<std::string> argv{program_invocation_name};
  argv.insert(argv.end(), words.begin(), words.end());
  RunHooks hooks = plain_hooks([&argv](const RunReport& report) {
    return debug_block(report, argv) + "\n" + wide_table(report);
  });
  hooks.process_memory = [](const ProcessMemory& memory, int) {
    return "\n" + process_memory_table(memory);
  };
  return run_latency(latency_words, {{{"--size", "SIZE_MB"}}, less_memory}, std::move(hooks));
}

}  // namespace numatlas::legacy
