#include "advise/curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "benchmarks/common.h"
#include "memory/buffer.h"
#include "record/labels.h"
#include "run/flows.h"
#include "run/levels.h"

namespace numatlas {
namespace {

constexpr std::array loads{0.25, 0.5, 0.75, 0.95};
/// Weights of the node and of the second memory.
constexpr std::array<std::pair<int, int>, 4> shares{{{3, 1}, {1, 1}, {1, 3}, {0, 1}}};
constexpr const char* load_key = "bandwidth_sum";
constexpr const char* far_key = "far_share";
constexpr const char* slowdown_key = "slowdown";
constexpr const char* curve_label = "curve";

double free_of(const NumaNode& node) {
  const auto room = node.room();
  return room ? static_cast<double>(room->value) : std::numeric_limits<double>::infinity();
}

/// Where most of its memory was; of an unknown program, and of one that has hardly any, the first
/// node that has CPUs and memory.
NodeId node_of(const Machine& machine, const Look* look) {
  const MemorySample* const sample = look != nullptr ? look->fullest() : nullptr;
  if (sample != nullptr && has_own_memory(*sample)) {
    const auto most = std::ranges::max_element(sample->by_node, {},
                                               [](const auto& one) { return one.second.value; });
    return NodeId{most->first};
  }
  const NodeSet with_cpus = machine.nodes_of(machine.usable_cpus());
  const NodeSet both = with_cpus & machine.ordinary_memory_nodes();
  return both.empty() ? machine.ordinary_memory_nodes().front() : both.front();
}

/// Memory without CPUs before that of other nodes, then the nearest.
std::optional<NodeId> second_memory(const Machine& machine, NodeId near) {
  std::optional<NodeId> best;
  std::pair<bool, int> least;
  for (const NodeId id : machine.ordinary_memory_nodes()) {
    if (id == near) continue;
    const std::pair rank{!machine.own_cpus(id).empty(), distance_between(machine, near, id)};
    if (best && rank >= least) continue;
    best = id;
    least = rank;
  }
  return best;
}

std::string as_label(double part) { return fmt::format("{:.0f}%", 100 * part); }

MemoryPlacement spread_over(NodeId near, NodeId far, std::pair<int, int> weights) {
  MemoryPlacement memory;
  const auto [here, there] = weights;
  memory.mode = here == 0       ? MemoryMode::bind
                : here == there ? MemoryMode::interleave
                                : MemoryMode::weighted;
  if (here > 0) memory.nodes.emplace_back(near, here);
  memory.nodes.emplace_back(far, there);
  std::ranges::sort(memory.nodes);
  return memory;
}

/// What the runs prove of one point.
struct Proved {
  const Candidate* candidate = nullptr;
  double loss = 0, low = 0, high = 0;
};

/// Of a program that fails now and then the runs before the failure are too few for an interval.
bool is_proved(const Lane& lane) {
  constexpr std::size_t least = 5;
  const auto& log = lane.against_reference;
  return lane.failure.empty() && log && log->low && log->n >= least;
}

std::optional<Proved> proved(const Candidate& candidate, const Lane& lane, const Metric& metric) {
  if (!is_proved(lane)) return std::nullopt;
  const auto& log = lane.against_reference;
  return Proved{&candidate, loss_of(log->value, metric), loss_of(*log->low, metric),
                loss_of(*log->high, metric)};
}

struct Comparison {
  std::string slower, faster;
};

/// "12.3 % (11.0 to 13.6 %) slower".
std::string loss_text(const Proved& point, const Comparison& words) {
  const double low = 100 * point.low, high = 100 * point.high;
  if (point.low > 0)
    return fmt::format("{:.1f} % ({:.1f} to {:.1f} %) {}", 100 * point.loss, low, high,
                       words.slower);
  if (point.high < 0)
    return fmt::format("{:.1f} % ({:.1f} to {:.1f} %) {}", -100 * point.loss, -high, -low,
                       words.faster);
  return fmt::format("{:.1f} % {} to {:.1f} % {}", std::abs(low), words.faster, high, words.slower);
}

/// One curve's points in ascending order: up to where the program hardly suffers, and how much it
/// does at the end. What is beyond a point that was not proved is no part of "up to". `up_to` and
/// `at` word a point.
template <class UpTo, class At>
std::string curve_text(const std::vector<std::optional<Proved>>& points, const Comparison& words,
                       const UpTo& up_to, const At& at) {
  constexpr double little = 0.05;
  const Proved *last = nullptr, *end = nullptr;
  double most = -HUGE_VAL;
  for (const auto& point : points) {
    if (!point || point->high >= little) break;
    last = &*point;
    most = std::max(most, point->high);
  }
  for (const auto& point : points)
    if (point) end = &*point;
  if (end == nullptr) return "";
  std::string text;
  if (last != nullptr)
    text = fmt::format("at {} {:.1f} % {} {}", most < 0 ? "least" : "most", std::abs(100 * most),
                       most < 0 ? words.faster : words.slower, up_to(*last->candidate));
  if (last == end) return text;
  if (!text.empty()) text += ", ";
  return fmt::format("{}{} {}", text, loss_text(*end, words), at(*end->candidate));
}

}  // namespace

bool has_own_memory(const MemorySample& sample) {
  constexpr Bytes least{16 * mib};
  return sample.total() >= least;
}

double loss_of(double log, const Metric& metric) {
  return metric.higher() ? 1 - std::exp(-log) : std::exp(log) - 1;
}

std::optional<Warning> own_cpus_warning(const Curve& curve, const Look& look) {
  const CpuSet shared = look.own_cpus.value_or(CpuSet{}) & curve.load.cpus();
  if (shared.empty()) return std::nullopt;
  return Warning{
      "own-cpus", "",
      fmt::format("the program binds itself to {}, of which the load takes {}: what it "
                  "loses there is CPU time, not bandwidth; it should keep to {}",
                  cpus_text(*look.own_cpus), to_list(shared), cpus_text(curve.program_cpus))};
}

Expected<Curve> plan_curve(const Machine& machine, const Look* look) {
  if (machine.ordinary_memory_nodes().empty())
    return fail_about(ErrorKind::unavailable, "--curve", "the machine's memory is not known");
  Curve curve;
  curve.near = node_of(machine, look);
  curve.far = second_memory(machine, curve.near);
  if (curve.far)
    curve.far_text = "node " + node_with_kind(&machine, std::to_string(curve.far->value));
  const auto cpus = usual_load_cpus(machine, {curve.near}, true);
  if (!cpus) return fail(renamed(cpus.error(), "--cpus", "--curve"));
  // On its own node, where that leaves it as many as it keeps busy.
  const CpuSet own = cpus->program & machine.own_cpus(curve.near);
  const double busy = look != nullptr ? look->cpus_used() : 1;
  constexpr double slack = 0.5;
  const bool fits = static_cast<double>(own.size()) + slack >= busy && !own.empty();
  curve.program_cpus = fits ? own : cpus->program;
  MemoryPlacement memory;
  memory.mode = MemoryMode::bind;
  memory.nodes = {{curve.near, 1}};
  for (const CpuId cpu : cpus->load) {
    WorkerPlacement& place = curve.load.workers.emplace_back();
    place.thread = static_cast<int>(curve.load.workers.size() - 1);
    place.cpus = {cpu};
    place.cpu = cpu;
    const Cpu* const found = machine.find_cpu(cpu);
    if (found != nullptr) place.cpu_node = found->node;
    place.memory = memory;
  }
  curve.load.kernel = kernel_named("read");
  curve.load.pages = best_pages(machine).kind;
  const Bytes past = size_past_caches(machine, cpus->load, {curve.near}, least_past_caches);
  // Half of what the program leaves.
  const double taken = look != nullptr ? static_cast<double>(look->peak_memory().value) : 0;
  const NumaNode* const node = machine.find_node(curve.near);
  const double left = node == nullptr ? 0 : std::max(0.0, free_of(*node) - taken) / 2;
  if (left <= static_cast<double>(last_level_caches(machine, cpus->load, {curve.near}).value))
    return fail_about(ErrorKind::resource, "--curve",
                      fmt::format("there is no room for the load on node {}", curve.near.value));
  const double each = left / static_cast<double>(cpus->load.size());
  curve.load.size = past;
  if (each < static_cast<double>(past.value))
    curve.load.size =
        Bytes{std::max<std::uint64_t>(1, static_cast<std::uint64_t>(each) / mib) * mib};
  return curve;
}

std::vector<Candidate> curve_candidates(
    const Curve& curve, const Machine& machine, const ProgramTraits& program,
    const std::function<std::string(const MemoryPlacement&)>& weights_problem) {
  std::vector<Candidate> tried, left;
  Candidate idle;
  idle.name = "idle";
  idle.layout.cpus = curve.program_cpus;
  idle.because = fmt::format("on {}, as in all runs", cpus_text(curve.program_cpus));
  idle.curve = CurvePoint{};
  tried.push_back(idle);
  for (const double load : loads) {
    Candidate one = idle;
    one.name = "load " + as_label(load);
    one.axis = Aspect::load;
    one.because = fmt::format("of what {} can read from node {}", cpus_text(curve.load.cpus()),
                              curve.near.value);
    one.curve = CurvePoint{load, 0};
    tried.push_back(one);
  }
  if (!curve.far) {
    left.push_back(no_candidate("a second memory", Aspect::memory, "only one node has memory"));
    tried.insert(tried.end(), left.begin(), left.end());
    return tried;
  }
  for (const auto& weights : shares) {
    const double far = static_cast<double>(weights.second) / (weights.first + weights.second);
    Candidate one = idle;
    one.name = fmt::format("{} on {}", as_label(far), curve.far_text);
    one.axis = Aspect::memory;
    one.layout.memory = spread_over(curve.near, *curve.far, weights);
    one.because = one.layout.memory->text();
    one.curve = CurvePoint{0, far};
    if (one.layout.memory->mode == MemoryMode::weighted && weights_problem)
      one.not_tried = weights_problem(*one.layout.memory);
    const double needed = far * (program.memory ? static_cast<double>(program.memory->value) : 0);
    if (needed > free_of(*machine.find_node(*curve.far)))
      one.not_tried = "there is no room for so many of its pages";
    (one.not_tried.empty() ? tried : left).push_back(std::move(one));
  }
  tried.insert(tried.end(), left.begin(), left.end());
  return tried;
}

std::string curve_answer(const Curve& curve, const std::vector<Candidate>& candidates,
                         const RaceResult& race, const Metric& metric) {
  std::vector<std::optional<Proved>> under_load, far;
  for (std::size_t i = 1; i < race.lanes.size(); ++i)
    (candidates[i].curve->load > 0 ? under_load : far)
        .push_back(proved(candidates[i], race.lanes[i], metric));
  const Comparison words =
      metric.is_time() ? Comparison{"slower", "faster"} : Comparison{"worse", "better"};
  const auto reached = [&](const Candidate& one) {
    const auto index = static_cast<std::size_t>(&one - candidates.data());
    const double asked = one.curve->load;
    if (index >= curve.windows.size()) return fmt::format("{:.0f} %", 100 * asked);
    const LoadWindow& window = curve.windows[index];
    const auto why = shortfall_text(window, asked * curve.peak, curve.load.workers.size());
    return why.empty() ? fmt::format("{:.0f} %", 100 * asked)
                       : fmt::format("{:.0f} % ({})", 100 * window.rate() / curve.peak, why);
  };
  const std::string loaded = curve_text(
      under_load, words, [&](const Candidate& one) { return "up to a load of " + reached(one); },
      [&](const Candidate& one) { return "under a load of " + reached(one); });
  const auto pages = [](const Candidate& one) {
    return one.curve->far < 1 ? fmt::format("{:.0f} %", 100 * one.curve->far) : "all";
  };
  const std::string tiered = curve_text(
      far, words, [&](const Candidate& one) { return "with up to " + pages(one); },
      [&](const Candidate& one) { return "with " + pages(one); });
  std::string text = loaded;
  if (!tiered.empty())
    text +=
        fmt::format("{}{} of its pages on {}", text.empty() ? "" : "; ", tiered, curve.far_text);
  return text;
}

void add_curve_figures(Case& one, const Curve& curve, std::size_t index, const Candidate& candidate,
                       const Lane& lane, const Metric& metric) {
  const CurvePoint& point = *candidate.curve;
  const auto figure = [&](const char* key, Unit unit, const Estimate& estimate) {
    one.figures.push_back({key, unit, estimate, std::nullopt});
  };
  if (point.load > 0) {
    one.labels.emplace_back(curve_label, "load");
    one.labels.emplace_back("load", as_label(point.load));
  }
  if (point.far > 0) one.labels.emplace_back(curve_label, "pages");
  if (point.load > 0) figure("rate_asked", "B/s", Estimate(point.load * curve.peak));
  if (point.far == 0)
    figure(
        load_key, "B/s",
        Estimate(point.load > 0 && index < curve.windows.size() ? curve.windows[index].rate() : 0));
  if (point.load == 0) figure(far_key, "1", Estimate(point.far));
  if (index == 0) return figure(slowdown_key, "cost", Estimate(0));
  if (!is_proved(lane)) return;
  Estimate slowdown = *lane.against_reference;
  slowdown.value = loss_of(slowdown.value, metric);
  if (slowdown.low) slowdown.low = loss_of(*slowdown.low, metric);
  if (slowdown.high) slowdown.high = loss_of(*slowdown.high, metric);
  figure(slowdown_key, "cost", slowdown);
}

std::vector<View> curve_views(const Curve& curve, const ViewColumn& runs) {
  const ViewColumn slowdown =
      figure_column("slowdown", slowdown_key, in_percent, Part::value, 1, " %");
  View load{.title = fmt::format("Under a load on the memory of node {}", curve.near.value)};
  load.kind = ViewKind::curve;
  load.where = {{curve_label, "load"}};
  load.rows = load_key;
  load.cells = {label_column("load", "candidate"),
                figure_column("load in GB/s", load_key, in_gb_per_s), runs, slowdown};
  load.notes = {
      fmt::format("the load: {}; alone {}", curve.load.text(), quantity_text(curve.peak, "B/s"))};
  std::vector<View> views{std::move(load)};
  if (!curve.far) return views;
  View far{.title = "With a part of its pages on " + curve.far_text};
  far.kind = ViewKind::curve;
  far.where = {{curve_label, "pages"}};
  far.rows = far_key;
  far.cells = {label_column("pages", "candidate"),
               figure_column("of its pages", far_key, in_percent, Part::value, 0, " %"), runs,
               slowdown};
  views.push_back(std::move(far));
  return views;
}

std::vector<Fact> curve_facts(const Curve& curve, const std::vector<Candidate>& candidates,
                              const RaceResult& race, const Metric& metric) {
  std::vector<Fact> facts;
  for (std::size_t i = 1; i < race.lanes.size(); ++i) {
    const auto point = proved(candidates[i], race.lanes[i], metric);
    if (!point) continue;
    Estimate estimate(point->loss);
    estimate.low = point->low;
    estimate.high = point->high;
    estimate.n = race.lanes[i].against_reference->n;
    estimate.method = race.lanes[i].against_reference->method;
    const bool loaded = candidates[i].curve->load > 0;
    const NodeId node = loaded ? curve.near : *curve.far;
    facts.push_back(
        {loaded ? "slowdown_under_load" : "slowdown_of_pages",
         {{"candidate", candidates[i].name}, {"memory_node", std::to_string(node.value)}},
         "slowdown of the program: " + candidates[i].name,
         "cost",
         estimate});
  }
  return facts;
}

}  // namespace numatlas
