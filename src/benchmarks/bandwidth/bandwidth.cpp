// Bandwidth: every worker runs one of STREAM's operations, or plain reads, writes and mixes, on its
// own memory, all together. The sum is what all moved in the time in which all were recording.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/size_list.h"
#include "benchmarks/flows.h"
#include "benchmarks/sizes_option.h"
#include "record/labels.h"
#include "report/csv.h"

namespace numatlas {
namespace {

class Bandwidth final : public Benchmark {
 public:
  std::string name() const override { return "bandwidth"; }
  std::string summary() const override {
    return "bandwidth of reads, writes and STREAM's operations, by worker and in sum";
  }
  std::string description() const override {
    return "Each worker runs a kernel over its own memory, all at the same time unless --serial. "
           "Bytes\n"
           "are counted as STREAM counts them; the traffic with the lines that ordinary stores "
           "fetch\n"
           "before they write stands beside. The sum is what all workers moved in the time in "
           "which\n"
           "all were recording.";
  }
  void add_options(CLI::App& app) override;
  Expected<void> parse_options() override;
  int default_threads(const RunOptions&) const override { return 0; }
  Expected<std::vector<PlannedScenario>> plan(const PlanInput& input) const override;
  std::string main_metric() const override { return "bandwidth"; }
  /// One row per size has no place for several kernels, stores or numbers of threads.
  std::string csv_file(const RunReport& report, const RunOptions& options) const override {
    const bool several = choices_.size() > 1 || !options.thread_counts.empty();
    return several ? tidy_csv(report) : Benchmark::csv_file(report, options);
  }
  SurveyPart survey(const Machine& machine) const override;
  std::vector<View> views(const RunReport& report) const override;

 private:
  std::vector<PlannedScenario> plan_of(const PlanInput& input,
                                       const std::vector<Bytes>& sizes) const;
  PlannedScenario point(const PlanInput& input, const Choice& choice, Bytes size, PageKind pages,
                        int threads) const;

  KernelOptions kernels_{"read,write,copy,scale,add,triad", ""};
  SizesOption sizes_{usual_size};
  std::vector<Choice> choices_;
};

void Bandwidth::add_options(CLI::App& app) {
  sizes_.add_to(app, "memory a worker, all arrays together");
  kernels_.add_to(app);
}

Expected<void> Bandwidth::parse_options() {
  if (auto sizes = sizes_.parse(); !sizes) return sizes;
  auto choices = kernels_.parse();
  if (!choices) return fail(choices.error());
  choices_ = *std::move(choices);
  return {};
}

PlannedScenario Bandwidth::point(const PlanInput& input, const Choice& choice, Bytes size,
                                 PageKind pages, int threads) const {
  PlannedScenario planned;
  std::string name =
      fmt::format("{} {} {}", choice.short_name(), compact_text(size), name_of(pages));
  if (!input.options.thread_counts.empty())
    name += fmt::format(" {} thread{}", threads, threads == 1 ? "" : "s");
  planned.head.name = name;
  planned.head.size = size;
  planned.head.pages = name_of(pages);
  planned.head.kernel = choice.name;
  planned.head.stores = choice.stores();
  planned.scenario = {name, {}, input.options.stop};
  planned.scenario.stop.to_the_end = true;
  return planned;
}

Expected<std::vector<PlannedScenario>> Bandwidth::plan(const PlanInput& input) const {
  const auto with = [&](const std::vector<Bytes>& sizes) { return plan_of(input, sizes); };
  const std::vector<Bytes> sizes = sizes_.sizes(input, with);
  for (Bytes size : sizes) {
    for (const Choice& choice : choices_) {
      if (auto fits = (*make_kernel(choice.spec))->check_size(size); !fits)
        return fail(fits.error());
    }
  }
  return with(sizes);
}

std::vector<PlannedScenario> Bandwidth::plan_of(const PlanInput& input,
                                                const std::vector<Bytes>& sizes) const {
  std::vector<int> counts = input.options.thread_counts;
  if (counts.empty()) counts = {std::numeric_limits<int>::max()};
  std::vector<PlannedScenario> plan;
  for (PageKind pages : input.options.pages) {
    for (Bytes size : sizes) {
      for (const Choice& choice : choices_) {
        for (int threads : counts) {
          std::vector<Flow> flows;
          for (std::size_t worker = 0; worker < input.layout.workers.size(); ++worker) {
            if (input.layout.workers[worker].placement.thread >= threads) continue;
            flows.push_back(stream_flow(input, choice, static_cast<int>(worker), size, pages));
          }
          add_point(plan, point(input, choice, size, pages, threads), std::move(flows),
                    input.options.serial);
        }
      }
    }
  }
  return plan;
}

std::vector<View> Bandwidth::views(const RunReport& report) const {
  std::vector<View> views;
  for (const CaseGroup& group : groups_of(report, {"pages"})) {
    View view;
    view.title = fmt::format("Bandwidth in GB/s (pages: {}; kernels: {})",
                             group.labels.front().second, report.isa);
    view.where = group.labels;
    view.notes = {
        "sum: all workers over their common time, bytes counted as STREAM does; +-: half of its 95 "
        "% interval",
        "moved: with the lines that regular (write-allocate) stores read first; less if the CPU "
        "avoids that"};
    view.cells = {label_column("kernel", "kernel"),
                  label_column("stores", "stores"),
                  label_column("size/worker", "size"),
                  label_column("fits", "level"),
                  label_column("nodes", "nodes"),
                  label_column("workers", "workers"),
                  figure_column("sum", "bandwidth_sum", in_gb_per_s),
                  figure_column("+-", "bandwidth_sum", in_gb_per_s, Part::half_width),
                  figure_column("moved", "traffic_sum", in_gb_per_s),
                  figure_column("worker median", "bandwidth", in_gb_per_s),
                  figure_column("lowest", "bandwidth", in_gb_per_s, Part::least),
                  figure_column("highest", "bandwidth", in_gb_per_s, Part::most)};
    views.push_back(std::move(view));
  }
  return views;
}

/// All CPUs together and one alone.
SurveyPart Bandwidth::survey(const Machine& machine) const {
  const auto cpus = std::to_string(std::max<std::size_t>(1, machine.usable_cpus().size()));
  const auto words = [&](const char* kernels, const char* mix, bool all_stores,
                         const std::string& size) {
    const bool both = all_stores && has_non_temporal_stores();
    std::vector<std::string> options{"--kernels",       kernels,
                                     "--mix",           mix,
                                     "--stores",        both ? "ordinary,non-temporal" : "ordinary",
                                     "--threads",       cpus == "1" ? "1" : "1," + cpus,
                                     "--skip-too-large"};
    if (!size.empty()) options.insert(options.end(), {"--size", size});
    return options;
  };
  // Together they are to be beyond the cache that they share; not more, where there are many. The
  // usual size ("") is, and is less where nodes are small.
  std::string little = "64";
  const CpuSet usable = machine.usable_cpus();
  const Cache* const last = usable.empty() ? nullptr : machine.last_level_cache_of(usable.front());
  if (last != nullptr && last->size.value * 2 / mib > 64 * last->cpus.size()) little = "";
  return {2,
          {SurveyWay{words("read,copy,triad", "2:1", true, ""), ""},
           SurveyWay{words("read,triad", "none", true, ""), "copies and the mix"},
           SurveyWay{words("read,triad", "none", false, little),
                     "copies, the mix and non-temporal stores"}},
          ""};
}

}  // namespace

std::unique_ptr<Benchmark> make_bandwidth_benchmark() { return std::make_unique<Bandwidth>(); }

}  // namespace numatlas
