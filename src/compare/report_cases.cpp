// The cases of one report of a benchmark. A key is made of what was asked for; everything measured
// goes into the figure.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/findings.h"
#include "analysis/judge.h"
#include "base/add_once.h"
#include "base/json.h"
#include "compare/stored.h"
#include "machine/identity.h"
#include "record/report_fields.h"

namespace numatlas {
namespace {

using nlohmann::json;

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
std::string disturbance_of(const ScenarioResult& point) {
  const Visits& visits = *point.visits;
  if (visits.disturbed == 0) return "";
  std::vector<std::string> parts = slowed_gpus(point);
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

class ReportReader {
 public:
  explicit ReportReader(const RunReport& report) : report_(report) {}

  StoredRun read() {
    static_cast<RunHead&>(run_) = report_;
    disturbed_ = disturbance_of(report_);
    guest_ = !is_null_engine(report_.engine) && std::ranges::any_of(report_.machines, is_virtual);
    for (const WorkerRow& worker : report_.workers)
      run_.worker_cpus.push_back(to_list(worker.cpus));
    const bool by_hosts = !report_.host_rows.empty();
    if (by_hosts)
      add_cases_of_hosts(report_, run_);
    else
      for (const Machine& machine : report_.machines) {
        run_.kinds.push_back(kind_of(machine, 0, 0));
        run_.identities.push_back(machine.identity);
      }
    for (const ScenarioResult& point : report_.scenarios) {
      if (by_hosts || is_finding(point)) continue;
      const std::size_t first = run_.cases.size();
      read_point(point);
      relate(point, first);
      for (std::string& slowed : slowed_gpus(point)) add_once(run_.slowed_gpus, std::move(slowed));
      // What is known of the visits says more than what is known of the run.
      if (!point.visits || (point.visits->others.empty() && point.visits->stolen.empty() &&
                            point.visits->throttled.empty()))
        continue;
      for (std::size_t i = first; i < run_.cases.size(); ++i)
        run_.cases[i].figure.disturbed = disturbance_of(point);
    }
    for (const PilotSeries& pilot : report_.pilots) read_pilot(pilot);
    number_doubles(run_.cases);
    return std::move(run_);
  }

 private:
  ReadFlow read_flow(const FlowResult& flow) {
    const WorkerRow& worker = report_.workers[static_cast<std::size_t>(flow.worker)];
    ReadFlow read;
    read.flow = &flow;
    read.who = who(worker);
    read.kernel = full_name(flow);
    read.place = place_of(flow);
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

  static std::string place_of(const FlowResult& flow) {
    const bool apart = !flow.source_memory.empty() && flow.source_memory != flow.memory;
    return "memory " + flow.memory + (apart ? " from " + flow.source_memory : "");
  }

  std::string who(const WorkerRow& worker) const {
    const std::string host = report_.hosts.size() > 1 ? fmt::format("host {} ", worker.host) : "";
    return fmt::format("{}rank {} thread {}", host, worker.rank, worker.thread);
  }

  void read_point(const ScenarioResult& item);
  void read_pilot(const PilotSeries& pilot);
  void relate(const ScenarioResult& item, std::size_t first);
  void add_flows(const StoredCase& point, const std::vector<ReadFlow>& flows,
                 const std::string& problem);
  void add_median(const StoredCase& point, const std::vector<const ReadFlow*>& flows,
                  const std::string& part, const std::string& problem);
  void add(StoredCase one, const std::string& part, const Figure& figure, StoredFigure value,
           CaseLevel level, const Observed& observed, const std::string& problem);

  const RunReport& report_;
  StoredRun run_;
  std::string disturbed_;  ///< by what, on any of the hosts
  bool guest_ = false;     ///< any of the hosts is a virtual machine
};

std::string wrong_text(const FlowResult& flow) {
  return flow.wrong ? "wrong data: " + full_text(*flow.wrong) : "";
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

/// Follows from another figure: shown where it is named only.
bool is_derived(const Figure& figure, bool first) {
  return !first && (!figure.summary || figure.key == "copy_time");
}

void ReportReader::add(StoredCase one, const std::string& part, const Figure& figure,
                       StoredFigure value, CaseLevel level, const Observed& observed,
                       const std::string& problem) {
  one.part = part;
  one.metric = figure.key;
  one.unit = figure.unit;
  one.level = level;
  one.figure = std::move(value);
  one.figure.observed = observed;
  one.figure.disturbed = disturbed_;
  one.figure.guest = guest_;
  if (!problem.empty()) one.figure.problem = problem;
  if (one.figure.problem.empty() && one.figure.estimate)
    one.figure.problem = width_problem(*one.figure.estimate);
  // Unit and level are no part of what was asked for, but a median over flows is not a flow.
  one.key += fmt::format("|{}|{}", part, one.metric);
  run_.cases.push_back(std::move(one));
}

/// The median of the flows' medians; its interval goes from the median of their low ends to that of
/// their high ends: the median grows with each of them.
void ReportReader::add_median(const StoredCase& point, const std::vector<const ReadFlow*>& flows,
                              const std::string& part, const std::string& problem) {
  StoredFigure median;
  std::vector<double> values, lows, highs;
  std::size_t visits = 0;  // the fewest
  for (const ReadFlow* flow : flows) {
    const StoredFigure figure =
        stored_figure(flow->flow->figures.front(), wrong_text(*flow->flow), "samples");
    if (!figure.problem.empty()) {
      median.problem = fmt::format("{}: {}", flow->who, figure.problem);
      if (!figure.estimate) continue;
    }
    const Estimate& its = *figure.estimate;
    values.push_back(its.value);
    if (its.method == Method::visits) visits = visits == 0 ? its.n : std::min(visits, its.n);
    if (!its.low) continue;
    lows.push_back(*its.low);
    highs.push_back(*its.high);
  }
  if (!values.empty()) median.estimate = median_of(values);
  if (!lows.empty() && lows.size() == values.size()) {
    median.estimate->low = median_of(lows);
    median.estimate->high = median_of(highs);
    median.estimate->n = visits > 0 ? visits : values.size();
    median.estimate->method = visits > 0 ? Method::visits : Method::derived;
  }
  add(point, part, flows.front()->flow->figures.front(), std::move(median), CaseLevel::point,
      together(flows), problem);
}

/// Flows of which a median says something: they were asked for the same, and their CPUs are of one
/// node.
struct AlikeFlows {
  std::string asked;
  std::string metric;
  int cpu_node = -1;
  std::vector<const ReadFlow*> flows;
};

/// In the order of the first of each.
std::vector<AlikeFlows> alike_flows(const std::vector<ReadFlow>& flows) {
  std::vector<AlikeFlows> groups;
  for (const ReadFlow& flow : flows) {
    if (flow.flow->figures.empty() || flow.flow->load) continue;
    const std::string& metric = flow.flow->figures.front().key;
    const auto same = std::ranges::find_if(groups, [&](const AlikeFlows& group) {
      return group.asked == flow.asked && group.metric == metric && group.cpu_node == flow.cpu_node;
    });
    if (same == groups.end())
      groups.push_back({flow.asked, metric, flow.cpu_node, {&flow}});
    else
      same->flows.push_back(&flow);
  }
  return groups;
}

/// What tells a group from the others of its point, in words.
std::string telling(const AlikeFlows& group, const std::vector<AlikeFlows>& all) {
  const ReadFlow& mine = *group.flows.front();
  std::string text;
  const auto differs = [&](auto member) {
    return std::ranges::any_of(
        all, [&](const AlikeFlows& other) { return other.flows.front()->*member != mine.*member; });
  };
  if (differs(&ReadFlow::kernel)) text += mine.kernel + ", ";
  if (differs(&ReadFlow::cpu_node)) text += fmt::format("CPUs of node {}, ", mine.cpu_node);
  if (differs(&ReadFlow::place)) text += mine.place + ", ";
  return text;
}

void ReportReader::add_flows(const StoredCase& point, const std::vector<ReadFlow>& flows,
                             const std::string& problem) {
  const std::vector<AlikeFlows> groups = alike_flows(flows);
  const auto is_alone = [&](const ReadFlow& flow) {
    return std::ranges::any_of(groups, [&](const AlikeFlows& group) {
      return group.flows == std::vector<const ReadFlow*>{&flow};
    });
  };
  for (const ReadFlow& flow : flows) {
    const std::vector<Figure>& figures = flow.flow->figures;
    if (figures.empty()) continue;
    StoredCase one = point;
    // Serial, each is measured as if it were the only one.
    if (report_.serial) one.key = fmt::format("{}|1 x {}", point.point_key, flow.asked);
    one.key += "|" + flow.asked;
    const std::string part = flow.who + (flow.flow->load ? " (load)" : "");
    for (std::size_t i = 0; i < figures.size(); ++i) {
      const bool derived = is_derived(figures[i], i == 0);
      const CaseLevel level = i == 0 && is_alone(flow) ? CaseLevel::lone_flow : CaseLevel::flow;
      add(one, part, figures[i], stored_figure(figures[i], wrong_text(*flow.flow), "samples"),
          derived ? CaseLevel::derived : level, flow.observed, problem);
    }
  }
  for (const AlikeFlows& group : groups) {
    if (group.flows.size() == 1) continue;
    StoredCase one = point;
    one.key += "|" + group.asked;
    one.is_median = true;
    add_median(one, group.flows,
               telling(group, groups) + fmt::format("median of {}", group.flows.size()), problem);
  }
}

void ReportReader::read_point(const ScenarioResult& item) {
  StoredCase point;
  point.point = item.name;
  json labels = json::object();
  for (const auto& [name, text] : item.labels) labels[name] = text;
  point.command = run_.command;
  point.kernel = item.kernel;
  const auto measured = std::ranges::count(item.flows, false, &FlowResult::load);
  point.memory =
      Bytes{item.size.value * static_cast<std::uint64_t>(std::max(measured, std::ptrdiff_t{1}))};
  point.point_key = json_line(json{run_.command, item.name, labels, item.size.value, item.pages,
                                   item.order, item.stride.value, item.kernel, item.stores});
  std::string problem;
  if (item.status != Status::ok)
    problem = name_of(item.status) + (item.reason.empty() ? "" : ": " + item.reason);
  point.key = point.point_key;
  std::vector<ReadFlow> flows;
  for (const FlowResult& flow : item.flows) flows.push_back(read_flow(flow));
  if (flows.empty()) {
    point.figure.problem = problem.empty() ? "has no flows" : problem;
    run_.cases.push_back(std::move(point));
    return;
  }
  std::map<std::string, int> doing;  // what its flows do, whoever does it
  std::vector<const ReadFlow*> all;
  for (const ReadFlow& flow : flows) {
    ++doing[flow.asked];
    all.push_back(&flow);
  }
  for (const auto& [what, count] : doing) point.key += fmt::format("|{} x {}", count, what);
  const bool has_rate = find_figure(item.figures, "copy_rate") != nullptr;
  for (const Figure& total : item.figures) {
    // The rate of a copy is half its sum: one of them is enough.
    const bool derived = has_rate ? total.key != "copy_rate" : !total.summary;
    add(point, "all flows", total, stored_figure(total, "", "samples"),
        derived ? CaseLevel::derived : CaseLevel::point, together(all), problem);
  }
  for (const HostTotals& host : item.host_totals) {
    StoredCase one = point;
    one.host = static_cast<std::size_t>(host.host);
    for (const Figure& figure : host.figures) {
      one.host_key = fmt::format("{}|{}", point.point_key, figure.key);
      add(one, "host " + report_.hosts[*one.host], figure, stored_figure(figure, "", "samples"),
          CaseLevel::host, {}, problem);
    }
  }
  add_flows(point, flows, problem);
}

/// The machine as a whole is a case of its own.
void ReportReader::read_pilot(const PilotSeries& pilot) {
  StoredCase one;
  one.command = run_.command;
  one.point = "the machine as a whole (pilot)";
  one.point_key = one.key = run_.command + asked_of(pilot);
  Figure figure;
  figure.key = pilot.key;
  figure.unit = pilot.unit;
  figure.estimate = pilot.estimate;
  add(std::move(one), pilot.kernel, figure, stored_figure(figure, "", "samples"),
      CaseLevel::machine, {}, "");
}

/// Gives the cases from `first` on, which are those of the point, their figures relative to the
/// pilots, as far as visits tell them apart: totals, and the median of the flows where all did
/// alike.
void ReportReader::relate(const ScenarioResult& item, std::size_t first) {
  if (!item.visits) return;
  for (const VisitValues& figure : item.visits->figures) {
    if (!figure.relative || !figure.relative->low || figure.relative->n < least_visits) continue;
    const PilotSeries* const pilot = pilot_for(item, figure.unit, report_.pilots);
    if (pilot == nullptr) continue;
    std::vector<StoredCase*> found;
    for (std::size_t i = first; i < run_.cases.size(); ++i) {
      StoredCase& one = run_.cases[i];
      if (one.metric == figure.key &&
          (one.level == CaseLevel::point || one.level == CaseLevel::lone_flow))
        found.push_back(&one);
    }
    if (found.size() != 1) continue;
    found.front()->figure.relative = figure.relative;
    found.front()->figure.pilot = asked_of(*pilot);
  }
}

}  // namespace

StoredFigure stored_figure(const Figure& figure, const std::string& wrong, const char* counts) {
  StoredFigure result{figure.estimate, wrong, {}};
  if (!wrong.empty() || (figure.estimate && figure.estimate->low)) return result;
  result.problem = !figure.estimate ? "has no value"
                   : figure.summary ? fmt::format("fewer than 6 {} ({})", counts, figure.summary->n)
                                    : "its interval is not known";
  return result;
}

StoredRun stored_run(const RunReport& report) { return ReportReader(report).read(); }

}  // namespace numatlas
