// How a report becomes rows. A key is made of what was asked for; everything measured goes beside
// it.
#include "analysis/rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/judge.h"
#include "base/add_once.h"
#include "base/json.h"
#include "base/text.h"
#include "machine/identity.h"
#include "record/labels.h"
#include "record/report_fields.h"

namespace numatlas {
namespace {

using nlohmann::json;

// A page elsewhere costs up to about twice as much, so this part of them changes a figure by no
// more than the least effect that counts. What a sample of 65,536 pages leaves in doubt is a tenth
// of it.
constexpr double least_share = 0.02;

template <class Value>
bool differ(const std::map<std::string, Value>& a, const std::map<std::string, Value>& b,
            double least) {
  const auto of = [](const std::map<std::string, Value>& parts, const std::string& name) {
    const auto found = parts.find(name);
    return found == parts.end() ? 0.0 : static_cast<double>(found->second);
  };
  for (const auto* one : {&a, &b}) {
    for (const auto& [name, part] : *one)
      if (std::abs(of(a, name) - of(b, name)) > least) return true;
  }
  return false;
}

/// "0 (75 %), 1 (25 %)"; "0" where that is all.
std::string parts_text(const std::map<std::string, double>& parts) {
  std::string text;
  for (const auto& [name, part] : parts) {
    if (part <= 0) continue;
    text += text.empty() ? "" : ", ";
    text += part > 1 - least_share / 2 ? name : fmt::format("{} ({:.0f} %)", name, part * 100);
  }
  return text;
}

std::string counts_text(const std::map<std::string, int>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    text += text.empty() ? "" : ", ";
    text += counts.size() == 1 && count == 1 ? name : fmt::format("{} x {}", count, name);
  }
  return text;
}

/// A flow as it was asked for, and what it gave.
struct ReadFlow {
  const FlowResult* flow = nullptr;
  std::string asked;  ///< JSON of what was asked for, but for who does it
  std::string who;    ///< "rank 0 thread 1"
  std::string kernel;
  std::string place;  ///< whose memory, in words: "memory bind:0"
  int cpu_node = -1;
  Observed observed;
};

void add_residency(const Residency& seen, const std::string& from, Observed& observed) {
  double all = 0;
  for (const auto& [node, pages] : seen.pages_by_node) all += static_cast<double>(pages);
  if (!(all > 0)) return;
  for (const auto& [node, pages] : seen.pages_by_node)
    observed.nodes[from + std::to_string(node)] = static_cast<double>(pages) / all;
  if (!seen.page_size) return;
  const double huge = seen.thp_fraction.value_or(0);
  observed.pages[from + to_text(*seen.page_size)] = 1 - huge;
  if (huge > 0) observed.pages[from + "THP"] = huge;
}

/// What else used the hosts: "a: other programs used 1.0 of 2 CPUs".
std::string disturbance_of(const RunReport& report) {
  std::string all;
  for (std::size_t host = 0; host < report.cpu_use.size(); ++host) {
    const std::string text = disturbance_text(report.cpu_use[host]);
    if (text.empty()) continue;
    const bool named = report.hosts.size() > 1 && host < report.hosts.size();
    all += (all.empty() ? "" : "; ") + (named ? report.hosts[host] + ": " : "") + text;
  }
  return all;
}

/// "3 of 10 visits were disturbed (other programs used up to 1.0 CPUs)".
std::string disturbance_of(const Case& result) {
  const Visits& visits = *result.visits;
  if (visits.disturbed == 0) return "";
  std::vector<std::string> parts = slowed_gpus(result);
  const auto add_most = [&](const std::vector<std::optional<double>>& cpus, const char* who) {
    double most = 0;
    for (const auto& one : cpus) most = std::max(most, one.value_or(0));
    if (most >= 0.05) parts.push_back(fmt::format("{} up to {:.1f} CPUs", who, most));
  };
  add_most(visits.others, "other programs used");
  add_most(visits.stolen, "the hypervisor withheld");
  add_most(visits.throttled, "the CPU quota withheld");
  return fmt::format("{} of {} visits {} disturbed{}", visits.disturbed, visits.count,
                     visits.disturbed == 1 ? "was" : "were",
                     parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", ")));
}

/// What a pilot was asked for.
std::string asked_of(const PilotSeries& pilot) {
  return json_line(json{pilot.key, pilot.kernel, pilot.size.value, pilot.workers, pilot.memory});
}

