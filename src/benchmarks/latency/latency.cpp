// Idle latency: a measured pointer chase a worker, all together or (--serial) one after the other.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/size_list.h"
#include "benchmarks/declare.h"
#include "benchmarks/flows.h"
#include "benchmarks/sizes_option.h"
#include "record/labels.h"

namespace numatlas {
namespace {

class Latency final : public Benchmark {
 public:
  std::string name() const override { return "latency"; }
  std::string summary() const override { return "latency of dependent loads, by worker and size"; }
  std::string description() const override {
    return "Each worker walks a random cycle through all lines of its own memory, one "
           "dependent load per step. All workers measure at the same time unless --serial "
           "is given. Sizes that fit a cache show that cache, larger ones the memory and, "
           "with base pages, the TLB's misses.";
  }
  void add_options(CLI::App& app) override;
  Expected<void> parse_options() override;
  int default_threads(const RunOptions& options) const override {
    return options.placement.cpus.is_default ? 1 : 0;
  }
  Expected<std::vector<PlannedScenario>> plan(const PlanInput& input) const override;
  std::string main_metric() const override { return "latency"; }
  SurveyPart survey(const Machine& machine) const override;
  void conclude(RunReport& report) const override;
  std::vector<View> views(const RunReport& report) const override;
  std::vector<Fact> facts(const RunReport& report) const override;

 private:
  std::vector<PlannedScenario> plan_of(const PlanInput& input,
                                       const std::vector<Bytes>& sizes) const;

