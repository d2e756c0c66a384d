#include "report/fleet_table.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/add_once.h"
#include "base/count_text.h"
#include "base/text.h"
#include "fleet/summary.h"
#include "report/notes.h"
#include "report/text_table.h"

namespace numatlas {
namespace {

constexpr double giga = 1e9;

/// Texts that hosts have, each once, with who has it; in the order of their first host.
struct SharedText {
  std::string text;
  std::vector<std::string> hosts;
};
template <class TextsOf>
std::vector<SharedText> shared_texts(const Fleet& fleet, TextsOf texts_of) {
  std::vector<SharedText> shared;
  std::map<std::string, std::size_t> places;
  for (const FleetHost& host : fleet.hosts) {
    for (const std::string& text : texts_of(host)) {
      const auto [place, fresh] = places.try_emplace(text, shared.size());
      if (fresh) shared.push_back({text, {}});
      std::vector<std::string>& hosts = shared[place->second].hosts;
      if (hosts.empty() || hosts.back() != host.name) hosts.push_back(host.name);
    }
  }
  return shared;
}

std::string said_by(const SharedText& shared, std::size_t all) {
  if (shared.hosts.size() == all) return shared.text;
  return fmt::format("{}: {}", names_text(shared.hosts), shared.text);
}

TextRow row_cells(const char* what, const FleetKernel& kernel, const TimeRow& row,
                  const std::string& where) {
  // A time that is not known is 0, which no pass takes.
  const auto rate = [](double value) {
    return value > 0 ? fmt::format("{:.2f}", value / giga) : "-";
  };
  const auto time = [](double value) { return value > 0 ? fmt::format("{:.6f}", value) : "-"; };
  TextRow cells{fmt::format("{} {}", what, full_name(kernel)),
                rate(row.average_rate),
                time(row.average),
                rate(row.maximum_rate),
                time(row.minimum),
                rate(row.minimum_rate),
                time(row.maximum)};
  cells.push_back(row.median ? rate(row.median->value) : "-");
  cells.push_back(
      row.median && row.median->low ? rate(*row.median->low) + "-" + rate(*row.median->high) : "-");
  cells.push_back(where);
  return cells;
}

std::string rows_text(const Fleet& fleet, const TextStyle& style) {
  std::vector<TextRow> cells{{"", "average", "time", "best", "time", "worst", "time", "median",
                              "95 % interval", "worst at"},
                             {"", "GB/s", "s", "GB/s", "s", "GB/s", "s", "GB/s", "GB/s", ""}};
  const auto rows = rows_of(fleet);
  for (const bool of_hosts : {false, true}) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i]) continue;
      const TimeRow& row = of_hosts ? rows[i]->host : rows[i]->process;
      const std::string& host = fleet.hosts[row.slowest_host].name;
      const bool known = !of_hosts && row.slowest_rank >= 0;
      cells.push_back(row_cells(of_hosts ? "Node" : "Process", fleet.kernels[i], row,
                                known ? fmt::format("rank {} on {}", row.slowest_rank, host)
                                : row.maximum > 0 ? host
                                                  : "-"));
    }
  }
  if (cells.size() == 2) return "no host has finished a round\n";
  const bool told =
      std::ranges::any_of(rows, [](const auto& row) { return row && !row->processes_known; });
  std::string text = table_lines(cells, 1, style);
  if (told)
    text +=
        "the file has no rounds: averages are of processes, also in the rows of nodes, and may "
        "lie above the best node\n";
  return text;
}

std::string stores_text(const Fleet& fleet) {
  std::vector<std::string> stores;
  for (const FleetKernel& kernel : fleet.kernels) {
    if (!kernel.stores.empty()) add_once(stores, kernel.stores);
  }
  return fmt::format("{}", fmt::join(stores, ", "));
}

std::string head_text(const RunReport& run) {
  const Fleet& fleet = *run.fleet;
  int processes = 0;
  for (const FleetHost& host : fleet.hosts) processes += fleet.kinds[host.kind].processes;
  std::string text = fmt::format("STREAM on {}, {}", count_text(fleet.hosts.size(), "node"),
                                 count_text(processes, "process", "processes"));
  if (fleet.elements > 0) {
    text += fmt::format(", 3 arrays of {} elements ({}) each", fleet.elements,
                        to_rounded_text(Bytes{fleet.elements * 8}));
  }
  text += '\n';
  std::vector<std::string> how;
  const std::size_t rounds = finished_rounds(fleet);
  if (rounds > 1) how.push_back(fmt::format("{} rounds, the first excluded", rounds));
  if (rounds == 1) how.emplace_back("one round, which also warmed up");
  if (!fleet.memory.empty()) how.push_back("memory: " + fleet.memory);
  if (const std::string stores = stores_text(fleet); !stores.empty())
    how.push_back("stores: " + stores);
  if (!run.isa.empty()) how.push_back("kernels: " + run.isa);
  if (!how.empty()) text += fmt::format("{}\n", fmt::join(how, "; "));
  return text + widths_text(run);
}

