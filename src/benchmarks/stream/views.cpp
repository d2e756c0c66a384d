// How STREAM over hosts is shown, and who is slow as cases.
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/peers.h"
#include "base/add_once.h"
#include "base/statistics.h"
#include "base/text.h"
#include "benchmarks/stream/summary.h"
#include "report/notes.h"

namespace numatlas {
namespace {

std::string title_of(const RunReport& report) {
  int processes = 0;
  for (const HostRow& host : report.host_rows) processes += host.processes;
  std::string text = fmt::format("STREAM on {}, {}", count_text(report.hosts.size(), "host"),
                                 count_text(processes, "process", "processes"));
  if (const auto elements = elements_of(report); elements > 0)
    text += fmt::format(", 3 arrays of {} elements ({}) each", elements,
                        to_rounded_text(Bytes{elements * 8}));
  return text + ": hosts, GB/s";
}

std::string rounds_text(const RunReport& report, int asked) {
  const std::size_t rounds = finished_rounds(report);
  if (rounds == 0) return "";
  if (rounds == 1) return fmt::format("1 of {} rounds, which also warmed up", asked);
  const bool all = rounds >= static_cast<std::size_t>(asked);
  return fmt::format("{}{} rounds, the first excluded", rounds,
                     all ? "" : fmt::format(" of {}", asked));
}

std::string how_text(const RunReport& report, int asked) {
  std::vector<std::string> how, stores;
  if (std::string rounds = rounds_text(report, asked); !rounds.empty())
    how.push_back(std::move(rounds));
  for (const Case& one : report.cases)
    if (!one.stores.empty()) add_once(stores, one.stores);
  const std::string memory =
      report.cases.empty() ? "" : label_of(report.cases.front(), memory_label);
  if (!memory.empty()) how.push_back("memory: " + memory);
  if (!report.cases.empty() && !report.cases.front().pages.empty())
    how.push_back("pages: " + report.cases.front().pages);
  if (!stores.empty()) how.push_back(fmt::format("stores: {}", fmt::join(stores, ", ")));
  if (!report.isa.empty()) how.push_back("kernels: " + report.isa);
  return fmt::format("{}", fmt::join(how, "; "));
}

/// Texts that hosts have, each once, with who has it: "cn01, cn02 and 4 more: TEXT".
std::vector<std::string> placements_of(const RunReport& report) {
  // Where hosts differ the first few show how; --json has all.
  constexpr std::size_t most_shown = 3;
  std::vector<std::string> texts;
  std::vector<std::vector<std::string>> hosts;
  for (std::size_t i = 0; i < report.host_rows.size(); ++i) {
    const std::string& text = report.host_rows[i].placement;
    if (text.empty()) continue;
    const std::size_t place = add_once(texts, text);
    hosts.resize(texts.size());
    if (hosts[place].empty() || hosts[place].back() != report.hosts[i])
      hosts[place].push_back(report.hosts[i]);
  }
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(texts.size(), most_shown); ++i)
    lines.push_back("placement: " +
                    (hosts[i].size() == report.hosts.size() ? "" : names_text(hosts[i]) + ": ") +
                    texts[i]);
  if (texts.size() > most_shown)
    lines.push_back(fmt::format("placement: {} more", texts.size() - most_shown));
  return lines;
}

/// "median copy 11.98, triad 12.00 GB/s" of the hosts of a kind; "" where nobody finished a round.
std::string kind_medians(const RunReport& report, std::size_t kind) {
  std::vector<std::string> texts;
  for (const Case& one : report.cases) {
    std::vector<double> rates;
    for (const HostTotals& host : one.host_totals) {
      const Figure* const rate = find_figure(host.figures, "bandwidth");
      if (rate != nullptr && rate->estimate &&
          report.host_rows[static_cast<std::size_t>(host.host)].kind == kind)
        rates.push_back(rate->estimate->value);
    }
    if (!rates.empty())
      texts.push_back(fmt::format("{} {:.2f}", one.name, summarize(rates)->median * in_gb_per_s));
  }
  return texts.empty() ? "" : fmt::format("  median {} GB/s", fmt::join(texts, ", "));
}

std::vector<std::string> kinds_of(const RunReport& report) {
  std::vector<std::vector<std::string>> names(report.machines.size());
  std::vector<std::string> kinds(report.machines.size());
  for (std::size_t i = 0; i < report.host_rows.size(); ++i) {
    const HostRow& host = report.host_rows[i];
    names[host.kind].push_back(report.hosts[i]);
    if (kinds[host.kind].empty())
      kinds[host.kind] = to_text(kind_of(report.machines[host.kind], host.processes, host.workers));
  }
  std::vector<std::string> lines;
  for (std::size_t kind = 0; kind < names.size(); ++kind) {
    lines.push_back(fmt::format("{} ({}): {}", count_text(names[kind].size(), "host"),
                                names_text(names[kind]), kinds[kind]));
    // The rows above are over all kinds: what is compared is these.
    if (std::string medians = names.size() > 1 ? kind_medians(report, kind) : ""; !medians.empty())
      lines.push_back(std::move(medians));
  }
  return lines;
}

/// The rows of nodes, or those of processes.
View view_of(std::string title, const std::string& of, const char* slowest) {
  View view;
  view.title = std::move(title);
  view.cells = {label_column("", "name")};
  for (const std::string what : {"average", "best", "worst"}) {
    view.cells.push_back(figure_column(what, of + what + "_bandwidth", in_gb_per_s));
    view.cells.push_back(figure_column("s", of + what + "_time", 1, Part::value, 6));
  }
  view.cells.push_back(figure_column("median", of + "bandwidth", in_gb_per_s, Part::with_interval));
  view.cells.push_back(label_column("worst at", slowest));
  return view;
}

void add_lines(std::string text, std::vector<std::string>& lines) {
  while (text.ends_with('\n')) text.pop_back();
  if (!text.empty()) lines.push_back(std::move(text));
}

}  // namespace