json labels_of(const Case& one) {
  json labels = json::object();
  for (const auto& [name, text] : one.labels) labels[name] = text;
  return labels;
}

std::string wrong_text(const FlowResult& flow) {
  return flow.wrong ? "wrong data: " + full_text(*flow.wrong) : "";
}

/// `wrong`: why there is no comparing with it; `counts`: what its interval is made of, in words.
void set_figure(Row& row, const Figure& figure, const std::string& wrong = "",
                const char* counts = "samples") {
  row.figure = figure.key;
  row.unit = figure.unit;
  row.estimate = figure.estimate;
  row.problem = wrong;
  if (!wrong.empty() || (figure.estimate && figure.estimate->low)) return;
  row.problem = !figure.estimate ? "has no value"
                : figure.summary ? fmt::format("fewer than 6 {} ({})", counts, figure.summary->n)
                                 : "its interval is not known";
}

/// Means of parts over flows; counts add up.
Observed together(const std::vector<const ReadFlow*>& flows) {
  Observed all;
  const auto mean = [&](auto member) {
    std::map<std::string, double> sum;
    double known = 0;
    for (const ReadFlow* flow : flows) {
      known += (flow->observed.*member).empty() ? 0 : 1;
      for (const auto& [name, part] : flow->observed.*member) sum[name] += part;
    }
    for (auto& [name, part] : sum) part /= known;
    return sum;
  };
  all.nodes = mean(&Observed::nodes);
  all.pages = mean(&Observed::pages);
  for (const ReadFlow* flow : flows) {
    for (const auto& [name, count] : flow->observed.cpu_nodes) all.cpu_nodes[name] += count;
    for (const auto& [name, count] : flow->observed.gpus) all.gpus[name] += count;
  }
  return all;
}

/// Flows of which a median says something: they were asked for the same, and their CPUs are of one
/// node. In the order of the first of each.
using AlikeFlows = std::vector<const ReadFlow*>;

std::vector<AlikeFlows> alike_flows(const std::vector<ReadFlow>& flows) {
  std::vector<AlikeFlows> groups;
  for (const ReadFlow& flow : flows) {
    if (flow.flow->figures.empty() || flow.flow->load) continue;
    const auto same = std::ranges::find_if(groups, [&](const AlikeFlows& group) {
      const ReadFlow& first = *group.front();
      return first.asked == flow.asked && first.cpu_node == flow.cpu_node &&
             first.flow->figures.front().key == flow.flow->figures.front().key;
    });
    if (same == groups.end())
      groups.push_back({&flow});
    else
      same->push_back(&flow);
  }
  return groups;
}

/// What tells a group from the others of its case, in words.
std::string telling(const AlikeFlows& group, const std::vector<AlikeFlows>& all) {
  const ReadFlow& mine = *group.front();
  std::string text;
  const auto differs = [&](auto member) {
    return std::ranges::any_of(
        all, [&](const AlikeFlows& other) { return other.front()->*member != mine.*member; });
  };
  if (differs(&ReadFlow::kernel)) text += mine.kernel + ", ";
  if (differs(&ReadFlow::cpu_node)) text += fmt::format("CPUs of node {}, ", mine.cpu_node);
  if (differs(&ReadFlow::place)) text += mine.place + ", ";
  return text;
}

/// The median of the flows' medians; its interval goes from the median of their low ends to that of
/// their high ends: the median grows with each of them.
void set_median(Row& row, const AlikeFlows& flows) {
  std::vector<double> values, lows, highs;
  std::size_t visits = 0;  // the fewest
  std::string problem;
  for (const ReadFlow* flow : flows) {
    set_figure(row, flow->flow->figures.front(), wrong_text(*flow->flow));
    if (!row.problem.empty()) problem = fmt::format("{}: {}", flow->who, row.problem);
    if (!row.estimate) continue;
    const Estimate& its = *row.estimate;
    values.push_back(its.value);
    if (its.method == Method::visits) visits = visits == 0 ? its.n : std::min(visits, its.n);
    if (!its.low) continue;
    lows.push_back(*its.low);
    highs.push_back(*its.high);
  }
  set_figure(row, flows.front()->flow->figures.front());
  row.problem = problem;
  row.estimate.reset();
  if (values.empty()) return;
  row.estimate = median_of(values);
  if (lows.size() < values.size()) return;
  row.estimate->low = median_of(lows);
  row.estimate->high = median_of(highs);
  row.estimate->n = visits > 0 ? visits : values.size();
  row.estimate->method = visits > 0 ? Method::visits : Method::derived;
}