  std::string stride_text_;
  SizesOption sizes_{Bytes{512 * mib}};
  ChainOrder order_ = ChainOrder::random;
  std::optional<Bytes> stride_;  ///< absent: the machine's cache line
};

void Latency::add_options(CLI::App& app) {
  sizes_.add_to(app, "memory of each worker");
  add_order_option(app, order_);
  add_value(app, "--stride", stride_text_, "BYTES",
            "distance between the nodes of the chain (default: a cache line)")
      ->group("Measurement");
}

Expected<void> Latency::parse_options() {
  if (auto sizes = sizes_.parse(); !sizes) return sizes;
  if (!stride_text_.empty()) {
    const auto stride = parse_bytes(stride_text_);
    if (!stride) {
      return fail(about("--stride", stride.error()));
    }
    stride_ = *stride;
  }
  return {};
}

Expected<std::vector<PlannedScenario>> Latency::plan(const PlanInput& input) const {
  if (!input.options.thread_counts.empty()) {
    return fail_usage("--threads", "latency takes one number", "run it once for each");
  }
  const auto with = [&](const std::vector<Bytes>& sizes) { return plan_of(input, sizes); };
  const std::vector<Bytes> sizes = sizes_.sizes(input, with);
  for (Bytes size : sizes) {
    const auto layout =
        ChainLayout::make(size, {order_, stride_.value_or(usual_line), Bytes{4096}, 1});
    if (!layout) return fail(layout.error());
  }
  return with(sizes);
}

std::vector<PlannedScenario> Latency::plan_of(const PlanInput& input,
                                              const std::vector<Bytes>& sizes) const {
  std::vector<PlannedScenario> plan;
  const auto workers = static_cast<int>(input.layout.workers.size());
  for (PageKind pages : input.options.pages) {
    for (Bytes size : sizes) {
      std::vector<Flow> flows;
      for (int worker = 0; worker < workers; ++worker) {
        flows.push_back(chase_flow(input, worker, size, pages, {order_, stride_}));
      }
      PlannedScenario planned;
      planned.head.name = fmt::format("{} {}", compact_text(size), name_of(pages));
      planned.head.size = size;
      planned.head.pages = name_of(pages);
      planned.head.order = name_of(order_);
      // The report has one for all; a serial point's is that of its first part.
      const Flow& named = input.options.serial ? flows.front() : flows.back();
      planned.head.stride = named.kernel.chain.stride;
      planned.scenario = {planned.head.name, {}, input.options.stop};
      add_point(plan, std::move(planned), std::move(flows), input.options.serial);
    }
  }
  return plan;
}

/// Half of each cache that a CPU sees, and what none holds.
std::string size_a_level(const Machine& machine, CpuId cpu) {
  std::string sizes;
  for (int level = 1; level <= 4; ++level) {
    const Cache* const cache = machine.cache_of(cpu, level);
    if (cache != nullptr) sizes += compact_text(Bytes{cache->size.value / 2}) + ",";
  }
  return sizes + "512MiB";
}

/// One worker a node that has CPUs, one after the other: every level of the memory as one CPU of
/// each node sees it when nothing else runs.
SurveyPart Latency::survey(const Machine& machine) const {
  std::string cpus;
  std::optional<CpuId> first;
  for (const NumaNode& node : machine.nodes) {
    const CpuSet usable = node.cpus & machine.usable_cpus();
    if (usable.empty()) continue;
    if (!first) first = usable.front();
    cpus += fmt::format("{}{}", cpus.empty() ? "" : ",", usable.front().value);
  }
  SurveyPart part{3, {}, ""};
  const auto add = [&](const std::string& sizes, const char* pages, const std::string& where,
                       const std::string& left_out) {
    SurveyWay way{{"--size", sizes, "--pages", pages, "--serial", "--skip-too-large", "--stats"},
                  left_out};
    if (!where.empty()) way.words.insert(way.words.end(), {"--cpus", where});
    part.ways.push_back(std::move(way));
  };
  add("16KiB-1GiB", "base,thp", cpus, "");
  add("16KiB,64KiB,256KiB,1,4,16,64,256,1GiB", "base,thp", cpus, "half of the sizes");
  const std::string few = size_a_level(machine, first.value_or(CpuId{0}));
  add(few, "base,thp", cpus, "sizes but one a cache level and one of memory");
  add(few, "base", first ? std::to_string(first->value) : "",
      "sizes but one a cache level and one of memory; huge pages; nodes but the first");
  return part;
}

/// What the misses of the TLB cost with the first kind of pages: how much less the others take.
void Latency::conclude(RunReport& report) const {
  for (ScenarioResult& one : report.scenarios) {
    for (const ScenarioResult& base : report.scenarios) {
      if (base.size != one.size || base.pages != report.scenarios.front().pages) continue;
      const auto more = estimate_of(base, "latency"), less = estimate_of(one, "latency");
      if (&base != &one && more && less)
        one.figures.push_back({"tlb_cost", "s", difference_of(*more, *less), std::nullopt});
    }
  }
}

std::vector<View> Latency::views(const RunReport& report) const {
  std::vector<View> views;
  const std::vector<CaseGroup> kinds = groups_of(report, {"pages"});
  const bool several = report.workers.size() > 1;
  for (const CaseGroup& kind : kinds) {
    const std::string of_pages = fmt::format(" ({} pages)", kind.labels.front().second);
    View view;
    view.kind = ViewKind::curve;
    view.level = ViewLevel::groups;
    view.where = kind.labels;
    view.title = "Latency of dependent loads in ns" + of_pages;
    view.notes = {
        "one row per size, one column per pair of nodes: those of the CPUs -> those of the memory"};
    if (several) view.notes.push_back("median of the pair's workers (lowest-highest)");
    view.rows = "size";
    view.columns = "nodes";
    view.cells = {label_column("size", "size"), label_column("fits", "level"),
                  figure_column("", "latency", in_ns, Part::spread)};
    views.push_back(view);
    if (!several) continue;
    view.kind = ViewKind::table;
    view.level = ViewLevel::flows;
    view.title = "Latency of each worker in ns" + of_pages;
    view.notes = {"one row per worker, one column per size"};
    view.rows = "";
    view.columns = "size";
    view.cells = {label_column("worker", "worker")};
    if (report.hosts.size() > 1) view.cells.push_back(label_column("host", "host"));
    if (report.ranks > 1) view.cells.push_back(label_column("rank", "rank"));
    for (const auto& [head, label] :
         {std::pair("CPU", "cpu"), std::pair("node", "cpu_node"), std::pair("memory", "memory")})
      view.cells.push_back(label_column(head, label));
    view.cells.push_back(figure_column("", "latency", in_ns));
    views.push_back(std::move(view));
  }
  if (kinds.size() < 2) return views;
  View view;
  view.kind = ViewKind::curve;
  view.title =
      fmt::format("What TLB misses cost in ns: latency with {} pages less that with others",
                  kinds.front().labels.front().second);
  view.notes = {"one row per size, one column per kind of pages; medians of all workers"};
  view.rows = "size";
  view.columns = "pages";
  view.cells = {label_column("size", "size"),
                figure_column("", "tlb_cost", in_ns, Part::with_interval)};
  views.push_back(std::move(view));
  return views;
}

/// Of all points of one cache level the one farthest from both its borders; of memory the largest.
const ScenarioResult* typical_point(std::vector<const ScenarioResult*> points, bool memory) {
  std::sort(points.begin(), points.end(),
            [](const auto* a, const auto* b) { return a->size < b->size; });
  // The largest size that a level holds shares it with whatever else is there.
  const std::size_t at = memory || points.size() == 1 ? points.size() - 1 : points.size() - 2;
  return points[at];
}

std::string level_of(const ScenarioResult& point) {
  return point.flows.empty() ? "-" : point.flows.front().level;
}

std::vector<Fact> Latency::facts(const RunReport& report) const {
  std::vector<Fact> facts;
  std::vector<std::string> kinds;
  for (const ScenarioResult& point : report.scenarios) {
    if (std::find(kinds.begin(), kinds.end(), point.pages) == kinds.end())
      kinds.push_back(point.pages);
  }
  for (const char* level : {"L1", "L2", "L3", "L4", "memory"}) {
    for (const std::string& pages : kinds) {
      const bool memory = std::string(level) == "memory";
      // Of a cache without the misses of the TLB, which those of the largest pages are nearest to.
      if (!memory && pages != kinds.back()) continue;
      std::vector<const ScenarioResult*> points;
      for (const ScenarioResult& point : report.scenarios) {
        if (point.pages == pages && level_of(point) == level && host_estimate_of(point, "latency"))
          points.push_back(&point);
      }
      if (points.empty()) continue;
      const ScenarioResult& point = *typical_point(points, memory);
      const std::string size = compact_text(point.size);
      facts.push_back(
          {memory ? "memory_latency" : "cache_latency",
           {{"level", level}, {"size", std::to_string(point.size.value)}, {"pages", pages}},
           fmt::format("latency of {} ({} at random, {} pages)", level, size, pages),
           "s",
           *host_estimate_of(point, "latency"),
           "Idle latency",
           memory ? fmt::format("memory {{}} ({}, {} pages)", size, pages)
                  : level + std::string(" {}")});
    }
  }
  return facts;
}

}  // namespace

std::unique_ptr<Benchmark> make_latency_benchmark() { return std::make_unique<Latency>(); }

}  // namespace numatlas