/// "median copy 11.98, triad 12.00 GB/s" of the hosts of a kind; "" where nobody finished a round.
std::string kind_medians(const Fleet& fleet, std::size_t kind) {
  std::string text;
  for (std::size_t kernel = 0; kernel < fleet.kernels.size(); ++kernel) {
    std::vector<double> rates;
    for (const FleetHost& host : fleet.hosts) {
      if (host.kind != kind) continue;
      if (const auto times = times_of(fleet, host, kernel)) rates.push_back(times->rate);
    }
    if (rates.empty()) continue;
    text += fmt::format("{}{} {:.2f}", text.empty() ? "median " : ", ",
                        full_name(fleet.kernels[kernel]), summarize(rates)->median / giga);
  }
  return text.empty() ? text : text + " GB/s";
}

std::string kinds_text(const Fleet& fleet) {
  std::vector<std::vector<std::string>> names(fleet.kinds.size());
  for (const FleetHost& host : fleet.hosts) names[host.kind].push_back(host.name);
  const bool several =
      std::ranges::count_if(names, [](const auto& its) { return !its.empty(); }) > 1;
  std::string text;
  for (std::size_t kind = 0; kind < names.size(); ++kind) {
    if (names[kind].empty()) continue;
    text += fmt::format("{} ({}): {}\n", count_text(names[kind].size(), "node"),
                        names_text(names[kind]), to_text(fleet.kinds[kind]));
    // The rows above are over all kinds: what is compared is these.
    const std::string medians = several ? kind_medians(fleet, kind) : "";
    if (!medians.empty()) text += "  " + medians + "\n";
  }
  return text;
}

std::string together_text(const Fleet& fleet) {
  const auto spread = start_spread(fleet);
  if (!spread) return "";
  const std::string clocks =
      fleet.clock_error > 0
          ? fmt::format("; clocks known to {:.3f} ms, which is taken into account",
                        fleet.clock_error * 1e3)
          : "";
  return fmt::format(
      "hosts started each pass within {:.3f} ms of each other, {:.2g} % of its time (median{})\n",
      spread->seconds * 1e3, spread->part * 100, clocks);
}

std::string placement_text(const Fleet& fleet) {
  // Where hosts differ the first few show how; --json has all.
  constexpr std::size_t most_shown = 3;
  const auto shared = shared_texts(fleet, [](const FleetHost& host) {
    return host.placement.empty() ? std::vector<std::string>{}
                                  : std::vector<std::string>{host.placement};
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(shared.size(), most_shown); ++i)
    text += fmt::format("placement: {}\n", said_by(shared[i], fleet.hosts.size()));
  if (shared.size() > most_shown)
    text += fmt::format("placement: {} more\n", shared.size() - most_shown);
  return text;
}

}  // namespace

std::vector<std::string> host_warnings(const Fleet& fleet) {
  std::vector<std::string> warnings;
  for (const SharedText& shared : shared_texts(fleet, [](const FleetHost& host) {
         std::vector<std::string> texts;
         for (const Warning& warning : host.warnings) texts.push_back(full_text(warning));
         return texts;
       }))
    warnings.push_back(said_by(shared, fleet.hosts.size()));
  return warnings;
}

std::string slow_text(const Fleet& fleet, const TextStyle& style) {
  std::string text;
  if (!fleet.slow) return text;
  const SlowReport& slow = *fleet.slow;
  if (!slow.hosts.empty()) {
    text += fmt::format("Slow nodes, {} of {} ({}):\n", slow.hosts.size(), slow.judged,
                        to_text(slow.rule));
    for (const SlowHost& host : slow.hosts) {
      const std::string line = to_text(fleet, host);
      text += "  " + (style.color ? accented(line, Accent::bad) : line) + "\n";
    }
  } else if (slow.judged > 0) {
    text += fmt::format("no slow nodes among {} (slow: {})\n", slow.judged, to_text(slow.rule));
  }
  for (const std::string& why : slow.not_judged) text += "not judged: " + why + "\n";
  return text;
}

std::string fleet_table(const RunReport& run, const TextStyle& style) {
  const Fleet& fleet = *run.fleet;
  std::string text = (run.answer.empty() ? "" : run.answer + "\n\n") + head_text(run) + "\n" +
                     rows_text(fleet, style) + "\n" + kinds_text(fleet) + together_text(fleet) +
                     placement_text(fleet) + slow_text(fleet, style);
  if (!run.complete) {
    text += fmt::format("incomplete: {} of {} rounds{}\n", finished_rounds(fleet), fleet.repeats,
                        run.incomplete_reason.empty() ? "" : ": " + run.incomplete_reason);
  }
  for (const Warning& warning : run.warnings) text += "warning: " + full_text(warning) + "\n";
  for (const std::string& warning : host_warnings(fleet)) text += "warning: " + warning + "\n";
  return text;
}

}  // namespace numatlas
