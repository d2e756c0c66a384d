// A row for data/published.toml, without anything that names the host.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "export/export.h"
#include "machine/identity.h"
#include "processors/processor.h"
#include "published/expected.h"

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

/// Channels with modules of a socket, and their rate, where all are alike.
std::string modules_text(const MemorySlots& slots, int sockets) {
  std::set<std::string> channels;
  std::optional<double> rate;
  for (const MemorySlot& slot : slots.slots) {
    if (!slot.has_dram()) continue;
    if (!slot.configured_speed || slot.channel.empty() || (rate && rate != slot.configured_speed))
      return "";
    rate = slot.configured_speed;
    channels.insert(slot.socket + " " + slot.channel);
  }
  const int count = static_cast<int>(channels.size());
  if (!rate || count % sockets != 0) return "";
  return fmt::format("channels = {}\nmts = {:.0f}\n", count / sockets, *rate * 1e-6);
}

/// A text between quotes of TOML.
std::string quoted(const std::string& words) {
  std::string text = printable(words);
  std::erase_if(text, [](char c) { return c == '"' || c == '\\'; });
  return '"' + text + '"';
}

Expected<Exported> export_published(const ExportInput& input) {
  const auto reads = first_reads(input.stored.runs);
  if (!reads)
    return fail_about(ErrorKind::unavailable, input.stored.file,
                      "has no reads of all CPUs of one host",
                      "`numatlas survey` and `numatlas bandwidth --kernels read` measure them");
  const Rows& run = *reads->run;
  const Machine& machine = run.machines.front();
  const Sockets sockets = sockets_of(machine);
  std::string text = fmt::format("[[row]]\nmodel = {}\nsockets = {}\n",
                                 quoted(processor_name(machine.cpu_model)), sockets.count);
  if (machine.arch == "aarch64" && sockets.cores)  // named by their core
    text += fmt::format("cores = {}\n", *sockets.cores);
  text += modules_text(machine.memory_slots, sockets.count);
  text += fmt::format("kernel = \"read\"\ngbs = {:.1f}\n", reads->rate.value * 1e-9);
  if (const auto latency = idle_latency(input))
    text += fmt::format("idle_ns = {:.1f}\n", *latency * 1e9);
  text += fmt::format("conditions = {}\n", quoted("numatlas " + run.version + ", all CPUs"));
  if (!is_bare_metal(machine)) text += "virtual = true\n";
  text += fmt::format("source = \"https://example.org/survey.json\"\ndate = {}\n",
                      quoted(run.started.substr(0, 7)));
  Exported exported{text, caveats_of(input)};
  exported.notes.emplace_back(
      "source has to say where the figures can be seen; docs/published.md says where to send the "
      "row");
  return exported;
}

}  // namespace

ExportForm published_form() {
  return {"published", "a row for the table of published figures, anonymous", false, true,
          export_published};
}

}  // namespace numatlas