class RowReader {
 public:
  explicit RowReader(const RunReport& report) : report_(report) {}

  Rows read() {
    static_cast<RunHead&>(run_) = report_;
    disturbed_ = disturbance_of(report_);
    guest_ = !is_null_engine(report_.engine) && std::ranges::any_of(report_.machines, is_virtual);
    for (const WorkerRow& worker : report_.workers)
      run_.worker_cpus.push_back(to_list(worker.cpus));
    const bool by_hosts = !report_.host_rows.empty();
    for (const HostRow& host : report_.host_rows) {
      run_.kinds.push_back(kind_of(report_.machines[host.kind], host.processes, host.workers));
      run_.identities.push_back(host.identity);
    }
    for (const Machine& machine : report_.machines) {
      if (by_hosts) break;  // these are one of each kind
      run_.kinds.push_back(kind_of(machine, 0, 0));
      run_.identities.push_back(machine.identity);
    }
    std::vector<std::pair<const Case*, const HostTotals*>> of_hosts;
    for (const Case& one : report_.cases) {
      if (find_label(one, "finding") != nullptr) continue;  // what was judged
      if (!by_hosts) read_case(one);
      for (const HostTotals& totals : one.host_totals)
        if (by_hosts) of_hosts.emplace_back(&one, &totals);
    }
    std::ranges::stable_sort(of_hosts, {}, [](const auto& one) { return one.second->host; });
    for (const auto& [one, totals] : of_hosts) read_host(*one, *totals);
    for (const PilotSeries& pilot : report_.pilots) read_pilot(pilot);
    number_doubles(run_.rows);
    return std::move(run_);
  }

 private:
  ReadFlow read_flow(const FlowResult& flow) const;
  Row row_of(const Case& one) const;
  void read_case(const Case& one);
  void read_host(const Case& one, const HostTotals& totals);
  void read_pilot(const PilotSeries& pilot);
  void relate(const Case& one, std::size_t first);
  void add(Row row, const Observed& observed, const std::string& problem);

  const RunReport& report_;
  Rows run_;
  /// Of a case, by the processes and workers of a host.
  std::map<std::tuple<const Case*, int, int>, std::string> asked_of_hosts_;
  std::string disturbed_;  ///< by what, on any of the hosts
  bool guest_ = false;     ///< any of the hosts is a virtual machine
};

ReadFlow RowReader::read_flow(const FlowResult& flow) const {
  const WorkerRow& worker = report_.workers[static_cast<std::size_t>(flow.worker)];
  ReadFlow read;
  read.flow = &flow;
  if (report_.hosts.size() > 1) read.who = fmt::format("host {} ", worker.host);
  read.who += fmt::format("rank {} thread {}", worker.rank, worker.thread);
  read.kernel = full_name(flow);
  read.place = "memory " + flow.memory;
  if (!flow.source_memory.empty() && flow.source_memory != flow.memory)
    read.place += " from " + flow.source_memory;
  read.cpu_node = worker.cpu_node.value;
  if (read.cpu_node >= 0) read.observed.cpu_nodes[std::to_string(read.cpu_node)] = 1;
  add_residency(flow.residency, "", read.observed);
  if (flow.source_residency) add_residency(*flow.source_residency, "from ", read.observed);
  if (flow.gpu && !flow.gpu->name.empty()) read.observed.gpus[flow.gpu->name] = 1;
  json asked = fields::to_json(flow.ask());
  // Of other commands it follows from what was measured: `loaded` takes parts of its peak.
  if (report_.command != "run") asked.erase("rate");
  if (flow.gpu)
    asked["gpu"] = {flow.gpu->gpu, flow.gpu->direction, flow.gpu->pinning, flow.gpu->caches};
  read.asked = json_line(asked);
  return read;
}

/// What all rows of a case have alike.
Row RowReader::row_of(const Case& one) const {
  Row row;
  row.command = run_.command;
  row.name = one.name;
  row.kernel = one.kernel;
  row.guest = guest_;
  row.disturbed = disturbed_;
  const auto& visits = one.visits;
  // What is known of the visits says more than what is known of the run.
  if (visits && !(visits->others.empty() && visits->stolen.empty() && visits->throttled.empty()))
    row.disturbed = disturbance_of(one);
  return row;
}

