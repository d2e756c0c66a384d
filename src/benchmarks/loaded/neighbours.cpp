#include "benchmarks/loaded/neighbours.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/product.h"
#include "base/text.h"
#include "base/units.h"
#include "benchmarks/common.h"
#include "benchmarks/loaded/curve.h"
#include "memory/source.h"
#include "record/labels.h"
#include "run/declare.h"
#include "run/device_flows.h"
#include "run/executor.h"
#include "run/flows.h"
#include "run/metrics.h"
#include "run/room.h"

namespace numatlas::loaded_neighbours {
namespace {

// Of what the load reaches by itself; beside these all it can.
constexpr std::array percents{50, 80};
constexpr const char* full_load = "100%";
/// How many times as slow as without a load: a figure of the cases, and a fact.
constexpr const char* slowdown_key = "neighbour_slowdown";
constexpr const char *of_latency = "latency", *of_bandwidth = "bandwidth";
const std::vector<std::string> own_labels{"measured", "victim",      "cpu_node",  "memory_node",
                                          "load",     "load_memory", "load_cpus", "load_kernel"};

/// What keeps a memory busy, and from where.
struct Load {
  NodeId memory;
  std::vector<int> workers;
  std::string by;  ///< its CPUs, or its GPU
  std::string problem;
};

struct Setting {
  std::string measured;  ///< of the victim; "": the load alone
  NodeId cpus, memory;
  std::vector<int> victims;
  std::optional<Load> load = {};
  std::optional<Choice> kernel = {};
  std::optional<double> rate = {};  ///< of all loaders together, in B/s; absent: all they can
};

bool is_given(const Options& own, const PlanInput& input, int worker) {
  return own.cpus && own.cpus->contains(cpu_of(input, worker));
}

/// One worker of each core of the first half: the same whatever loads, so that their figures may be
/// compared.
std::vector<int> victims_of(const Options& own, const PlanInput& input, NodeId node) {
  std::set<int> cores;
  std::vector<int> workers;
  for (const int worker : workers_on(input.layout, {node}))
    if (!is_given(own, input, worker) && cores.insert(core_of(input, worker)).second)
      workers.push_back(worker);
  if (!own.cpus) workers.resize((workers.size() + 1) / 2);
  return workers;
}

Load load_of(const Options& own, const PlanInput& input, const std::vector<int>& victims,
             NodeId memory) {
  const Machine& machine = input.machines.front();
  Load load{memory, {}, "", memory_node_problem(machine, memory)};
  if (own.gpu) {
    load.by = fmt::format("gpu:{}", *own.gpu);
    return load;
  }
  std::set<int> taken;
  for (const int worker : victims) taken.insert(core_of(input, worker));
  CpuSet cpus;
  const NodeId home = nearest_to(machine, worker_nodes(input), memory);
  for (const int worker : own.cpus ? all_workers(input.layout) : workers_on(input.layout, {home})) {
    if ((own.cpus && !is_given(own, input, worker)) || taken.contains(core_of(input, worker)))
      continue;
    load.workers.push_back(worker);
    cpus.insert(cpu_of(input, worker));
  }
  load.by = to_list(cpus);
  if (load.problem.empty() && load.workers.empty())
    load.problem = fmt::format("node {}: no core is left for the load", home.value);
  return load;
}

AxisValue value_of(const Setting& setting, const std::string& word) {
  const bool alone = setting.measured.empty();
  const auto text = [](NodeId node) { return std::to_string(node.value); };
  const std::string cpus = alone ? "" : text(setting.cpus),
                    memory = alone ? "" : text(setting.memory);
  const std::string by = setting.load ? setting.load->by : "";
  return {{setting.measured, alone ? "" : cpus + ":" + memory, cpus, memory, word,
           setting.load ? text(setting.load->memory) : "", by,
           setting.kernel ? setting.kernel->short_name() : ""},
          setting,
          false,
          {{"who", setting.kernel ? "CPUs " + by : by}}};
}

Expected<NodeSet> loaded_nodes(const Options& own, const PlanInput& input) {
  if (own.memory == "each") return ordinary_memory_nodes(input);
  NodeSet nodes;
  for (const NodeId node : TRY(chosen_nodes(input, "--load-memory", own.memory)))
    nodes.insert(node);
  return nodes;
}

using Pairs = Hook<Expected<NodePairs>(const PlanInput&)>;

/// Of each pair what is measured, without a load.
Expected<std::vector<Setting>> victims(const Options& own, const Pairs& pairs,
                                       const PlanInput& input) {
  std::vector<Setting> all;
  for (const auto& [cpus, memory] : TRY(pairs(input)))
    for (const char* const measured : {of_latency, of_bandwidth})
      all.push_back({measured, cpus, memory, victims_of(own, input, cpus)});
  return all;
}

/// Those that were asked for; else the first one, as there are many cases.
std::vector<Choice> kernels_of(const Options& own, const GivenAxes& given) {
  if (own.gpu) return {};
  return given.kernel_option.empty() ? std::vector{given.choices.front()} : given.choices;
}

/// Calls `add(setting)` for each of these with each load.
template <class Add>
void for_each_load(const Options& own, const GivenAxes& given, const PlanInput& input,
                   const Setting& victim, const NodeSet& nodes, const Add& add) {
  for (const NodeId node : nodes) {
    Setting setting = victim;
    setting.load = load_of(own, input, victim.victims, node);
    if (own.gpu) add(setting);
    for (const Choice& kernel : kernels_of(own, given)) {
      setting.kernel = kernel;
      add(setting);
    }
  }
}

/// Each load by itself, and each victim idle and under all of it; then under parts of it, which
/// follow from what the load reached by itself.
Expected<std::vector<AxisValue>> settings(const Options& own, const Pairs& pairs,
                                          const GivenAxes& given, const PlanInput& input) {
  std::vector<AxisValue> alone, all, parts;
  std::set<std::vector<std::string>> known;
  const NodeSet nodes = TRY(loaded_nodes(own, input));
  for (const Setting& victim : TRY(victims(own, pairs, input))) {
    all.push_back(value_of(victim, idle_load));
    for_each_load(own, given, input, victim, nodes, [&](Setting setting) {
      all.push_back(value_of(setting, full_load));
      for (const int percent : percents) {
        if (own.gpu) break;
        parts.push_back(value_of(setting, part_load(percent)));
        parts.back().later = true;
      }
      setting.measured = "";
      AxisValue load = value_of(setting, peak_load);
      if (known.insert(load.labels).second) alone.push_back(std::move(load));
    });
  }
  std::ranges::move(all, std::back_inserter(alone));
  std::ranges::move(parts, std::back_inserter(alone));
  return alone;
}

/// Parts of what each load reached by itself, once that is known.
std::vector<LaterCase> parts_of_peaks(const Options& own, const Pairs& pairs,
                                      const GivenAxes& given, const PlanInput& input,
                                      const RunReport& report) {
  std::vector<LaterCase> more;
  const auto all = victims(own, pairs, input);
  const auto nodes = loaded_nodes(own, input);
  const std::string first = part_load(percents.front());
  const bool refined = std::ranges::any_of(
      report.cases, [&](const Case& one) { return label_of(one, "load") == first; });
  if (!all || !nodes || refined || own.gpu) return more;
  const auto find = [&](PageKind pages, const Setting& setting, const char* load) {
    return case_with(report, pages, own_labels, value_of(setting, load).labels);
  };
  for_each_of(
      [&](PageKind pages, const Setting& victim) {
        for_each_load(own, given, input, victim, *nodes, [&](Setting setting) {
          Setting alone = setting;
          alone.measured = "";
          const Case* const load = find(pages, alone, peak_load);
          const auto peak = load == nullptr ? std::nullopt : estimate_of(*load, "bandwidth_sum");
          if (!peak || find(pages, setting, full_load) == nullptr) return;
          for (const int percent : percents) {
            setting.rate = peak->value * percent / 100;
            more.push_back({pages, {value_of(setting, part_load(percent))}});
          }
        });
      },
      input.pages, *all);
  return more;
}

/// On a small node half of the room is the victims', and half the loaders'.
constexpr double half_room = default_room / 2;

Bytes past_caches_on(const PlanInput& input, const std::vector<int>& workers, NodeId memory,
                     Bytes least, PageKind pages) {
  if (workers.empty()) return least;
  return size_with_room(input, size_past_caches(input, workers, least, {memory}),
                        flows_on_node(workers, memory, pages), half_room);
}

/// Of each victim, alike with and without a load.
Bytes size_of_victims(const GivenAxes& given, const PlanInput& input, const Setting& its,
                      PageKind pages) {
  if (its.measured == of_latency && !its.victims.empty())
    return past_caches_on(input, {its.victims.front()}, its.memory, least_chase, pages);
  return given.size().value_or(
      past_caches_on(input, its.victims, its.memory, least_past_caches, pages));
}

/// Of each loader; without a load, of each victim.
Bytes size_of(const GivenAxes& given, const PlanInput& input, const AxisSetting& now) {
  const auto& its = now.of<Setting>();
  if (!its.load || its.load->workers.empty()) return size_of_victims(given, input, its, now.pages);
  return past_caches_on(input, its.load->workers, its.load->memory, least_past_caches, now.pages);
}

/// Copies of a GPU from this memory and back to it.
void add_copies(const PlanInput& input, int index, const Setting& its, Point& point) {
  constexpr Bytes size{128 * mib};
  const Machine& machine = input.machines.front();
  const Gpu* const gpu = find_gpu(machine, index);
  if (gpu == nullptr) {
    point.skip = no_such_gpu(index, usable_gpus(input.machines));
    return;
  }
  std::set<int> taken(its.victims.begin(), its.victims.end());
  const MemoryPlacement host = bound_to(its.load->memory);
  for (const bool to_gpu : {true, false}) {
    const auto worker = caller_for(input, 0, *gpu, host, Caller::near, taken);
    if (!worker) {
      point.skip = Error{ErrorKind::unavailable, "no CPU is left to submit the copies",
                         "choose more CPUs (--cpus)"};
      return;
    }
    taken.insert(*worker);
    DeviceCopyParameters work;
    work.gpu = index;
    work.bytes = size;
    work.copies = usual_copies(size, work.depth);
    Flow flow = plain_flow(input, {work}, *worker, size, PageKind::base);
    flow.source = flow.region;
    flow.region.placement = to_gpu ? gpu_memory(index) : host;
    flow.source->placement = to_gpu ? host : gpu_memory(index);
    point.flows.push_back(std::move(flow));
  }
}

Expected<Point> point(const Options& own, const GivenAxes& given, const PlanInput& input,
                      const AxisSetting& now) {
  const auto& its = now.of<Setting>();
  const bool alone = its.measured.empty();
  const Bytes size = size_of_victims(given, input, its, now.pages);
  Point point{.reference = alone || !its.load};
  if (!its.load) point.size = size;
  if (its.measured == of_latency && !its.victims.empty())
    point.flows.push_back(chase_flow(input, its.victims.front(), size, now.pages));
  if (its.measured == of_bandwidth)
    for (const int worker : its.victims)
      point.flows.push_back(access_flow(input, "read", worker, size, now.pages));
  for (Flow& flow : point.flows) flow.region.placement = bound_to(its.memory);
  if (its.victims.empty() && !alone)
    point.skip = Error{
        ErrorKind::unavailable,
        fmt::format("node {}: --load-cpus leaves no core to measure with", its.cpus.value), ""};
  if (!its.load) return point;
  const std::size_t first = point.flows.size();
  if (own.gpu) add_copies(input, *own.gpu, its, point);
  for (const int worker : its.load->workers) {
    Flow& flow =
        point.flows.emplace_back(stream_flow(input, *its.kernel, worker, now.size, now.pages));
    if (its.rate) flow.rate = *its.rate / static_cast<double>(its.load->workers.size());
    flow.region.placement = bound_to(its.load->memory);
  }
  for (std::size_t i = first; i < point.flows.size() && !alone; ++i)
    point.flows[i].role = Role::load;
  if (!its.load->problem.empty())
    point.skip =
        Error{ErrorKind::unavailable, its.load->problem, "name more CPUs (--cpus, --load-cpus)"};
  return point;
}

// What follows ------------------------------------------------------------------------------------

/// "victims_sum" of what is measured, "load_sum" of what loads, "rate_asked" of that.
std::vector<Figure> totals(const Case& visit, const RunReport& report) {
  std::vector<Figure> figures;
  const auto add = [&](const char* key, bool of_load) {
    for (Figure& sum : sums_of(visit, report, of_load)) {
      if (sum.key != "bandwidth_sum") continue;
      sum.key = key;
      figures.push_back(std::move(sum));
    }
  };
  if (label_of(visit, "measured") == of_bandwidth) add("victims_sum", false);
  add("load_sum", true);
  std::ranges::move(rate_asked(visit), std::back_inserter(figures));
  return figures;
}

/// "node 2 (CXL)": what is loaded.
std::string load_words(const RunReport& report, const Case& one) {
  const Machine* const machine = report.machines.empty() ? nullptr : &report.machines.front();
  return "node " + node_with_kind(machine, label_of(one, "load_memory"));
}

/// How many times as slow as without a load; of the largest of `choices` the interval holds as
/// well.
std::optional<Estimate> slowdown_of(const RunReport& report, const Case& one, std::size_t choices) {
  const std::string measured = label_of(one, "measured");
  const auto idle = std::ranges::find_if(report.cases, [&](const Case& other) {
    return label_of(other, "load") == idle_load && other.pages == one.pages &&
           label_of(other, "measured") == measured &&
           label_of(other, "victim") == label_of(one, "victim");
  });
  if (measured.empty() || idle == report.cases.end() || &*idle == &one) return std::nullopt;
  const bool of_time = measured == of_latency;
  const char* const key = of_time ? "latency" : "victims_sum";
  const Case &more = of_time ? one : *idle, &less = of_time ? *idle : one;
  const auto high = estimate_of(more, key), low = estimate_of(less, key);
  if (!high || !low) return std::nullopt;
  const auto pairs = ratio_of_pairs(visits_of(more, key), visits_of(less, key), choices);
  return pairs ? *pairs : ratio_of(*high, *low);
}

using Slowed = std::pair<const Case*, Estimate>;

/// What full loads on another memory slow, the most that is sure first; of one memory the loads on
/// itself. The intervals of all hold together.
std::vector<Slowed> by_slowdown(const RunReport& report) {
  std::vector<const Case*> own, others;
  for (const Case& one : report.cases) {
    if (label_of(one, "load") != full_load || !estimate_of(one, slowdown_key)) continue;
    const bool same = label_of(one, "load_memory") == label_of(one, "memory_node");
    (same ? own : others).push_back(&one);
  }
  if (others.empty()) others = own;
  std::vector<Slowed> slowed;
  for (const Case* const one : others)
    slowed.emplace_back(one, *slowdown_of(report, *one, others.size()));
  std::ranges::stable_sort(slowed, std::greater(),
                           [](const Slowed& its) { return its.second.low.value_or(1); });
  return slowed;
}

std::string victim_words(const Case& one) {
  return fmt::format("{} from node {} to node {}",
                     label_of(one, "measured") == of_latency ? "loads" : "reads",
                     label_of(one, "cpu_node"), label_of(one, "memory_node"));
}

void conclude(RunReport& report) {
  order_by_load(report, {"measured", "victim", "load_memory", "load_kernel"});
  for (Case& one : report.cases)
    if (const auto slowdown = slowdown_of(report, one, 1))
      one.figures.push_back({slowdown_key, "cost", *slowdown, std::nullopt});
  const auto slowed = by_slowdown(report);
  if (slowed.empty()) return;
  const auto& [first, most] = slowed.front();
  double others = 0;
  for (const auto& [one, its] : slowed)
    if (one != first) others = std::max(others, its.high.value_or(its.value));
  if (most.low && *most.low > 1) {
    report.answer = fmt::format("Load on {} slows {}: {} as slow", load_words(report, *first),
                                victim_words(*first), estimate_text(most, "cost"));
    if (others > 0)
      report.answer +=
          fmt::format("; other neighbours at most {}", estimate_text(Estimate(others), "cost"));
    return;
  }
  report.answer =
      "No load on a memory surely slows another one: at most " +
      estimate_text(Estimate(std::max(others, most.high.value_or(most.value))), "cost") +
      " as slow";
}

std::vector<Fact> facts(const RunReport& report) {
  std::vector<Fact> all;
  for (const auto& [one, its] : by_slowdown(report)) {
    Fact fact{slowdown_key,
              {},
              fmt::format("{} under load on {}", victim_words(*one), load_words(report, *one)),
              "cost",
              *estimate_of(*one, slowdown_key)};
    for (const char* const label :
         {"measured", "cpu_node", "memory_node", "load_memory", "load_kernel"})
      if (const std::string text = label_of(*one, label); !text.empty())
        fact.where.emplace_back(label, text);
    fact.where.emplace_back("pages", one->pages);
    if (all.empty()) {
      fact.heading = "Neighbours";
      fact.line = fmt::format("{}: {{}} as slow under load on {}", victim_words(*one),
                              load_words(report, *one));
    }
    all.push_back(std::move(fact));
  }
  return all;
}

std::vector<Table> tables() {
  const Table matrix{
      .title =
          "Slowdown of {measured} under full load of a memory ([load: {load_kernel}, ]{pages} "
          "pages)",
      .kind = ViewKind::matrix,
      .apart = {"pages", "measured", "load_kernel", "load"},
      .only = {"measured", "load_memory", std::string("load=") + full_load},
      .rows = "victim",
      .columns = "load_memory",
      .cells = {figure_column("", slowdown_key, 1, Part::with_interval)},
      .notes = {"rows: node of the CPUs and node of the memory that are measured; columns: "
                "node whose memory is loaded meanwhile; 1.40: 1.4 times as slow as without "
                "a load"}};
  const Table all{
      .title = "Loads and what they slow ({pages} pages)",
      .apart = {"pages"},
      .cells = {label_column("measured", "measured"), label_column("CPUs:memory", "victim"),
                label_column("load on node", "load_memory"), label_column("from", "load_cpus"),
                label_column("kernel", "load_kernel"), label_column("load", "load"),
                figure_column("asked", "rate_asked", in_gb_per_s),
                figure_column("reached", "load_sum", in_gb_per_s),
                figure_column("latency", "latency", in_ns, Part::value, 1),
                figure_column("bandwidth", "victims_sum", in_gb_per_s),
                figure_column("slowdown", slowdown_key, 1, Part::with_interval)},
      .notes = {"latency in ns, rates in GB/s; peak: the load by itself; 100%: all that the load "
                "can reach"}};
  return {matrix, all};
}

}  // namespace

void add_options(Options& own, CLI::App& app) {
  add_value(app, "--load-memory", own.memory, "NODES",
            "measure under load on these memories, or each\n"
            "Half of a node's cores measure; its other half, or the nearest node with CPUs, loads: "
            "not at all, and 50, 80 and 100 % of what the load reaches by itself");
  rare(add_parsed(
      app, "--load-cpus", own.cpus, "", "CPUS", "with --load-memory: CPUs that load: 8-15",
      [](const std::string& text) -> Expected<std::optional<CpuSet>> {
        const auto cpus = parse_list<CpuId>(text);
        if (!cpus || cpus->empty())
          return fail_usage("--load-cpus", fmt::format("'{}' is not a list of CPUs", text),
                            "for example 8-15");
        return std::optional(*cpus);
      }));
  rare(add_value(app, "--load-on", own.on, "WHO",
                 "with --load-memory: who loads: cpus, or copies of a GPU from this memory and to "
                 "it: gpu:0"));
}

Expected<void> use(Options own, Pairs pairs, Benchmark& its) {
  if (const auto gpus = TRY(parse_on(own.on, "--load-on"))) {
    if (gpus->size() != 1)
      return fail_usage("--load-on", "one GPU loads at a time", "for example gpu:0");
    own.gpu = gpus->front();
    if (own.cpus)
      return fail_usage("--load-cpus", "a GPU loads (--load-on)", "leave one of them out");
    its.of_gpus = true;
  }
  TRY(check_nodes("--load-memory", own.memory, "each"));
  const auto given = its.given;
  const auto with = [=](auto function) {
    return [=](auto&&... rest) { return function(own, pairs, *given, rest...); };
  };
  its.sweeps = {
      {.point = [=](const PlanInput& input,
                    const AxisSetting& now) { return point(own, *given, input, now); },
       .name = "[{measured} node {cpu_node} to {memory_node}, ][{load_kernel} ]{load}[ "
               "on node {load_memory} by {who}], {pages}",
       .axes = {{.labels = own_labels, .values = with(settings)}},
       .threads = {.compared = false},
       .size = {.usual = [given](const PlanInput& input,
                                 const AxisSetting& now) { return size_of(*given, input, now); }},
       .of_kernels = false,
       .later = with(parts_of_peaks)}};
  its.check = [own](const PlanInput& input) -> Expected<void> {
    TRY(check_nodes_are_known(input, "loaded"));
    CpuSet known;
    for (const int worker : all_workers(input.layout)) known.insert(cpu_of(input, worker));
    for (const CpuId cpu : own.cpus.value_or(CpuSet{}))
      if (!known.contains(cpu))
        return fail_about(ErrorKind::unavailable, "--load-cpus",
                          fmt::format("CPU {} is not one of those to use", cpu.value),
                          "these are: " + to_list(known));
    return check_one_process(input, "loaded --load-memory");
  };
  its.refinement.time_parts = {0.4};  // of idle, own peak and full load
  its.figures = {.totals = totals, .conclude = conclude};
  its.shown = {.tables = tables(), .warnings = curve_warnings, .facts = facts};
  return {};
}

}  // namespace numatlas::loaded_neighbours
