// Idle latency: a measured pointer chase a worker, all together or (--serial) one after the other.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/size_list.h"
#include "benchmarks/flows.h"
#include "benchmarks/sizes_option.h"
#include "report/worker_table.h"

namespace numatlas {
namespace {

class Latency final : public Benchmark {
 public:
  std::string name() const override { return "latency"; }
  std::string summary() const override {
    return "latency of dependent loads, a worker a CPU, over sizes";
  }
  std::string description() const override {
    return "Each worker walks a random cycle through all lines of its own memory, one dependent "
           "load\n"
           "a step. All workers measure at the same time unless --serial. Sizes within a cache "
           "show\n"
           "that cache, larger ones the memory and, with base pages, the TLB's misses.";
  }
  void add_options(CLI::App& app) override;
  Expected<void> parse_options() override;
  int default_threads(const RunOptions& options) const override {
    return options.placement.cpus.is_default ? 1 : 0;
  }
  Expected<std::vector<PlannedScenario>> plan(const PlanInput& input) const override;
  std::string main_metric() const override { return "latency"; }
  SurveyPart survey(const Machine& machine) const override;
  std::string table(const RunReport& report, const RunOptions& options) const override;

 private:
  std::vector<PlannedScenario> plan_of(const PlanInput& input,
                                       const std::vector<Bytes>& sizes) const;

  std::string order_text_ = "random", stride_text_;
  SizesOption sizes_{Bytes{512 * mib}};
  ChainOrder order_ = ChainOrder::random;
  std::optional<Bytes> stride_;  ///< absent: the machine's cache line
};

void Latency::add_options(CLI::App& app) {
  sizes_.add_to(app, "memory a worker");
  app.add_option("--order", order_text_, "random, page-local (TLB-friendly), sequential")
      ->type_name("ORDER")
      ->capture_default_str()
      ->group("Measurement");
  app.add_option("--stride", stride_text_,
                 "bytes between nodes of the chain (default: a cache line)")
      ->type_name("BYTES")
      ->group("Measurement");
}

Expected<void> Latency::parse_options() {
  if (auto sizes = sizes_.parse(); !sizes) return sizes;
  const auto order = parse_chain_order(order_text_);
  if (!order) return fail(order.error());
  order_ = *order;
  if (!stride_text_.empty()) {
    const auto stride = parse_bytes(stride_text_);
    if (!stride) {
      return fail(ErrorKind::usage, "--stride: " + stride.error().message, stride.error().hint);
    }
    stride_ = *stride;
  }
  return {};
}

Expected<std::vector<PlannedScenario>> Latency::plan(const PlanInput& input) const {
  if (!input.options.thread_counts.empty()) {
    return fail(ErrorKind::usage, "--threads: latency takes one number", "run it once for each");
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

std::string Latency::table(const RunReport& report, const RunOptions& options) const {
  std::string text;
  for (const std::string& kind : page_kinds_of(report)) {
    if (options.pages.size() > 1) text += fmt::format("pages asked: {}\n", kind);
    text += worker_table(report, "latency", kind, false) + "\n";
    text += "Median over the workers of each pair of nodes (ns)\n";
    text += pair_table(report, "latency", kind) + "\n";
  }
  const std::string kinds = page_kind_table(report, "latency");
  if (!kinds.empty())
    text +=
        "Median of all workers by page kind (ns); the difference is what the TLB misses of the "
        "smaller "
        "pages cost\n" +
        kinds + "\n";
  if (options.stats) text += "All cells (ns)\n" + stats_table(report, "latency") + "\n";
  return text + notes_text(report);
}

}  // namespace

std::unique_ptr<Benchmark> make_latency_benchmark() { return std::make_unique<Latency>(); }

}  // namespace numatlas
