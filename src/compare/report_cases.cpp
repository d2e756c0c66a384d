// The cases of one report of a benchmark. A key is made of what was asked for; everything measured
// goes into the figure.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compare/stored.h"
#include "machine/snapshot_reader.h"
#include "machine/source.h"
#include "report/sum_interval.h"

namespace numatlas {
namespace {

using nlohmann::json;
using Problem = std::optional<Error>;

constexpr int most_count = 1 << 30;  // of ranks, threads, GPUs: above any machine

/// A metric and how sure it is.
struct ReadMetric {
  Metric metric;
  Figure figure;
};

struct ReadWorker {
  int rank = 0, thread = 0, host = 0;
  std::string cpus;
  int cpu_node = -1;
};

/// A flow as it was asked for, and what it gave.
struct ReadFlow {
  std::string asked;  ///< JSON of what was asked for, but for who does it
  std::string who;    ///< "rank 0 thread 1"
  std::string kernel;
  std::string place;  ///< whose memory, in words: "memory bind:0"
  int cpu_node = -1;
  bool measured = true;
  std::vector<ReadMetric> metrics;
  Observed observed;
};

json field_or_null(const json& object, const char* name) {
  return object.contains(name) ? object[name] : json(nullptr);
}

std::string text_or_none(const json& object, const char* name) {
  const json value = field_or_null(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

std::optional<Summary> read_summary(FieldReader& fields, Problem& problem) {
  const json* found = fields.field("summary", true);
  if (found == nullptr) return std::nullopt;
  FieldReader its(*found, fields.path_of("summary"), problem);
  Summary summary;
  std::uint64_t n = 0;
  std::optional<double> median;
  its.count("n", n);
  its.real("median", median);
  its.real("ci95_low", summary.ci_low);
  its.real("ci95_high", summary.ci_high);
  its.real("stddev", summary.stddev);
  summary.n = n;
  summary.median = median.value_or(0);
  return summary;
}

Metric read_metric(const json& item, const std::string& path, Problem& problem) {
  Metric metric;
  FieldReader fields(item, path, problem);
  fields.text("name", metric.name);
  fields.text("unit", metric.unit);
  fields.real("value", metric.value);
  metric.summary = read_summary(fields, problem);
  return metric;
}

/// Metrics that are another one times, or divided into, a constant of the point: what is known of
/// that one's interval is known of them.
const std::map<std::string, std::pair<std::string, bool>>& derived_metrics() {
  static const std::map<std::string, std::pair<std::string, bool>> derived{
      {"traffic", {"bandwidth", false}},       {"access_time", {"bandwidth", true}},
      {"pass_time", {"bandwidth", true}},      {"traffic_sum", {"bandwidth_sum", false}},
      {"link_part", {"bandwidth_sum", false}}, {"event_bandwidth", {"copy_time", true}},
      {"copy_rate", {"bandwidth_sum", false}}};
  return derived;
}

std::optional<Interval> derived_interval(const Metric& metric, const std::vector<ReadMetric>& all) {
  const auto rule = derived_metrics().find(metric.name);
  if (rule == derived_metrics().end() || !metric.value) return std::nullopt;
  for (const ReadMetric& one : all) {
    const auto& from = one.figure;
    if (one.metric.name != rule->second.first || !from.interval || !(from.value.value_or(0) > 0))
      continue;
    const double low = from.interval->low / *from.value, high = from.interval->high / *from.value;
    if (!rule->second.second) return Interval{*metric.value * low, *metric.value * high};
    if (low > 0) return Interval{*metric.value / high, *metric.value / low};
  }
  return std::nullopt;
}

ReadMetric with_figure(Metric metric, const std::optional<double>& half_width,
                       const std::vector<ReadMetric>& before) {
  Figure figure;
  figure.value = metric.value;
  if (metric.value && metric.summary)
    figure.interval = interval_of(*metric.value, *metric.summary, half_width);
  if (!figure.interval) figure.interval = derived_interval(metric, before);
  if (!metric.value)
    figure.problem = "has no value";
  else if (!figure.interval && metric.summary)
    figure.problem = fmt::format("fewer than 6 samples ({})", metric.summary->n);
  else if (!figure.interval)
    figure.problem = "its interval is not known";
  return {std::move(metric), std::move(figure)};
}

void add_residency(const json& value, const std::string& from, Observed& observed) {
  if (!value.is_object()) return;
  const json nodes = field_or_null(value, "pages_by_node");
  double all = 0;
  for (const json& pages : nodes) all += pages.is_number() ? pages.get<double>() : 0;
  if (!nodes.is_object() || !(all > 0)) return;
  for (const auto& [node, pages] : nodes.items())
    if (pages.is_number()) observed.nodes[from + node] = pages.get<double>() / all;
  const json size = field_or_null(value, "page_size"), thp = field_or_null(value, "thp_fraction");
  if (!size.is_number_unsigned()) return;
  const double huge = thp.is_number() ? thp.get<double>() : 0;
  observed.pages[from + to_text(Bytes{size.get<std::uint64_t>()})] = 1 - huge;
  if (huge > 0) observed.pages[from + "THP"] = huge;
}

/// Of a GPU's flow what was asked of it; its name is observed.
json read_gpu(const json& flow, Observed& observed) {
  const json gpu = field_or_null(flow, "gpu");
  if (!gpu.is_object()) return nullptr;
  if (const std::string name = text_or_none(gpu, "name"); !name.empty()) observed.gpus[name] = 1;
  json asked = json::array();
  for (const char* name : {"gpu", "direction", "pinning", "caches"})
    asked.push_back(field_or_null(gpu, name));
  return asked;
}

std::string kernel_name(const json& flow) {
  const std::string mix = text_or_none(flow, "mix");
  return text_or_none(flow, "kernel") + (mix.empty() ? "" : " " + mix);
}

class ReportReader {
 public:
  ReportReader(const json& report, std::string path) : report_(report), path_(std::move(path)) {}

  Expected<StoredRun> read() {
    FieldReader fields(report_, path_, problem_);
    read_head(fields);
    fields.array("workers", [&](const json& item, const std::string& path) {
      workers_.push_back(read_worker(item, path));
    });
    for (const ReadWorker& worker : workers_) run_.worker_cpus.push_back(worker.cpus);
    fields.array("scenarios",
                 [&](const json& item, const std::string& path) { read_point(item, path); });
    if (problem_)
      return fail(ErrorKind::usage, problem_->message,
                  "is it a file that 'numatlas --json' wrote?");
    number_doubles(run_.cases);
    return std::move(run_);
  }

 private:
  void read_head(FieldReader& fields) {
    fields.text("command", run_.command);
    fields.text("started", run_.started);
    run_.version = text_or_none(report_, "version");
    run_.engine = text_or_none(report_, "engine");
    run_.comm = text_or_none(report_, "comm");
    run_.isa = text_or_none(report_, "isa");
    run_.complete = field_or_null(report_, "complete") != false;
    run_.incomplete_reason = text_or_none(report_, "incomplete_reason");
    fields.array("arguments", [&](const json& item, const std::string&) {
      if (!item.is_string()) return fields.reject("arguments", "must hold strings");
      run_.arguments.push_back(item.get<std::string>());
    });
    fields.array("hosts", [&](const json& item, const std::string&) {
      if (!item.is_string()) return fields.reject("hosts", "must hold strings");
      run_.hosts.push_back(item.get<std::string>());
    });
    if (!field_or_null(report_, "machines").is_array()) return;
    fields.array("machines", [&](const json& item, const std::string& path) {
      auto machine = machine_from_json(item);
      if (machine) return run_.machines.push_back(*std::move(machine));
      if (!problem_) problem_ = Error{ErrorKind::usage, path + ": " + machine.error().message, ""};
    });
  }

  ReadWorker read_worker(const json& item, const std::string& path) {
    ReadWorker worker;
    FieldReader fields(item, path, problem_);
    fields.whole("rank", worker.rank, 0, most_count);
    fields.whole("thread", worker.thread, 0, most_count);
    fields.whole("host", worker.host, 0, most_count);
    fields.text("cpus", worker.cpus);
    fields.whole_or_none("cpu_node", worker.cpu_node, 0, most_count);
    return worker;
  }

  ReadFlow read_flow(const json& item, const std::string& path) {
    ReadFlow flow;
    FieldReader fields(item, path, problem_);
    int index = 0;
    fields.whole("worker", index, 0, static_cast<int>(workers_.size()) - 1);
    std::string kernel, role;
    fields.text("kernel", kernel);
    fields.text("role", role);
    std::optional<double> half_width;
    fields.real("half_width", half_width);
    fields.array("metrics", [&](const json& metric, const std::string& where) {
      flow.metrics.push_back(
          with_figure(read_metric(metric, where, problem_), half_width, flow.metrics));
    });
    if (problem_) return flow;
    const ReadWorker& worker = workers_[static_cast<std::size_t>(index)];
    flow.who = who(worker);
    flow.kernel = kernel_name(item);
    flow.place = place_of(item);
    flow.cpu_node = worker.cpu_node;
    flow.measured = role != "load";
    if (worker.cpu_node >= 0) flow.observed.cpu_nodes[std::to_string(worker.cpu_node)] = 1;
    add_residency(field_or_null(item, "residency"), "", flow.observed);
    add_residency(field_or_null(item, "source_residency"), "from ", flow.observed);
    const std::string wrong = text_or_none(item, "wrong");
    for (ReadMetric& metric : flow.metrics) {
      if (!wrong.empty()) metric.figure.problem = "wrong data: " + wrong;
    }
    json asked{flow.kernel, role};
    for (const char* name :
         {"stores", "order", "stride", "size", "memory", "source_memory", "first_touch"})
      asked.push_back(field_or_null(item, name));
    // Of other commands it follows from what was measured: `loaded` takes parts of its peak.
    if (run_.command == "run") asked.push_back(field_or_null(item, "rate"));
    asked.push_back(read_gpu(item, flow.observed));
    flow.asked = asked.dump(-1, ' ', false, json::error_handler_t::replace);
    return flow;
  }

  static std::string place_of(const json& item) {
    const std::string memory = text_or_none(item, "memory");
    const std::string source = text_or_none(item, "source_memory");
    return "memory " + memory + (source.empty() || source == memory ? "" : " from " + source);
  }

  std::string who(const ReadWorker& worker) const {
    const std::string host = run_.hosts.size() > 1 ? fmt::format("host {} ", worker.host) : "";
    return fmt::format("{}rank {} thread {}", host, worker.rank, worker.thread);
  }

  void read_point(const json& item, const std::string& path);
  void add_flows(const StoredCase& point, const std::vector<ReadFlow>& flows,
                 const std::string& problem);
  void add_median(const StoredCase& point, const std::vector<const ReadFlow*>& flows,
                  const std::string& part, const std::string& problem);
  void add(StoredCase one, const std::string& part, const ReadMetric& metric, CaseLevel level,
           const Observed& observed, const std::string& problem);

  const json& report_;
  std::string path_;
  Problem problem_;
  StoredRun run_;
  std::vector<ReadWorker> workers_;
};

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

/// Follows from another metric: shown where it is named only.
bool is_derived(const ReadMetric& metric, bool first) {
  return !first && (!metric.metric.summary || metric.metric.name == "copy_time");
}

void ReportReader::add(StoredCase one, const std::string& part, const ReadMetric& metric,
                       CaseLevel level, const Observed& observed, const std::string& problem) {
  one.part = part;
  one.metric = metric.metric.name;
  one.unit = metric.metric.unit;
  one.level = level;
  one.figure = metric.figure;
  one.figure.observed = observed;
  if (!problem.empty()) one.figure.problem = problem;
  // Unit and level are no part of what was asked for, but a median over flows is not a flow.
  one.key += fmt::format("|{}|{}", part, one.metric);
  run_.cases.push_back(std::move(one));
}

double median_of(std::vector<double> values) { return summarize(values)->median; }

/// The median of the flows' medians; its interval goes from the median of their low ends to that of
/// their high ends: the median grows with each of them.
void ReportReader::add_median(const StoredCase& point, const std::vector<const ReadFlow*>& flows,
                              const std::string& part, const std::string& problem) {
  const ReadFlow& first = *flows.front();
  ReadMetric median{first.metrics.front().metric, {}};
  std::vector<double> values, lows, highs;
  for (const ReadFlow* flow : flows) {
    const Figure& figure = flow->metrics.front().figure;
    if (!figure.problem.empty()) {
      median.figure.problem = fmt::format("{}: {}", flow->who, figure.problem);
      if (!figure.value) continue;
    }
    values.push_back(*figure.value);
    if (!figure.interval) continue;
    lows.push_back(figure.interval->low);
    highs.push_back(figure.interval->high);
  }
  if (!values.empty()) median.figure.value = median_of(values);
  if (!lows.empty() && lows.size() == values.size())
    median.figure.interval = Interval{median_of(lows), median_of(highs)};
  add(point, part, median, CaseLevel::point, together(flows), problem);
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
    if (flow.metrics.empty() || !flow.measured) continue;
    const std::string& metric = flow.metrics.front().metric.name;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const AlikeFlows& group) {
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
    return std::any_of(all.begin(), all.end(), [&](const AlikeFlows& other) {
      return other.flows.front()->*member != mine.*member;
    });
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
    return std::any_of(groups.begin(), groups.end(), [&](const AlikeFlows& group) {
      return group.flows == std::vector<const ReadFlow*>{&flow};
    });
  };
  for (const ReadFlow& flow : flows) {
    if (flow.metrics.empty()) continue;
    StoredCase one = point;
    one.key += "|" + flow.asked;
    const std::string part = flow.who + (flow.measured ? "" : " (load)");
    for (std::size_t i = 0; i < flow.metrics.size(); ++i) {
      const bool derived = is_derived(flow.metrics[i], i == 0);
      const CaseLevel level = i == 0 && is_alone(flow) ? CaseLevel::lone_flow : CaseLevel::flow;
      add(one, part, flow.metrics[i], derived ? CaseLevel::derived : level, flow.observed, problem);
    }
  }
  for (const AlikeFlows& group : groups) {
    if (group.flows.size() == 1) continue;
    StoredCase one = point;
    one.key += "|" + group.asked;
    add_median(one, group.flows,
               telling(group, groups) + fmt::format("median of {}", group.flows.size()), problem);
  }
}

void ReportReader::read_point(const json& item, const std::string& path) {
  StoredCase point;
  FieldReader fields(item, path, problem_);
  std::string status;
  fields.text("name", point.point);
  fields.text("status", status);
  std::vector<ReadFlow> flows;
  fields.array("flows", [&](const json& flow, const std::string& where) {
    flows.push_back(read_flow(flow, where));
  });
  std::vector<ReadMetric> totals;
  fields.array("totals", [&](const json& total, const std::string& where) {
    Metric metric = read_metric(total, where, problem_);
    const auto width = half_width_of_sum(metric);
    totals.push_back(with_figure(std::move(metric), width, totals));
  });
  if (problem_) return;
  json asked{run_.command};
  for (const char* name :
       {"name", "labels", "size", "pages", "order", "stride", "kernel", "stores"})
    asked.push_back(field_or_null(item, name));
  point.command = run_.command;
  point.point_key = asked.dump(-1, ' ', false, json::error_handler_t::replace);
  std::string problem;
  if (status != "ok")
    problem =
        status + (text_or_none(item, "reason").empty() ? "" : ": " + text_or_none(item, "reason"));
  point.key = point.point_key;
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
  const bool has_rate = std::any_of(totals.begin(), totals.end(), [](const ReadMetric& total) {
    return total.metric.name == "copy_rate";
  });
  for (std::size_t i = 0; i < totals.size(); ++i) {
    // The rate of a copy is half its sum: one of them is enough.
    const bool derived =
        !totals[i].metric.summary || (has_rate && totals[i].metric.name != "copy_rate");
    add(point, "all flows", totals[i], derived ? CaseLevel::derived : CaseLevel::point,
        together(all), problem);
  }
  add_flows(point, flows, problem);
}

}  // namespace

Expected<StoredRun> run_from_report(const json& report, const std::string& path) {
  return ReportReader(report, path).read();
}

}  // namespace numatlas
