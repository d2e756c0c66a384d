// Transfers between memory of the host and GPUs: every node with memory and every GPU, both ways.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/product.h"
#include "base/units.h"
#include "benchmarks/on_gpus.h"
#include "benchmarks/transfer/device_totals.h"
#include "memory/source.h"
#include "record/labels.h"
#include "run/benchmark.h"
#include "run/device_flows.h"
#include "run/executor.h"
#include "run/flows.h"

namespace numatlas::benchmark_transfer {
namespace {

// Long against whatever happens once a copy, and short enough for many of them in a visit: on
// an H200 as fast as 512 MiB (docs/performance.md).
constexpr Bytes usual_copy{128 * mib};

using Gpus = std::vector<int>;

struct Options {
  std::vector<std::string> measures;  ///< empty: what the machine has
  Gpus gpus;                          ///< empty: all
  bool together = false;              ///< the copies of all GPUs at the same time
  std::vector<std::string> directions{"h2d", "d2h", "both"};
  std::vector<Pinning> pinnings{Pinning::pinned};
  Caller caller = Caller::near;
  const CLI::App* app = nullptr;

  bool measure(const std::string& what) const {
    return measures.empty() || std::ranges::count(measures, what) > 0;
  }
};

void add_options(Options& own, CLI::App& app) {
  add_choices(app, "--measure", own.measures, named({"copies", "latency", "chase", "peer"}),
              "what to measure (default: all that the machine supports)\n"
              "copies: the rate of queued copies; latency: of one copy, each waited for before the "
              "next; chase: a pointer chase by the GPU through host memory; peer: copies between "
              "GPUs");
  add_parsed(app, "--gpus", own.gpus, "", "GPUS",
             "GPUs as their driver counts them: 0-3 (default: all)",
             [](const std::string& text) { return parse_gpus(text, "--gpus"); });
  app.add_flag("--together", own.together,
               "copy with all GPUs at the same time, not each alone\n"
               "For --measure copies and latency");
  rare(add_choice<Caller>(
      app, "--caller", own.caller,
      {{"near", Caller::near}, {"far", Caller::far}, {"memory", Caller::memory}},
      "CPU that submits the work: near the GPU, on the node farthest from it, or near the memory"));
  own.app = &app;
}

Expected<void> parse(Options& own, Benchmark&) {
  for (const std::string what : {"latency", "chase"}) {
    const std::string option = "--" + what + "-size";
    if (own.app->count(option) > 0 && !own.measure(what))
      return fail_usage(option, "--measure leaves out the only measurement that uses it",
                        "add " + what + " to --measure");
  }
  if (own.measures == std::vector<std::string>{"latency"} &&
      own.directions == std::vector<std::string>{"both"})
    return fail_usage("--direction", "a single copy has one direction", "name h2d or d2h");
  return {};
}

SurveyPart survey(const Machine& machine) {
  return on_gpus::survey_part(machine, {3,
                                        {},
                                        {{"measurements", {"measure"}, 1, Keep::first},
                                         {"directions", {"direction"}, 2, Keep::first},
                                         {"GPUs and pairs of them", {"gpus"}, 1}}});
}

Expected<Workers> workers(const Options& own, const RunOptions& options, const Machine& machine,
                          const TaskContext& task) {
  const std::size_t gpus = own.gpus.empty() ? usable_gpus({machine}).size() : own.gpus.size();
  constexpr std::size_t directions = 2;
  return callers(options, machine, task, directions * (own.together ? gpus : 1));
}

// Axes --------------------------------------------------------------------------------------------

using Values = Expected<std::vector<AxisValue>>;

/// Whether a sweep is measured: one value, or none.
Axis measure(const Bound<Options>& with, const std::string& what) {
  return {{"measure"}, with([what](const Options& own, const PlanInput& input) -> Values {
            if (!own.measure(what)) return Values();
            const bool asked = input.options.placement.memory && own.pinnings.size() == 1;
            return std::vector{AxisValue{{what}, what, asked}};
          })};
}

/// The placement asked for; else each node with memory.
Values memories(const PlanInput& input) {
  std::vector<MemoryPlacement> places;
  const auto& asked = input.options.placement.memory;
  // What numactl asked for, as every command takes it.
  const MemoryPlacement& inherited = input.layout.workers.front().placement.memory;
  if (!asked && inherited.mode == MemoryMode::inherit) {
    places = {inherited};
  } else if (!asked) {
    // Memory of a GPU that is a node is the host's as well, but a copy there crosses no link.
    for (NodeId node : ordinary_memory_nodes(input)) places.push_back(bound_to(node));
    if (places.empty())
      return fail(ErrorKind::unavailable, "no node has memory that this process may use");
  } else {
    TRY(check_one_place(input, *asked, "copies of a GPU have one place in the host's memory",
                        "name one: bind:0, interleave:0,1, weighted:0=3,2=1, local"));
    places = {with_all_nodes(*asked, input.machines.front()).single};
  }
  std::vector<AxisValue> values;
  for (const MemoryPlacement& place : places) values.push_back({{place.text()}, place});
  return values;
}

Expected<Gpus> all_gpus(const Options& own, const PlanInput& input) {
  return of_option("--gpus", chosen_gpus(input, own.gpus));
}
std::string text_of(const Gpus& gpus) { return fmt::format("{}", fmt::join(gpus, ",")); }

/// Each GPU; or all of them at the same time.
Axis gpus(const Bound<Options>& with, bool may_be_together) {
  const auto values = [=](const Options& own, const PlanInput& input) -> Values {
    return values_of_gpus(TRY(all_gpus(own, input)), own.together && may_be_together);
  };
  return {{"gpus"}, with(values)};
}

/// Every GPU to every other.
Values pairs(const Options& own, const PlanInput& input) {
  const Gpus all = TRY(all_gpus(own, input));
  if (!own.measures.empty() && own.measure("peer") && all.size() < 2)
    return fail_about(ErrorKind::unavailable, "--measure peer",
                      fmt::format("copies between GPUs require two, but there {} {}",
                                  all.size() == 1 ? "is only GPU" : "are only GPUs", text_of(all)));
  std::vector<AxisValue> values;
  const auto add = [&](int from, int to) {
    const Gpus pair{from, to};
    if (from != to)
      values.push_back({{text_of(pair), std::to_string(from), std::to_string(to)}, pair});
  };
  for_each_of(add, all, all);
  return values;
}

/// Both directions have memory on a GPU, and so may others.
Bytes copy_size(const Options& own, const PlanInput& input, const AxisSetting&) {
  Bytes size = usual_copy;
  for (const Machine& machine : input.machines) {
    for (const int index : all_gpus(own, input).value_or(Gpus{})) {
      const Gpu* const gpu = find_gpu(machine, index);
      if (gpu == nullptr || !gpu->memory) continue;
      size = std::min(size, Bytes{std::bit_floor(std::max(mib, gpu->memory->value / 8))});
    }
  }
  return size;
}

// Points ------------------------------------------------------------------------------------------

Flow flow_of(const PlanInput& input, const AxisSetting& now, KernelSpec kernel, int worker,
             const MemoryPlacement& memory) {
  kernel.seed = input.options.seed + static_cast<std::uint64_t>(worker);
  Flow flow = plain_flow(input, std::move(kernel), worker, now.size, now.pages);
  flow.region.placement = memory;
  if (gpu_of(memory) >= 0) flow.region.pages = PageKind::base;
  return flow;
}

Flow copy_flow(const PlanInput& input, const AxisSetting& now, DeviceCopyParameters work,
               int worker, const MemoryPlacement& from, const MemoryPlacement& to) {
  work.bytes = now.size;
  work.copies = usual_copies(now.size, work.depth);
  Flow flow = flow_of(input, now, {work}, worker, to);
  flow.source = flow_of(input, now, {work}, worker, from).region;
  return flow;
}

/// Adds `make(worker, gpu, direction, memory)` for each of these GPUs that a host has; the point
/// is skipped where a worker, or the memory, is missing.
template <class Make>
void add_flows(const Options& own, const PlanInput& input, const MemoryPlacement& asked,
               const Gpus& gpus, const std::vector<std::string>& directions, Point& point,
               const Make& make) {
  for_each_caller(
      input, gpus, directions.size(), asked, own.caller, "submit all these copies", point,
      [&](const Machine& machine, int gpu, int worker, std::size_t number) {
        const auto memory = host_memory_of(asked, machine, worker_of(input, worker).placement);
        if (!memory) point.skip = memory.error();
        point.flows.push_back(make(worker, gpu, directions[number], memory.value_or(asked)));
      });
}

/// Queued copies; or each waited for.
Expected<Point> copies(const Options& own, const PlanInput& input, const AxisSetting& now) {
  DeviceCopyParameters work;
  work.pinning = now.of<Pinning>(1);
  if (now.of<std::string>() == "latency") work.depth = 1;
  std::vector<std::string> directions{now.of<std::string>(2)};
  if (directions[0] == "both") directions = {"h2d", "d2h"};
  Point point;
  add_flows(own, input, now.of<MemoryPlacement>(3), now.of<Gpus>(4), directions, point,
            [&](int worker, int gpu, const std::string& its, const MemoryPlacement& memory) {
              work.gpu = gpu;
              MemoryPlacement from = memory, to = gpu_memory(gpu);
              if (its == "d2h") std::swap(from, to);
              return copy_flow(input, now, work, worker, from, to);
            });
  return point;
}

Expected<Point> chase(const Options& own, const PlanInput& input, const AxisSetting& now) {
  Point point;
  add_flows(own, input, now.of<MemoryPlacement>(1), now.of<Gpus>(2), {"h2d"}, point,
            [&](int worker, int gpu, const std::string&, const MemoryPlacement& memory) {
              const DeviceChaseParameters work{
                  {.gpu = gpu}, usual_loads(now.size), GpuLoads::cached, usual_line};
              return flow_of(input, now, {work}, worker, memory);
            });
  return point;
}

Expected<Point> peer(const Options& own, const PlanInput& input, const AxisSetting& now) {
  DeviceCopyParameters work;
  work.gpu = now.of<Gpus>(1)[0];
  const int to = now.of<Gpus>(1)[1];
  Point point{.pages = PageKind::base};
  for (std::size_t host = 0; host < input.machines.size(); ++host) {
    const Gpu* const gpu = find_gpu(input.machines[host], work.gpu);
    if (gpu == nullptr || find_gpu(input.machines[host], to) == nullptr) continue;
    const auto worker = caller_for(input, static_cast<int>(host), *gpu, {}, own.caller, {});
    if (worker)
      point.flows.push_back(
          copy_flow(input, now, work, *worker, gpu_memory(work.gpu), gpu_memory(to)));
  }
  return point;
}

// Tables and facts --------------------------------------------------------------------------------

struct Direction {
  const char *label, *title, *way, *line;
};
constexpr Direction all_directions[] = {{"h2d", "host to device", "to the GPU from", "to it"},
                                        {"d2h", "device to host", "from the GPU to", "from it"},
                                        {"both", "both directions at the same time, summed",
                                         "both ways at once, GPU and", "both ways"}};

/// Where each GPU copies fastest at the largest size, unless the intervals of the two best meet.
void add_best_places(View& view, const CaseGroup& group, const RunReport&) {
  Bytes largest;
  for (const Case* one : group.cases) largest = std::max(largest, one->size);
  std::map<std::string, std::vector<std::pair<Estimate, std::string>>> places;  // by GPU
  for (const Case* one : group.cases) {
    const auto rate = estimate_of(*one, "bandwidth_sum");
    if (rate && one->size == largest)
      places[label_of(*one, "gpus")].emplace_back(*rate, label_of(*one, "memory"));
  }
  for (auto& [gpu, ranked] : places) {
    if (ranked.size() < 2) continue;
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first.value > b.first.value; });
    const auto& [rate, place] = ranked[0];
    const auto& [next_rate, next] = ranked[1];
    const std::string best = fmt::format("best for GPU {} at {}: ", gpu, to_text(largest));
    view.verdict.push_back(
        surely_more(rate, next_rate)
            ? fmt::format("{}{}, {:.1f} % over {}", best, place,
                          (ratio_of(rate, next_rate).value - 1) * 100, next)
            : fmt::format("{}{} and {} do not differ significantly", best, place, next));
  }
}

