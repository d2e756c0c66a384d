#include "legacy/latency_run.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/terminal.h"
#include "base/units.h"
#include "comm/launcher.h"
#include "placement/policy.h"

namespace numatlas::legacy {
namespace {

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

std::string cores_text(const CpuSet& cpus) {
  if (cpus.size() == 2) return fmt::format("{},{}", cpus[0].value, cpus[1].value);
  return to_list(cpus);
}

std::string node_text(NodeId node) { return node.value < 0 ? "-" : std::to_string(node.value); }

int run_latency(std::vector<std::string> words, const OwnWords& own, RunHooks hooks,
                const std::vector<OwnFile>& files) {
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

const FlowResult* flow_of(const ScenarioResult& point, int worker) {
  const auto found = std::find_if(point.flows.begin(), point.flows.end(),
                                  [&](const FlowResult& flow) { return flow.worker == worker; });
  return found == point.flows.end() ? nullptr : &*found;
}

const FlowResult* last_flow(const RunReport& report, int worker) {
  const FlowResult* last = nullptr;
  for (const ScenarioResult& point : report.scenarios)
    if (const FlowResult* const flow = flow_of(point, worker)) last = flow;
  return last;
}

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

std::string latency_text(const FlowResult* flow) {
  const Figure* const latency = flow == nullptr ? nullptr : find_figure(*flow, "latency");
  const bool known = latency != nullptr && latency->value();
  return known ? fmt::format("{:.2f}", *latency->value() * 1e9) : "-";
}

std::string address_text(const FlowResult* flow) {
  return flow == nullptr ? "-" : fmt::format("{:#x}", flow->address);
}

void warn(const std::string& name, const std::string& text) {
  if (should_report(detect_launcher())) say(fmt::format("{}: warning: {}\n", name, text));
}

}  // namespace numatlas::legacy