void RowReader::add(Row row, const Observed& observed, const std::string& problem) {
  row.observed = observed;
  if (!problem.empty()) row.problem = problem;
  if (row.problem.empty() && row.estimate) row.problem = width_problem(*row.estimate);
  // Unit and level are no part of what was asked for, but a median over flows is not a flow.
  row.key += fmt::format("|{}|{}", row.of, row.figure);
  run_.rows.push_back(std::move(row));
}

void RowReader::read_case(const Case& one) {
  const std::size_t first = run_.rows.size();
  Row common = row_of(one);
  common.case_key = json_line(json{run_.command, one.name, labels_of(one), one.size.value,
                                   one.pages, one.order, one.stride.value, one.kernel, one.stores});
  common.key = common.case_key;
  const auto measured = std::ranges::count(one.flows, false, &FlowResult::load);
  common.memory =
      Bytes{one.size.value * static_cast<std::uint64_t>(std::max(measured, std::ptrdiff_t{1}))};
  std::string problem;
  if (one.status != Status::ok)
    problem = name_of(one.status) + (one.reason.empty() ? "" : ": " + one.reason);
  if (one.flows.empty()) {
    common.problem = problem.empty() ? "has no flows" : problem;
    common.guest = false;
    common.disturbed.clear();
    run_.rows.push_back(std::move(common));
    return;
  }
  std::vector<ReadFlow> flows;
  for (const FlowResult& flow : one.flows) flows.push_back(read_flow(flow));
  std::map<std::string, int> doing;  // what its flows do, whoever does it
  AlikeFlows all;
  for (const ReadFlow& flow : flows) {
    ++doing[flow.asked];
    all.push_back(&flow);
  }
  for (const auto& [what, count] : doing) common.key += fmt::format("|{} x {}", count, what);
  const std::vector<AlikeFlows> groups = alike_flows(flows);
  const bool has_rate = find_figure(one.figures, "copy_rate") != nullptr;
  for (const FigureItem& item : figures_of(one)) {
    Row row = common;
    const Figure& figure = *item.figure;
    if (item.flow != nullptr) {
      const ReadFlow& flow = flows[static_cast<std::size_t>(item.flow - one.flows.data())];
      // Serial, each is measured as if it were the only one.
      if (report_.serial) row.key = fmt::format("{}|1 x {}", row.case_key, flow.asked);
      row.key += "|" + flow.asked;
      row.of = flow.who + (flow.flow->load ? " (load)" : "");
      const bool is_first = &figure == &flow.flow->figures.front();
      const bool alone = is_first && std::ranges::find(groups, AlikeFlows{&flow}) != groups.end();
      // What follows from another figure is shown where it is named only.
      const bool derived = !is_first && (!figure.summary || figure.key == "copy_time");
      row.level = derived ? RowLevel::derived : alone ? RowLevel::lone_flow : RowLevel::flow;
      set_figure(row, figure, wrong_text(*flow.flow));
      add(std::move(row), flow.observed, problem);
    } else if (item.host != nullptr) {
      row.host = static_cast<std::size_t>(item.host->host);
      row.host_key = fmt::format("{}|{}", row.case_key, figure.key);
      row.of = "host " + report_.hosts[*row.host];
      row.level = RowLevel::host;
      set_figure(row, figure);
      add(std::move(row), {}, problem);
    } else {
      row.of = "all flows";
      // The rate of a copy is half its sum: one of them is enough.
      const bool derived = has_rate ? figure.key != "copy_rate" : !figure.summary;
      if (derived) row.level = RowLevel::derived;
      set_figure(row, figure);
      add(std::move(row), together(all), problem);
    }
  }
  for (const AlikeFlows& group : groups) {
    if (group.size() == 1) continue;
    Row row = common;
    row.key += "|" + group.front()->asked;
    row.is_median = true;
    row.of = telling(group, groups) + fmt::format("median of {}", group.size());
    set_median(row, group);
    add(std::move(row), together(group), problem);
  }
  relate(one, first);
  for (std::string& slowed : slowed_gpus(one)) add_once(run_.slowed_gpus, std::move(slowed));
}