Judged judge_hosts(const RunReport& report, const SlowRule& rule) {
  const Rows rows = rows_of(report);
  return judge_peers(hosts_of(rows), rule);
}

void add_findings(const Judged& judged, RunReport& report) {
  for (const auto& [host, one] : judged.findings) report.cases.push_back(one);
  const std::vector<std::size_t> slow = judged.slow_hosts();
  const std::set<std::size_t> named(slow.begin(), slow.end());
  Case& all = report.cases.emplace_back();
  all.name = "hosts";
  all.kernel = "";
  all.labels = {{"finding", finding::none}};
  for (std::size_t host = 0; host < report.hosts.size(); ++host) {
    const bool is_judged = !judged.unjudged.contains(host);
    HostTotals& totals = all.host_totals.emplace_back();
    totals.host = static_cast<int>(host);
    totals.figures = {plain_figure("host_judged", "", is_judged ? 1 : 0)};
    if (is_judged)
      totals.figures.push_back(plain_figure("host_slow", "", named.contains(host) ? 1 : 0));
  }
}

std::vector<Warning> stream_warnings(const RunReport& report, const SlowRule* rule) {
  std::vector<Warning> warnings;
  std::vector<std::pair<std::string, CpuUse>> by_host;
  for (std::size_t host = 0; host < report.cpu_use.size(); ++host)
    by_host.emplace_back(report.hosts[host], report.cpu_use[host]);
  for (auto& [code, text] : {std::pair("low-overlap", overlap_warning(report)),
                             {"other-processes", cpu_use_warning(by_host)}})
    if (!text.empty()) warnings.push_back({code, "", text});
  if (rule != nullptr)
    for (const std::string& why : unjudged_texts(report.hosts, judge_hosts(report, *rule)))
      warnings.push_back({"not-judged", "", "not judged: " + why});
  return warnings;
}

std::vector<View> stream_views(const RunReport& report, const SlowRule& rule, int rounds,
                               const std::string& source) {
  View hosts = view_of(title_of(report), "", "slowest_host");
  add_lines(source.empty() ? "" : "elements: " + source, hosts.notes);
  add_lines(how_text(report, rounds), hosts.notes);
  add_lines(widths_text(report), hosts.notes);
  hosts.verdict = kinds_of(report);
  for (std::string& line : placements_of(report)) hosts.verdict.push_back(std::move(line));
  int processes = 0;
  for (const HostRow& host : report.host_rows) processes += host.processes;
  std::vector<View> views{std::move(hosts)};
  if (processes > 1) views.push_back(view_of("Processes, GB/s", "process_", "slowest_process"));
  for (View& view : views_of_findings(report.cases, rule)) views.push_back(std::move(view));
  return views;
}

}  // namespace numatlas