/// A row a place in the host's memory and size, a column a GPU.
Table by_gpu(const std::string& title, std::vector<std::string> only, std::vector<ViewColumn> cells,
             const std::string& note) {
  cells.insert(cells.begin(), {label_column("memory", "memory"), label_column("size", "size")});
  return {.title = title + "{pages} pages)",
          .apart = {"measure", "direction", "pinning", "pages"},
          .only = std::move(only),
          .columns = "gpus",
          .cells = std::move(cells),
          .notes = {note}};
}

std::vector<Table> tables() {
  std::vector<Table> latencies,
      tables{on_gpus::gpus_table({"measure"}, {label_column("link while measured", "link"),
                                               label_column("its limit", "link_limit")})};
  for (const Direction& direction : all_directions) {
    const std::string words = fmt::format(", {} ({{pinning}}, ", direction.title),
                      its = fmt::format("direction={}", direction.label);
    tables.push_back(
        by_gpu("Queued copies in GB/s" + words, {"measure=copies", its},
               {figure_column("GPU", "bandwidth_sum", in_gb_per_s, Part::with_interval),
                figure_column("", "link_part", in_percent, Part::value, 0, " %")},
               "rate of copies queued one after the other: all bytes over the common time, and as "
               "a share of the link's limit"));
    tables.back().finish = add_best_places;
    tables.push_back(
        by_gpu("Copies at the same time in GB/s" + words, {"measure=copies", "copies_overlap", its},
               {figure_column("GPU", "event_bandwidth_sum", in_gb_per_s),
                figure_column("", "copies_overlap", in_percent, Part::value, 0, " %")},
               "sum by the GPUs' own clocks; share of the active time in which all copies were in "
               "flight"));
    // Of several at once each waits for the others.
    tables.push_back(by_gpu("Cost of pinning in ms" + words, {"measure=copies", "workers=1", its},
                            {figure_column("GPU", "pin_time", in_ms, Part::value, 3),
                             figure_column("", "unpin_time", in_ms, Part::value, 3)},
                            "to pin and to unpin the memory: medians of three tries"));
    latencies.push_back(
        by_gpu("Latency of one copy in us" + words, {"measure=latency", its},
               {figure_column("GPU", "copy_latency", in_us),
                figure_column("", "copy_latency", in_us, Part::p95),
                figure_column("", "copy_latency", in_us, Part::p99)},
               "each copy waited for, between two events: median, 95th and 99th percentile"));
  }
  tables.insert(tables.end(), latencies.begin(), latencies.end());
  tables.push_back(by_gpu("Latency of a GPU's loads from memory of the host in ns (",
                          {"measure=chase"},
                          {figure_column("GPU", "latency", in_ns, Part::with_interval, 1)}, ""));
  tables.back().apart = {"measure", "pages"};
  tables.back().notes.clear();
  tables.push_back({.title = "Copies between GPUs in GB/s ({size} each)",
                    .kind = ViewKind::matrix,
                    .apart = {"measure", "size"},
                    .only = {"measure=peer"},
                    .rows = "from_gpu",
                    .columns = "to_gpu",
                    .cells = {figure_column("", "bandwidth_sum", in_gb_per_s, Part::with_interval),
                              label_column("", "gpu_how")},
                    .notes = {"one row per GPU copied from, one column per GPU copied to"}});
  return tables;
}

