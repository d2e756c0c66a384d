// How long a cache line takes from one CPU to another: for every pair, two flows pass one line to
// and fro.
#include "benchmarks/cores/cores.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/whole.h"
#include "benchmarks/common.h"
#include "memory/source.h"
#include "record/labels.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/flows.h"
#include "run/metrics.h"

namespace numatlas::benchmark_cores {
namespace {

/// What tells how near two CPUs are, and of which kinds.
struct Spot {
  CpuId id;
  const Cpu* cpu = nullptr;
  const Cache* cache = nullptr;  ///< its last-level one
  const CpuKind* kind = nullptr;

  NodeId node() const { return cpu == nullptr ? NodeId{} : cpu->node; }
};

Spot spot_of(const Machine& machine, CpuId id) {
  return {id, machine.find_cpu(id), machine.last_level_cache_of(id), machine.kind_of(id)};
}

std::string nearness_of(const Spot& a, const Spot& b) {
  if (a.cpu == nullptr || b.cpu == nullptr) return "unknown";
  if (a.cpu->core && a.cpu->core == b.cpu->core) return "same core";
  if (a.cache != nullptr && a.cache == b.cache) return fmt::format("same L{}", a.cache->level);
  if (a.node().value < 0 || b.node().value < 0) return "unknown";
  return a.node() == b.node() ? "same node" : "other node";
}

std::string kinds_of(const Spot& a, const Spot& b) {
  if (a.kind == nullptr || b.kind == nullptr) return "";
  const auto [one, two] = std::minmax(a.kind->name, b.kind->name);
  return one == two ? one : one + " and " + two;
}

/// Adds CPUs until each nearness and each two kinds that there are among all of them are among the
/// chosen ones.
void add_missing(const std::vector<Spot>& all, std::vector<Spot>& chosen) {
  std::set<std::string> shown;
  const auto add = [&](const Spot& added) {
    if (std::ranges::count(chosen, added.id, &Spot::id) > 0) return;
    for (const Spot& other : chosen)
      shown.insert({nearness_of(added, other), kinds_of(added, other)});
    chosen.push_back(added);
  };
  for (const Spot& spot : std::exchange(chosen, {})) add(spot);
  for (auto one = all.begin(); one != all.end(); ++one) {
    for (auto other = one + 1; other != all.end(); ++other) {
      if (shown.contains(nearness_of(*one, *other)) && shown.contains(kinds_of(*one, *other)))
        continue;
      add(*one);
      add(*other);
    }
  }
}

// What a case takes in the least: 20 ms of samples, and about half as much to get ready.
constexpr std::chrono::duration<double> time_per_case{0.03};

struct Options {
  std::vector<std::string> methods{"cas", "store"};
  bool both = false;  ///< --directions
  unsigned lines = 1;
  std::string home = "first";
  std::optional<MemorySpec> home_node;  ///< absent: by first touch
};

void add_options(Options& own, CLI::App& app) {
  add_value(
      app, "--home", own.home, "first|second|NODE",
      "home of the line: first touch by the first or the second CPU of the pair, or a NUMA node");
  add_parsed(app, "--lines", own.lines, "1", "N",
             fmt::format("cache lines of a pair, in turn (1 to {})\n"
                         "The latency depends on the cache slice and the directory that a line "
                         "belongs to",
                         most_ping_pong_lines),
             whole<unsigned>(1, most_ping_pong_lines));
  add_choice<bool>(app, "--directions", own.both, {{"one", false}, {"both", true}},
                   "each pair once, or with either CPU first\n"
                   "The first times the round trips; with --home first, the line is in its memory");
}

Expected<void> parse(Options& own, Benchmark&) {
  if (own.home == "first" || own.home == "second") return {};
  auto node = parse_memory_spec("bind:" + own.home);
  if (!node || node->single.nodes.size() != 1) {
    return fail_usage("--home", fmt::format("'{}' is not first, second or a node", own.home),
                      "nodes: see `numatlas topology`");
  }
  own.home_node = *std::move(node);
  return {};
}

/// So many that all their pairs fit into --time.
std::size_t most_cpus(const Options& own, const RunOptions& options) {
  const auto cases = static_cast<double>(own.methods.size()) * (own.both ? 2 : 1);
  const double pairs = options.stop.time / time_per_case / cases;
  // n (n - 1) / 2 pairs of n CPUs.
  return static_cast<std::size_t>(std::max(2.0, (1 + std::sqrt(1 + 8 * pairs)) / 2));
}

/// Where none are named: a CPU a core, and the other hardware thread of the first.
std::vector<int> usual_cpus(const Machine& machine, std::size_t most) {
  const auto all = resolve_cpus({CpuSpec::Form::cores, {}, true}, machine, {});
  std::vector<int> list;
  for (CpuId id : spread_cores(machine, all.value_or(std::vector<CpuId>{}), most)) {
    const auto thread = list.empty() ? sibling_of(machine, id) : std::nullopt;
    list.push_back(id.value);
    if (thread) list.push_back(thread->value);
  }
  return list;
}

/// A pair has to know its CPUs: one thread each, whatever a launcher or OMP_NUM_THREADS says.
Expected<Workers> workers(const Options& own, const RunOptions& options, const Machine& machine,
                          const TaskContext& task) {
  PlacementSpec spec = options.placement;
  std::vector<int> usual = usual_cpus(machine, most_cpus(own, options));
  if (spec.cpus.is_default && !spec.threads && !usual.empty())
    spec.cpus = {CpuSpec::Form::list, {std::move(usual)}};
  spec.cpus.is_default = false;  // pinned one by one, whatever OpenMP was told
  const auto cpus = resolve_cpus(spec.cpus, machine, {});
  if (cpus && !spec.threads) spec.threads = static_cast<int>(cpus->size());
  return resolve_placement(spec, machine, task, 0);
}

Expected<void> check(const Options& own, const PlanInput& input) {
  TRY(check_one_process(input, "cores"));
  const RunOptions& options = input.options;
  if (options.placement.threads == 1) {
    return fail_usage("--threads", "one CPU is not a pair",
                      "use at least 2; without it all chosen CPUs are measured");
  }
  if (own.home_node && options.placement.memory) {
    return fail(ErrorKind::usage, "--home and --memory both say where the line is",
                "leave one of them out");
  }
  const auto cpus = distinct_cpus(input, "cores");
  if (!cpus) return fail(cpus.error());
  if (cpus->size() > 1) return {};
  return fail_about(ErrorKind::unavailable, "cores",
                    fmt::format("no pair to measure: only CPU {} is available", to_list(*cpus)),
                    "two allowed CPUs are required; a launcher may have bound this process to one "
                    "(mpirun --bind-to none)");
}

/// Workers, as indices into the layout.
struct Pair {
  int first, second;
};

std::vector<AxisValue> pairs(const Options& own, const PlanInput& input) {
  std::vector<AxisValue> pairs;
  const auto text = [&](int worker) { return std::to_string(cpu_of(input, worker).value); };
  const std::vector<int> workers = all_workers(input.layout);
  for (int first : workers) {
    for (int second : workers)
      if (first < second || (own.both && first != second))
        pairs.push_back({{text(first), text(second)}, Pair{first, second}});
  }
  return pairs;
}

Expected<Point> point(const Options& own, const PlanInput& input, const AxisSetting& now) {
  const Machine& machine = input.machines.front();
  const auto [first, second] = now.of<Pair>(1);
  const int toucher = own.home == "second" ? second : first;
  Point point{.size = whole_pages(machine, ping_pong_bytes(own.lines), now.pages)};
  Flow asks = plain_flow(input, kernel_named(now.of<std::string>()), first, *point.size, now.pages);
  asks.kernel.as<PingPongParameters>().lines = own.lines;
  asks.region.placement = worker_of(input, toucher).placement.memory;
  if (own.home_node)
    asks.region.placement = TRY(of_option("--home", resolve_memory(*own.home_node, machine, 0)));
  Flow answers = asks;
  if (toucher != first) asks.first_touch = toucher;
  answers.worker = second;
  answers.kernel.as<PingPongParameters>().answers = true;
  answers.shares = 0;
  answers.role = Role::load;
  point.flows = {std::move(asks), std::move(answers)};

  const CpuId a = cpu_of(input, first), b = cpu_of(input, second);
  point.labels = {{"nearness", benchmark_cores::nearness_of(machine, a, b)},
                  {"home", own.home},
                  {"kinds", benchmark_cores::kinds_of(machine, a, b)},
                  {"lines", own.lines > 1 ? std::to_string(own.lines) : ""},
                  {"directions", own.both ? "both" : ""}};
  return point;
}

/// What was left out, or took longer than --time.
std::string remarks(const RunReport& report, const RunOptions& options) {
  const auto all = resolve_cpus({CpuSpec::Form::cores, {}, true}, report.machines.front(), {});
  CpuSet left;
  if (all && options.placement.cpus.is_default && !options.placement.threads)
    for (CpuId id : *all) left.insert(id);
  for (const WorkerRow& worker : report.workers) left = left - worker.cpus;
  if (!left.empty())
    return fmt::format(
        "{} of {} cores, as many as --time {} allows; omitted: CPUs {} (--cpus cores measures "
        "all)\n",
        all->size() - left.size(), all->size(), to_text(options.stop.time), to_list(left));
  const std::size_t cases = report.cases.size();
  if (static_cast<double>(cases) * time_per_case <= options.stop.time) return "";
  return fmt::format("--time {} is too short for {} cases: each took at least 20 ms\n",
                     to_text(options.stop.time), cases);
}

Table table(const std::string& method, const std::string& how) {
  return {.title = "Core-to-core latency in ns, " + how,
          .kind = ViewKind::matrix,
          .apart = {"kernel"},
          .only = {"kernel=" + method, "core_to_core"},
          .rows = "first_cpu",
          .columns = "second_cpu",
          .cells = {figure_column("", "core_to_core", in_ns, Part::with_interval, 1)},
          .notes = {"half of a round trip of a cache line[ ({lines} in turn)]; rows and columns: "
                    "CPUs",
                    "[{directions} directions: the CPU of the row asks, that of the column "
                    "answers; home of the line: {home}]"},
          .finish = [](View& view, const CaseGroup& group, const RunReport&) {
            view.symmetric = label_of(*group.cases.front(), "directions").empty();
            // Four CPUs fit 80 columns with their intervals.
            const std::size_t most = view.symmetric ? 6 : 12;
            if (group.cases.size() > most) view.cells.front().part = Part::value;
          }};
}

/// The nearest and the farthest pair.
std::vector<Fact> facts(const RunReport& report) {
  // Of one method: another one takes another time between the same CPUs.
  const auto latency = [&](const Case& one) {
    return one.kernel == report.cases.front().kernel
               ? value_of(host_estimate_of(one, "core_to_core"))
               : std::nullopt;
  };
  const auto* const nearest = lowest_of(report.cases, latency);
  const auto* const farthest = highest_of(report.cases, latency);
  std::vector<Fact> facts;
  const auto add = [&](const char* key, const char* word, const Case& one) {
    const std::string first = label_of(one, "first_cpu"), second = label_of(one, "second_cpu");
    const std::string nearness = label_of(one, "nearness");
    facts.push_back(
        {key,
         {{"first_cpu", first}, {"second_cpu", second}, {"nearness", nearness}},
         fmt::format("core-to-core latency between CPUs {} and {} ({})", first, second, nearness),
         "s",
         *host_estimate_of(one, "core_to_core"),
         "Core to core",
         fmt::format("{}{{}} (CPUs {} and {}, {})", word, first, second, nearness)});
  };
  if (nearest != nullptr)
    add("core_to_core_nearest", farthest == nearest ? "" : "shortest ", *nearest);
  if (farthest != nearest) add("core_to_core_farthest", "longest ", *farthest);
  return facts;
}

}  // namespace

std::string nearness_of(const Machine& machine, CpuId first, CpuId second) {
  return nearness_of(spot_of(machine, first), spot_of(machine, second));
}

std::string kinds_of(const Machine& machine, CpuId first, CpuId second) {
  return kinds_of(spot_of(machine, first), spot_of(machine, second));
}

std::optional<CpuId> sibling_of(const Machine& machine, CpuId cpu) {
  const Cpu* const one = machine.find_cpu(cpu);
  if (one == nullptr || !one->core) return std::nullopt;
  for (CpuId id : machine.usable_cpus()) {
    const Cpu* const other = machine.find_cpu(id);
    if (id != cpu && other != nullptr && other->core == one->core) return id;
  }
  return std::nullopt;
}

std::vector<CpuId> spread_cores(const Machine& machine, const std::vector<CpuId>& cores,
                                std::size_t most) {
  std::vector<Spot> all;
  for (CpuId id : cores) all.push_back(spot_of(machine, id));
  const auto place = [](const Spot& spot) {
    const bool shared = spot.cache != nullptr && !spot.cache->cpus.empty();
    return std::tuple(spot.node(), shared ? spot.cache->cpus.front() : spot.id, spot.id);
  };
  const auto nearer = [&](const Spot& a, const Spot& b) { return place(a) < place(b); };
  std::sort(all.begin(), all.end(), nearer);
  std::vector<Spot> chosen = all;
  if (all.size() > most) {
    const std::size_t couples = most / 2;
    chosen.clear();
    for (std::size_t couple = 0; couple < couples; ++couple) {
      // Even positions: caches and nodes have even numbers of cores, mostly.
      const std::size_t at = couple * all.size() / couples / 2 * 2;
      chosen.insert(chosen.end(), {all[at], all[at + 1]});
    }
    add_missing(all, chosen);
    std::sort(chosen.begin(), chosen.end(), nearer);
  }
  std::vector<CpuId> ids;
  for (const Spot& spot : chosen) ids.push_back(spot.id);
  return ids;
}

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "cores",
      .help =
          {.summary = "core-to-core latency between pairs of CPUs",
           .listing = {Topic::caches},
           .description = "Two CPUs pass a cache line back and forth, one pair after the other, "
                          "each with a line of its own. The figure is half of a round trip. "
                          "Without --cpus, one CPU per core and both hardware threads of one core "
                          "are measured, as many cores as --time allows; --cpus cores measures all "
                          "cores regardless of --time.",
           .examples = {{"Core-to-core latency between all cores, by compare-and-swap",
                         "numatlas cores --cpus cores --method cas"},
                        {"Both directions of each pair, over 16 lines that lie on node 1",
                         "numatlas cores --cpus 0,64,32 --home 1 --lines 16 --directions both"}}},
      .options = {.refused = {{"--threads", "cores accepts one number", "name --cpus instead",
                               true}},
                  .usual_cpus = "cores",
                  .one_kind_of_pages = true,
                  .time = {"10s", true, true}},
      .sweeps = {{.point = with(point),
                  .name = "{kernel} CPUs {first_cpu},{second_cpu}",
                  .axes = {choice_axis(
                               "kernel", "--method", named({"cas", "store"}),
                               with.of(&Options::methods),
                               "how the line is passed: by compare-and-swap from the other side's "
                               "word (cas), or by polling for that word with loads and then "
                               "storing (store)"),
                           {.labels = {"first_cpu", "second_cpu"}, .values = with(pairs)}},
                  .threads = {.compared = false},
                  .may_be_serial = false}},
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = with(workers),
      .check = with(check),
      .shown = {.tables = {table("cas", "by compare-and-swap"),
                           table("store", "by a load and a store")},
                .facts = facts,
                .remarks = remarks},
      // As many pairs as there is time for.
      .survey = [](const Machine&) -> SurveyPart {
        return {1, {"--method", "cas"}};
      },
  };
}

}  // namespace numatlas::benchmark_cores