/// The row of a host that made passes of a case.
void RowReader::read_host(const Case& one, const HostTotals& totals) {
  const auto index = static_cast<std::size_t>(totals.host);
  const HostRow& host = report_.host_rows[index];
  std::string& asked = asked_of_hosts_[{&one, host.processes, host.workers}];
  if (asked.empty())
    asked = json_line(
        {report_.command, one.kernel, one.stores, labels_of(one), host.processes, host.workers});
  Row row;
  row.command = run_.command;
  row.name = one.name;
  row.kernel = one.kernel;
  row.host = index;
  row.of = "host " + report_.hosts[index];
  // With other instructions it is not the same measurement of a host.
  row.host_key = asked + "|" + run_.isa;
  // Of one host the name is no part of the question: it may have been renamed, or be another.
  row.key = (report_.hosts.size() > 1 ? report_.hosts[index] + " " : std::string()) + asked;
  row.rounds = rates_of(report_, one, totals.host, totals.passes);
  if (!totals.again.empty())
    row.again = bandwidth_of(rates_of(report_, one, totals.host, totals.again)).value();
  const Figure* const figure = find_figure(totals.figures, "bandwidth");
  // Rounds are long against the moods that a sample of 20 us sees, and too few for blocks of them.
  set_figure(row, figure != nullptr ? *figure : bandwidth_of(row.rounds), "", "counted rounds");
  if (!row.estimate) row.problem = "finished no round";
  if (row.problem.empty()) row.problem = width_problem(*row.estimate);
  if (index < run_.cpu_use.size()) row.disturbed = disturbance_text(run_.cpu_use[index]);
  run_.rows.push_back(std::move(row));
}

/// The machine as a whole is a case of its own.
void RowReader::read_pilot(const PilotSeries& pilot) {
  Row row;
  row.command = run_.command;
  row.name = "the machine as a whole (pilot)";
  row.case_key = row.key = run_.command + asked_of(pilot);
  row.of = pilot.kernel;
  row.level = RowLevel::machine;
  row.guest = guest_;
  row.disturbed = disturbed_;
  set_figure(row, {pilot.key, pilot.unit, pilot.estimate, {}});
  add(std::move(row), {}, "");
}

/// Gives the rows from `first` on, which are those of the case, their figures relative to the
/// pilots, as far as visits tell them apart: totals, and the median of the flows where all did
/// alike.
void RowReader::relate(const Case& one, std::size_t first) {
  if (!one.visits) return;
  for (const VisitValues& figure : one.visits->figures) {
    if (!figure.relative || !figure.relative->low || figure.relative->n < least_visits) continue;
    const PilotSeries* const pilot = pilot_for(one, figure.unit, report_.pilots);
    if (pilot == nullptr) continue;
    std::vector<Row*> found;
    for (std::size_t i = first; i < run_.rows.size(); ++i) {
      Row& row = run_.rows[i];
      if (row.figure == figure.key &&
          (row.level == RowLevel::whole || row.level == RowLevel::lone_flow))
        found.push_back(&row);
    }
    if (found.size() != 1) continue;
    found.front()->relative = figure.relative;
    found.front()->pilot = asked_of(*pilot);
  }
}

}  // namespace

double bytes_of_host(const RunReport& report, const Case& one, int host) {
  const Figure* const bytes = find_total(one, pass_bytes_key);
  const HostRow& row = report.host_rows[static_cast<std::size_t>(host)];
  return bytes == nullptr ? 0 : bytes->value().value_or(0) * row.processes;
}

std::vector<double> rates_of(const RunReport& report, const Case& one, int host,
                             const std::vector<PassTimes>& passes) {
  const double bytes = bytes_of_host(report, one, host);
  std::vector<double> rates;
  for (const PassTimes& pass : counted(passes))
    rates.push_back(pass.node > 0 ? bytes / pass.node : 0);
  return rates;
}

Figure bandwidth_of(std::vector<double> rates) {
  std::erase(rates, 0.0);
  const std::optional<Summary> summary = summarize(rates);
  if (!summary) return {"bandwidth", "B/s", std::nullopt, std::nullopt};
  return {"bandwidth", "B/s", estimate_of_median(*summary, std::nullopt), summary};
}

Rows rows_of(const RunReport& report) { return RowReader(report).read(); }

void number_doubles(std::vector<Row>& rows) {
  std::map<std::string_view, int> seen;  // keys of the first ones, which stay
  for (Row& row : rows) {
    const int number = ++seen[row.key];
    if (number == 1) continue;
    row.key += fmt::format("#{}", number);
    if (!row.host) row.name += fmt::format(" #{}", number);
  }
}