/// Every rate and latency; of each GPU its best place for each direction is shown.
std::vector<FactRule> fact_rules() {
  std::vector<FactRule> rules, latencies;
  for (const auto& [direction, title, way, line] : all_directions) {
    const std::string its = std::string("direction=") + direction,
                      place = std::string(way) + " {memory|place}";
    rules.push_back({.figure = "bandwidth_sum",
                     .heading = "GPU {gpus}",
                     .key = "gpu_copy_rate",
                     .where = {"gpu=gpus", "memory", "direction", "pinning"},
                     .words = "GPU {gpus}: queued copies of {size} " + place,
                     .line = std::string("copies ") + line + " {} ({memory|place})",
                     .only = {"measure=copies", its},
                     .best_shown = {"gpus"}});
    latencies.push_back({.figure = "copy_latency",
                         .heading = "",
                         .key = "gpu_copy_latency",
                         .where = {"gpu=gpus", "memory", "direction", "size"},
                         .words = "GPU {gpus}: latency of one copy of {size} " + place,
                         .line = "",
                         .only = {"measure=latency", its}});
  }
  rules.insert(rules.end(), latencies.begin(), latencies.end());
  rules.push_back({.figure = "latency",
                   .heading = "GPU {gpus}",
                   .key = "gpu_latency",
                   .where = {"gpu=gpus", "memory", "size"},
                   .words = "GPU {gpus}: a load from {size} of memory of {memory|place}",
                   .line = "a load from host memory {} ({memory|place}, {size})",
                   .only = {"measure=chase"},
                   .best_shown = {"gpus"}});
  rules.push_back({.figure = "bandwidth_sum",
                   .heading = "GPUs",
                   .key = "gpu_peer_rate",
                   .where = {"gpus"},
                   .words = "copies of {size} between GPUs {gpus}",
                   .line = "copies of {size} between GPUs {gpus} {}",
                   .only = {"measure=peer"},
                   .best_shown = {"measure"}});
  return rules;
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  const Axis pinning =
      choice_axis("pinning", "--pin", named(all_pinnings), with.of(&Options::pinnings),
                  "how GPUs access host memory\n"
                  "pinned is registered with the driver; pageable is not; zero-copy is pinned and "
                  "accessed by a GPU kernel");
  const Axis direction = choice_axis(
      "direction", "--direction", named({"h2d", "d2h", "both"}), with.of(&Options::directions),
      "direction of copies: host to device (h2d), device to host (d2h), or both at once");
  Axis one_way = direction.again();
  one_way.values = [all = direction.values](const PlanInput& input) -> Values {
    auto values = TRY(all(input));
    std::erase_if(values, [](const AxisValue& value) { return value.labels[0] == "both"; });
    return values;
  };
  const Axis memory{{"memory"}, memories};
  const SizeRule alike{.form = SizeRule::Form::in_plan, .usual = with(copy_size)};
  const ThreadsAxis callers{.compared = false};
  return {
      .name = "transfer",
      .help =
          {.summary = "bandwidth and latency between host memory and GPUs",
           .listing = {Topic::gpus},
           .description =
               "Measures the rate of queued copies from memory of each node to each GPU, back, and "
               "both at once; the latency of one copy, each waited for; a pointer chase of each "
               "GPU through memory of each node; and copies between GPUs. Memory as a GPU's "
               "kernels see it is measured by latency, bandwidth, loaded, matrix and atomics with "
               "--on gpus.",
           .examples = {{"Where memory for GPU 0 should lie",
                         "numatlas transfer --gpus 0 --measure copies"},
                        {"All GPUs at once, from memory of both sockets",
                         "numatlas transfer --measure copies --together --memory interleave:0,1"}}},
      .options = {.without = {"--serial"}, .usual_pages = "base"},
      .of_gpus = true,
      .varies = {.size = "bytes per copy", .usual_size = "128 MiB\nA multiple of 16 bytes"},
      .sweeps = {{.point = with(copies),
                  .name = "{direction} {memory} gpu {gpus} {pinning} {size} {pages}",
                  .axes = {measure(with, "copies"), pinning, direction, memory, gpus(with, true)},
                  .threads = callers,
                  .size = alike},
                 {.point = with(copies),
                  .name = "latency {direction} {memory} gpu {gpus} {pinning} {size} {pages}",
                  .axes = {measure(with, "latency"), pinning.again(), one_way, memory,
                           gpus(with, true)},
                  .threads = callers,
                  .size = {.option = "--latency-size",
                           .unless_given = "4KiB,64KiB",
                           .help = "bytes per copy for --measure latency"}},
                 {.point = with(chase),
                  .name = "chase {memory} from gpu {gpus} {size} {pages}",
                  .axes = {measure(with, "chase"), memory, gpus(with, false)},
                  .threads = callers,
                  .size = {.option = "--chase-size",
                           .unless_given = "256KiB,64MiB",
                           .help = "memory that a GPU chases through"}},
                 {.point = with(peer),
                  .name = "gpu {from_gpu} -> gpu {to_gpu} {size}",
                  .axes = {measure(with, "peer"), {{"gpus", "from_gpu", "to_gpu"}, with(pairs)}},
                  .threads = callers,
                  .size = alike}},
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = with(workers),
      .figures = {.totals = device_totals},
      .shown = {.by_host = true,
                .tables = tables(),
                .fact_rules = fact_rules(),
                .warnings = device_warnings},
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_transfer
