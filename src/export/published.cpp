// A row in the form of data/*.csv, without anything that names the host.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "export/export.h"
#include "machine/identity.h"
#include "processors/processor.h"
#include "published/expected.h"
#include "published/normal.h"

namespace numatlas {
namespace {

/// Idle latency of a node's own memory: of several nodes the lowest.
std::optional<double> idle_latency(const ExportInput& input) {
  std::optional<double> lowest;
  for (const auto& [fact, run] : facts_of(input)) {
    if (fact->key != "matrix_latency" ||
        where_of(*fact, "cpu_node") != where_of(*fact, "memory_node"))
      continue;
    lowest = std::min(lowest.value_or(fact->estimate.value), fact->estimate.value);
  }
  return lowest;
}

/// Channels with modules of a socket, and their rate, where all are alike; else two empty cells.
std::vector<std::string> module_cells(const MemorySlots& slots, int sockets) {
  std::set<std::string> channels;
  std::optional<double> rate;
  for (const MemorySlot& slot : slots.slots) {
    if (!slot.has_dram()) continue;
    if (!slot.configured_speed || slot.channel.empty() || (rate && rate != slot.configured_speed))
      return {"", ""};
    rate = slot.configured_speed;
    channels.insert(slot.socket + " " + slot.channel);
  }
  const int count = static_cast<int>(channels.size());
  if (!rate || count % sockets != 0) return {"", ""};
  return {std::to_string(count / sockets), fmt::format("{:.0f}", *rate * 1e-6)};
}

/// A cell of CSV.
std::string cell(const std::string& words) {
  std::string text = printable(words);
  std::erase(text, '"');
  return text.find(',') == std::string::npos ? text : '"' + text + '"';
}

/// "m5.large" of Amazon's machines, which alone say their type.
std::string machine_type_of(const Identity& identity) {
  constexpr std::string_view vendor = "Amazon EC2 ";
  return identity.product.starts_with(vendor) ? identity.product.substr(vendor.size()) : "";
}

Expected<Exported> export_published(const ExportInput& input) {
  const Rows* const found = first_with_reads(input.stored.runs);
  if (found == nullptr) {
    std::string reason;
    for (const Rows& run : input.stored.runs)
      if (const AllReads reads = all_reads_of(run); !reads.reason.empty())
        reason = " (" + reads.reason + ")";
    return fail_about(ErrorKind::unavailable, input.stored.file,
                      "has no reads of all CPUs of one host" + reason,
                      "`numatlas survey` and `numatlas bandwidth --kernels read` measure them");
  }
  const Rows& run = *found;
  if (is_null_engine(run.engine))
    return fail_about(ErrorKind::unavailable, input.stored.file,
                      "was made by the null engine, which measures nothing",
                      "`numatlas survey` without --engine measures");
  const double rate = all_reads_of(run).rate->value;
  const Machine& machine = run.machines.front();
  const Sockets sockets = sockets_of(machine);
  const std::string conditions = cell("numatlas " + run.version + ", all CPUs"),
                    read = fmt::format("{:.1f}", rate * 1e-9);
  const auto idle = idle_latency(input);
  const std::string latency = idle ? fmt::format("{:.1f}", *idle * 1e9) : "";
  std::vector<std::string> columns, cells;
  const auto number = [](const std::optional<int>& value) {
    return value ? std::to_string(*value) : "";
  };
  const std::string& told = input.machine_type.empty() ? run.machine_type : input.machine_type;
  const auto [provider, processor] = cloud_of(machine, told, Published());
  if (!provider.empty()) {
    const std::string type = machine_type_of(machine.identity);
    columns = {"provider", "machine", "processor", "cpus", "threads_per_core", "cache_mib"};
    cells = {cell(provider),
             cell(type.empty() ? told : type),
             cell(processor),
             std::to_string(machine.cpus.size()),
             number(threads_per_core(machine)),
             number(caches_in_mib(machine))};
  } else if (is_virtual(machine)) {
    return fail_about(ErrorKind::unavailable, input.stored.file,
                      "is of a virtual machine whose firmware names no cloud, so that nobody could "
                      "tell what its figures are of",
                      "--machine-type NAME says what it is, if anything is known of that type");
  } else {
    columns = {"processor", "sockets", "cores", "channels", "mts", "virtual"};
    const bool by_core = machine.arch == "aarch64" && sockets.cores;  // named by their core
    cells = {cell(processor_name(machine.cpu_model)), std::to_string(sockets.count),
             by_core ? number(sockets.cores) : ""};
    const auto modules = module_cells(machine.memory_slots, sockets.count);
    cells.insert(cells.end(), modules.begin(), modules.end());
    cells.emplace_back(is_bare_metal(machine) ? "" : "yes");
  }
  columns.insert(columns.end(), {"program", "read_gb_s", "latency_ns", "conditions"});
  cells.insert(cells.end(), {"numatlas", read, latency, conditions});
  Exported exported{
      fmt::format("# name: own figures\n# source: https://example.org/survey.json\n"
                  "# date: {}\n# licence: facts\n{}\n{}\n",
                  run.started.substr(0, 7), fmt::join(columns, ","), fmt::join(cells, ",")),
      caveats_of(input)};
  exported.notes.emplace_back(
      "source has to say where the figures can be seen; data/README.md says where to send the row. "
      "`numatlas check --published FILE` holds other machines against it");
  return exported;
}

}  // namespace

ExportForm published_form() {
  return {"published", "a row for the tables of published figures, anonymous", false, true,
          export_published};
}

}  // namespace numatlas