std::string width_problem(const Estimate& figure) {
  const auto width = half_width(figure);
  if (!width || *width < 1) return "";
  return fmt::format("not precise enough ({}{:.0f} %)", plus_minus(), *width * 100);
}

std::string place_difference(const Observed& base, const Observed& now) {
  const auto known = [](const auto& a, const auto& b) { return !a.empty() && !b.empty(); };
  if (known(base.gpus, now.gpus) && base.gpus != now.gpus)
    return fmt::format("GPU {}, now {}", counts_text(base.gpus), counts_text(now.gpus));
  if (known(base.nodes, now.nodes) && differ(base.nodes, now.nodes, least_share))
    return fmt::format("memory on node {}, now on {}", parts_text(base.nodes),
                       parts_text(now.nodes));
  if (known(base.pages, now.pages) && differ(base.pages, now.pages, least_share))
    return fmt::format("pages of {}, now of {}", parts_text(base.pages), parts_text(now.pages));
  if (known(base.cpu_nodes, now.cpu_nodes) && differ(base.cpu_nodes, now.cpu_nodes, 0))
    return fmt::format("CPUs of node {}, now of {}", counts_text(base.cpu_nodes),
                       counts_text(now.cpu_nodes));
  return "";
}

HostKind kind_of(const Machine& machine, int processes, int workers) {
  HostKind kind;
  kind.cpu_model = machine.cpu_model;
  kind.os = machine.os;
  kind.cpus = static_cast<int>(machine.cpus.size());
  kind.processes = processes;
  kind.workers = workers;
  std::uint64_t memory = 0;
  for (const NumaNode& node : machine.nodes) {
    if (!node.may_have_memory()) continue;
    ++kind.nodes;
    memory += node.memory_total.value_or(Bytes{}).value;
  }
  kind.memory = Bytes{(memory + gib / 2) / gib * gib};
  return kind;
}

bool alike(const HostKind& a, const HostKind& b) {
  const auto more = static_cast<double>(std::max(a.memory, b.memory).value);
  const auto less = static_cast<double>(std::min(a.memory, b.memory).value);
  HostKind other = b;
  other.memory = a.memory;
  return a == other && more - less <= 0.02 * more;
}

std::string hardware_text(const HostKind& kind) {
  std::string text = kind.cpu_model.empty() ? "unknown CPU" : kind.cpu_model;
  // Files of other programs know nothing of the machine: what is absent is not shown as 0.
  if (kind.cpus > 0) text += ", " + count_text(kind.cpus, "CPU");
  if (kind.nodes > 0) text += ", " + count_text(kind.nodes, "node");
  if (kind.memory.value > 0) text += ", " + to_text(kind.memory);
  if (!kind.os.empty()) text += ", " + kind.os;
  return text;
}

std::string to_text(const HostKind& kind) {
  std::string text = hardware_text(kind);
  if (kind.processes == 0) return text;
  text += ", " + count_text(kind.processes, "process", "processes");
  if (kind.workers % kind.processes == 0)
    return text + fmt::format(" x {}", count_text(kind.workers / kind.processes, "thread"));
  return text + fmt::format(", {}", count_text(kind.workers, "thread"));
}

std::string to_text(Normal::Verdict verdict) {
  return verdict == Normal::Verdict::low  ? "LOW"
         : verdict == Normal::Verdict::ok ? "ok"
                                          : "not judged";
}

std::string to_text(const Normal& one) {
  std::string text = one.first.empty() ? "" : one.first + ": ";
  text += fmt::format("{} {}", one.what, estimate_text(one.value, one.unit));
  if (one.count > 0) {
    const double scale = reading_of(one.high, one.unit).scale;
    std::string range = one.low < one.high ? three_digits(one.low * scale) + " to " : "";
    range += quantity_text(one.high, one.unit);
    text += fmt::format(": {:.2f} {} {} like it ({}; {})", one.value.value / one.median,
                        one.count == 1 ? "of" : "of the median of",
                        one.count == 1 ? "the one" : std::to_string(one.count), range, one.group);
  }
  if (!one.more.empty()) text += (one.count > 0 ? "; " : ": ") + one.more;
  if (one.verdict != Normal::Verdict::none || one.reason.empty()) return text;
  return text + fmt::format("; not judged: {}", one.reason);
}

}  // namespace numatlas
