// numa_allocator: latency of one size, with the debug block, the wide table and the memory table of
// the program of this name. numa_mem_bench: latency by rank and size, with the table, results file,
// mapping file and memory statistics. Each is a translation into words of `numatlas latency`, with
// a report of its own.
#include <algorithm>
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

#include "base/ids.h"
#include "base/terminal.h"
#include "base/units.h"
#include "base/whole.h"
#include "benchmarks/parse.h"
#include "comm/launcher.h"
#include "legacy/programs.h"
#include "placement/policy.h"
#include "placement/residency.h"
#include "record/report.h"
#include "report/file.h"

namespace numatlas::legacy {
namespace {

/// What somebody does whose memory does not fit: these programs have no --skip-too-large.
constexpr const char* less_memory = "use less, or `numatlas latency`, which has --skip-too-large";

std::size_t width_of(const TableGroup& group) {
  std::size_t width = group.columns.empty() ? 0 : group.columns.size() - 1;  // bars between
  for (const TableColumn& column : group.columns) width += column.width;
  return width;
}

/// In the middle; the odd blank stands on the left, as in the originals' columns.
std::string centred(const std::string& text, std::size_t width) {
  const std::size_t spare = width - std::min(width, text.size());
  return std::string((spare + 1) / 2, ' ') + text + std::string(spare / 2, ' ');
}

std::string placed(const std::string& text, std::size_t width, bool centre) {
  return centre ? centred(text, width) : fmt::format(" {:<{}}", text, width - 1);
}

void widen(TableGroup& group, const std::vector<std::vector<std::string>>& rows,
           std::size_t first) {
  for (std::size_t i = 0; i < group.columns.size(); ++i) {
    std::size_t& width = group.columns[i].width;
    width = std::max(width, group.columns[i].title.size() + 2);
    for (const auto& row : rows) width = std::max(width, row[first + i].size() + 2);
  }
  const std::size_t needed = group.title.size() + 2;
  if (!group.columns.empty() && width_of(group) < needed) {
    group.columns.back().width += needed - width_of(group);
  }
}

/// The title in a group that was `given` wide before its cells were known.
std::string title_text(const TableGroup& group, std::size_t given) {
  const std::size_t width = width_of(group);
  std::size_t left = (width - group.title.size()) / 2;
  // What the group grew by is shared between both sides.
  if (group.title_at) left = *group.title_at + (width - given) / 2;
  return fmt::format("{:<{}}", std::string(left, ' ') + group.title, width);
}

/// What each rank may run on, before a worker is pinned.
Expected<std::vector<CpuSet>> gather_masks(Comm& comm) {
  const auto all = TRY(comm.all_gather(to_list(thread_affinity())));
  std::vector<CpuSet> masks;
  for (const std::string& text : all) {
    auto mask = parse_list<CpuId>(text);
    masks.push_back(mask ? *std::move(mask) : CpuSet{});
  }
  return masks;
}

double megabytes(Bytes bytes) { return static_cast<double>(bytes.value) / mib; }

std::string row_text(const std::string& name, const std::vector<Bytes>& by_node) {
  std::string text = fmt::format("{:<16} ", name);
  Bytes total;
  for (Bytes bytes : by_node) {
    text += fmt::format(" {:>15.2f}", megabytes(bytes));
    total.value += bytes.value;
  }
  return text + fmt::format(" {:>15.2f}\n", megabytes(total));
}

/// A mask as these programs print it: "1,65" for two CPUs, "1" for one; a range list for more.
std::string cores_text(const CpuSet& cpus) {
  if (cpus.size() == 2) return fmt::format("{},{}", cpus[0].value, cpus[1].value);
  return to_list(cpus);
}

/// "-" where it is not known.
std::string node_text(NodeId node) { return node.value < 0 ? "-" : std::to_string(node.value); }

/// Runs words of `numatlas latency` over all ranks; the notes of the run go to standard error,
/// after the table. `files`: what the program writes beside. Returns the exit code
/// (docs/exit-codes.md).
int run_latency(std::vector<std::string> words, const OwnWords& own, RunHooks hooks,
                const std::vector<OwnFile>& files = {}) {
  // The originals measure once a rank, whatever OMP_NUM_THREADS says.
  words.insert(words.end(), {"--threads", "1"});
  auto parsed = translated_run("latency", std::move(words));
  if (!parsed) return end_with_error(in_its_words(parsed.error(), own));
  parsed->benchmark.shown.own_files = [&files](const RunReport&) { return files; };
  parsed->options.keep_memory = true;  // the originals prepare the memory of each size once
  return run_on_ranks(own, [&](Comm& comm) -> Expected<void> {
    auto masks = gather_masks(comm);
    if (!masks) return fail(masks.error());
    if (!parsed->options.machine.empty()) masks->clear();  // they are of this machine
    hooks.table = [&masks, table = std::move(hooks.table)](RunReport report) {
      show_given_cpus(report, *masks);
      return table(report);
    };
    return run_with_notes(*parsed, comm, std::move(hooks), own);
  });
}

/// A worker's flow of a point; nullptr for none.
const FlowResult* flow_of(const Case& one, int worker) {
  const auto found = std::find_if(one.flows.begin(), one.flows.end(),
                                  [&](const FlowResult& flow) { return flow.worker == worker; });
  return found == one.flows.end() ? nullptr : &*found;
}

/// That of the last point that has one: the tables show its memory.
const FlowResult* last_flow(const RunReport& report, int worker) {
  const FlowResult* last = nullptr;
  for (const Case& one : report.cases)
    if (const FlowResult* const flow = flow_of(one, worker)) last = flow;
  return last;
}

/// Where a process's memory lies, as numastat -p shows it: rows Huge, Heap, Stack, Private, Total;
/// a column a node and the total; MB = 2^20 bytes.
std::string process_memory_table(const ProcessMemory& memory) {
  std::string text = fmt::format("Per-node process memory usage (in MBs) for PID {} ({})\n",
                                 memory.pid, memory.command);
  std::string head = fmt::format("{:<17}", "");
  std::string line = head;
  for (NodeId node : memory.nodes) {
    head += fmt::format(" {:>15}", fmt::format("Node {}", node.value));
    line += " ---------------";
  }
  text += head + fmt::format(" {:>15}\n", "Total") + line + " ---------------\n";
  std::vector<Bytes> totals(memory.nodes.size());
  for (const ProcessMemory::Row& row : memory.rows) {
    text += row_text(row.name, row.by_node);
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i].value += row.by_node[i].value;
  }
  line.replace(0, 16, "----------------");
  return text + line + " ---------------\n" + row_text("Total", totals);
}

/// "12.34": ns; "-" for none.
std::string latency_text(const FlowResult* flow) {
  const Figure* const latency = flow == nullptr ? nullptr : find_figure(*flow, "latency");
  const bool known = latency != nullptr && latency->value();
  return known ? fmt::format("{:.2f}", *latency->value() * 1e9) : "-";
}

/// "0x52a260"; "-" for none.
std::string address_text(const FlowResult* flow) {
  return flow == nullptr ? "-" : fmt::format("{:#x}", flow->address);
}

/// Prints "NAME: warning: TEXT" on standard error, from one rank only.
void warn(const std::string& name, const std::string& text) {
  if (should_report(detect_launcher())) say(fmt::format("{}: warning: {}\n", name, text));
}

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

std::string grouped_table(std::vector<TableGroup> groups,
                          const std::vector<std::vector<std::string>>& rows) {
  std::string titles = "|", line = "|", heads = "|";
  std::vector<TableColumn> columns;
  for (TableGroup& group : groups) {
    const std::size_t given = width_of(group);
    widen(group, rows, columns.size());
    titles += title_text(group, given) + "|";
    for (const TableColumn& column : group.columns) {
      heads += placed(column.title, column.width, column.centre_title) + "|";
      line += std::string(column.width, '-') + "|";
      columns.push_back(column);
    }
  }
  const std::string edge = " " + std::string(titles.size() - 2, '=') + "\n";
  std::string text = edge + titles + "\n" + line + "\n" + heads + "\n" + line + "\n";
  for (const auto& row : rows) {
    text += '|';
    for (std::size_t i = 0; i < columns.size(); ++i) {
      text += placed(row[i], columns[i].width, columns[i].centre_cells) + "|";
    }
    text += '\n';
  }
  return text + edge;
}

void show_given_cpus(RunReport& report, const std::vector<CpuSet>& masks) {
  for (WorkerRow& worker : report.workers) {
    const auto rank = static_cast<std::size_t>(worker.rank);
    if (rank >= masks.size() || masks[rank].size() != 2) continue;
    const Machine& machine = report.machines[static_cast<std::size_t>(worker.host)];
    const Cpu* first = machine.find_cpu(masks[rank][0]);
    const Cpu* second = machine.find_cpu(masks[rank][1]);
    if (first == nullptr || second == nullptr || first->core != second->core) continue;
    worker.cpus = masks[rank];
  }
}

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
      report.cases.empty() ? "-" : std::to_string(report.cases.front().size.value / mib);
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

std::string worker_table(const RunReport& report) {
  const bool hosts = report.hosts.size() > 1;
  // Widths and places as in the original's own output; `NUMA` and ranks stand in the middle.
  TableGroup mpi{"MPI", {}, std::nullopt};
  if (hosts) mpi.columns.push_back({"Host", 6});
  mpi.columns.push_back({"Ranks", 7, true});
  const TableGroup cpu{"CPU", {{"Cores", 9}, {"NUMA", 6, true}}, 8};
  const TableGroup memory{"MEMORY", {{"Address", 11, false, true}, {"NUMA", 7, true}}, 9};
  TableGroup values{"LATENCY (ns)", {}, std::nullopt};
  for (const Case& one : report.cases) values.columns.push_back({head_text(one.size), 8});
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
    for (const Case& one : report.cases)
      cells.push_back(latency_text(flow_of(one, static_cast<int>(i))));
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
  for (const Case& scenario : report.cases) {
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
