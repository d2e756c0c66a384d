// Random access: how many accesses a second go to places of the memory that nothing foretells, as
// in hash tables and graphs; and gathers and scatters by a pattern of indices.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/product.h"
#include "base/units.h"
#include "base/whole.h"
#include "benchmarks/random/pattern.h"
#include "record/labels.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/flows.h"

namespace numatlas::benchmark_random {
namespace {

const Choices<Access> operations{{"read", Access::read},     {"write", Access::write},
                                 {"update", Access::update}, {"atomic", Access::atomic},
                                 {"gather", Access::gather}, {"scatter", Access::scatter}};

struct Options {
  std::vector<Access> chosen{Access::read, Access::write, Access::update, Access::atomic};
  std::string access_text = "8", pattern_text, delta_text;
  const CLI::Option *operation = nullptr, *access = nullptr;  ///< the app's
  std::vector<KernelSpec> kernels = {};
  std::vector<NamedPattern> patterns = {};
};

void add_options(Options& own, CLI::App& app) {
  own.operation = add_choices(
      app, "--operation", own.chosen, operations,
      "what is done at each place; an update reads, changes and writes\n"
      "Atomic updates are of memory that all workers share, the others of each worker's own. "
      "gather and scatter, the default with --pattern, read and write what its indices name");
  own.access =
      add_value(app, "--access", own.access_text, "BYTES,...", "bytes of an access, 8 to 256");
  add_value(app, "--pattern", own.pattern_text, "PATTERN",
            fmt::format("gather or scatter: {}", pattern_forms));
  rare(add_value(app, "--delta", own.delta_text, "WORDS",
                 "words of 8 bytes from one start of the pattern to the next (default: the "
                 "pattern's length, of laplacian 1)"));
}

bool of_pattern(Access access) { return access == Access::gather || access == Access::scatter; }

Expected<std::vector<unsigned>> parse_access(const std::string& text) {
  std::vector<unsigned> sizes;
  for (const std::string& word : words_of(text)) {
    const auto bytes = parse_whole(word, 8U, longest_access, "--access");
    if (!bytes || !std::has_single_bit(*bytes))
      return fail_usage("--access", fmt::format("'{}' is not 8, 16, 32, 64, 128 or 256", word));
    sizes.push_back(*bytes);
  }
  return sizes;
}

Expected<void> parse_kernels_of_patterns(Options& own) {
  own.patterns = TRY(parse_patterns(own.pattern_text));
  for (NamedPattern& pattern : own.patterns) {
    if (!own.delta_text.empty())
      pattern.work.delta =
          TRY(parse_whole(own.delta_text, std::uint64_t{1}, std::uint64_t{1} << 40, "--delta"));
    for (const Access access : own.chosen) {
      pattern.work.access = access;
      const KernelSpec kernel{pattern.work};
      const bool twice = std::ranges::find(own.kernels, kernel) != own.kernels.end();
      if (pattern.access.value_or(access) == access && !twice) own.kernels.push_back(kernel);
    }
  }
  if (own.kernels.empty())
    return fail_usage("--operation " + word_for(operations, own.chosen.front()),
                      fmt::format("{} has none", own.pattern_text), "leave --operation out");
  return {};
}

Expected<void> parse(Options& own, Benchmark& benchmark) {
  benchmark.is_of_memory = benchmark.given->sizes.empty();
  const bool patterned = !own.pattern_text.empty();
  if (patterned && own.operation->count() == 0) own.chosen = {Access::gather, Access::scatter};
  for (const Access access : own.chosen) {
    if (of_pattern(access) == patterned) continue;
    return fail_usage(
        "--operation " + word_for(operations, access),
        patterned ? "takes no --pattern" : "needs a --pattern",
        patterned ? "use gather or scatter" : std::string("such as ") + pattern_forms);
  }
  if (patterned && own.access->count() > 0)
    return fail_usage("--access", "does not go with --pattern", "leave one of them out");
  if (patterned) return parse_kernels_of_patterns(own);
  if (!own.delta_text.empty())
    return fail_usage("--delta", "needs --pattern", "add --pattern or leave --delta out");
  const auto accesses = TRY(parse_access(own.access_text));
  for_each_of(
      [&](Access access, unsigned bytes) {
        const KernelSpec kernel{RandomParameters{access, bytes}};
        if (std::ranges::find(own.kernels, kernel) == own.kernels.end())
          own.kernels.push_back(kernel);
      },
      own.chosen, accesses);
  return {};
}

/// Atomic updates: gives the flows of each rank the memory of all of them, which the first of them
/// places.
void share_memory(const PlanInput& input, std::vector<Flow>& flows) {
  std::map<int, std::vector<std::size_t>> of_rank;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const auto* const random = flows[i].kernel.find<RandomParameters>();
    if (random == nullptr || random->access != Access::atomic || input.options.serial) return;
    of_rank[worker_of(input, flows[i].worker).rank].push_back(i);
  }
  for (const auto& [rank, mine] : of_rank) {
    Region together = flows[mine.front()].region;
    together.bytes = {};
    for (const std::size_t i : mine) together.bytes.value += flows[i].region.bytes.value;
    for (const std::size_t i : mine) {
      flows[i].kernel.as<RandomParameters>().workers = mine.size();
      flows[i].region = together;
      if (i != mine.front()) flows[i].shares = static_cast<int>(mine.front());
    }
  }
}

/// One access or start of a pattern, as the report names it.
Labels labels_of(const Options& own, const KernelSpec& kernel) {
  if (const auto* const pattern = kernel.find<PatternParameters>()) {
    const auto named = std::ranges::find_if(own.patterns, [&](const NamedPattern& one) {
      return one.work.indices == pattern->indices && one.work.delta == pattern->delta;
    });
    return {{"pattern", named->name}, {"delta", std::to_string(pattern->delta)}};
  }
  return {{"access", std::to_string(kernel.as<RandomParameters>().bytes)}};
}

Expected<std::vector<AxisValue>> kernels(const Options& own, const PlanInput&) {
  std::vector<AxisValue> kernels;
  for (const KernelSpec& kernel : own.kernels) kernels.push_back({{name_of(kernel)}, kernel});
  return kernels;
}

Expected<Point> point(const Options& own, const PlanInput& input, const AxisSetting& now) {
  const auto& kernel = now.of<KernelSpec>();
  Point point{.labels = labels_of(own, kernel)};
  for (const int worker : workers_within(input.layout, now.threads)) {
    Flow& flow = point.flows.emplace_back(
        stream_flow(input, {name_of(kernel), kernel}, worker, now.size, now.pages));
    // Other places than those of any other worker.
    flow.kernel.seed += static_cast<std::uint64_t>(worker);
  }
  return point;
}

/// The kernel of a case; absent of another's.
std::optional<KernelSpec> kernel_of(const Options& own, const std::string& name,
                                    const ScenarioResult& visit) {
  for (const KernelSpec& kernel : own.kernels) {
    const auto labels = labels_of(own, kernel);
    const bool same = std::ranges::all_of(
        labels, [&](const auto& label) { return label_of(visit, label.first) == label.second; });
    if (same && name_of(kernel) == name) return kernel;
  }
  return std::nullopt;
}

/// Accesses a second, of the bytes that they move.
std::optional<Figure> accesses_of(const KernelSpec& kernel, const Figure* moved, const char* key) {
  if (kernel.find<RandomParameters>() == nullptr || moved == nullptr || !moved->estimate)
    return std::nullopt;
  const auto bytes = static_cast<double>(traffic_per_step(kernel).counted());
  return Figure{key, "1/s", scaled(*moved->estimate, 1 / bytes), std::nullopt};
}

std::vector<Figure> flow_figures(const Options& own, const FlowResult& flow,
                                 const ScenarioResult& visit) {
  const auto kernel = kernel_of(own, flow.kernel, visit);
  if (!kernel) return {};
  const auto accesses = accesses_of(*kernel, find_figure(flow, "bandwidth"), "accesses");
  return accesses ? std::vector{*accesses} : std::vector<Figure>{};
}

std::vector<Figure> totals(const Options& own, const ScenarioResult& visit, const RunReport&) {
  const auto kernel = kernel_of(own, visit.kernel, visit);
  if (!kernel) return {};
  std::vector<Figure> figures;
  const auto accesses =
      accesses_of(*kernel, find_figure(visit.figures, "bandwidth_sum"), "accesses_sum");
  if (accesses) figures.push_back(*accesses);
  const auto* const pattern = kernel->find<PatternParameters>();
  const double used =
      pattern != nullptr ? used_share(*pattern) : used_share(kernel->as<RandomParameters>());
  figures.push_back({"used_share", "1", Estimate(used), std::nullopt});
  return figures;
}

/// What both tables have.
std::vector<ViewColumn> columns(std::vector<ViewColumn> labels, std::vector<ViewColumn> figures) {
  std::vector<ViewColumn> all{label_column("operation", "kernel")};
  std::ranges::move(labels, std::back_inserter(all));
  for (const auto& [head, label] : {std::pair("size/worker", "size"), std::pair("fits", "level"),
                                    std::pair("nodes", "nodes"), std::pair("workers", "workers")})
    all.push_back(label_column(head, label));
  std::ranges::move(figures, std::back_inserter(all));
  all.push_back(figure_column("used", "used_share", in_percent, Part::value, 1, " %"));
  return all;
}

std::vector<Table> tables() {
  return {
      {.title = "Gather and scatter by {pattern}, delta {delta}, in GB/s ({pages} pages)",
       .apart = {"pages", "pattern"},
       .only = {"pattern"},
       .cells =
           columns({}, {figure_column("sum", "bandwidth_sum", in_gb_per_s),
                        figure_column(plus_minus(), "bandwidth_sum", in_gb_per_s, Part::half_width),
                        figure_column("worker median", "bandwidth", in_gb_per_s)}),
       .notes = {fmt::format(
                     "sum: the words moved by all workers in their common time; {}: half of its "
                     "95 % interval; used: share of each line that the pattern moves",
                     plus_minus()),
                 "delta: each start is so many words after the one before"}},
      {.title = "Random accesses: millions per second ({pages} pages)",
       .apart = {"pages", "pattern"},
       .only = {"access"},
       .cells = columns({label_column("bytes", "access")},
                        {figure_column("sum", "accesses_sum", in_millions, Part::value, 2),
                         figure_column(plus_minus(), "accesses_sum", in_millions, Part::half_width),
                         figure_column("worker median", "accesses", in_millions, Part::value, 2),
                         figure_column("GB/s", "bandwidth_sum", in_gb_per_s)}),
       .notes = {
           fmt::format(
               "sum: all workers in their common time (of updates 1,000 are a GUP/s); {}: half "
               "of its 95 % interval; GB/s: whole lines, as the kernel counts them; used: "
               "share of a line that an access uses",
               plus_minus()),
           "checked after each visit: reads by their sum, writes by their content, updates "
           "by undoing them; an error ends the run"}}};
}

SurveyPart survey(const Machine&) {
  return {0.5,
          {"--operation", "read,update,write,atomic"},
          {{"operations", {"kernel"}, 1, Keep::first}}};
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "random",
      .help =
          {.summary = "random accesses per second, gather and scatter",
           .listing = {Topic::memory, true},
           .description =
               "Each worker accesses 8 to 256 bytes at independent random places of its memory: it "
               "reads, writes, updates them (as HPCC RandomAccess, in GUP/s) or updates them "
               "atomically. No access waits for another: the CPU has as many under way as it can; "
               "latency --chains sets how many. With --pattern it gathers and scatters words by "
               "indices, as Spatter does.",
           .examples = {{"Reads per second by their size, of one CPU",
                         "numatlas random --operation read --threads 1 --access 8,64,256"},
                        {"Gathers of every fourth word",
                         "numatlas random --operation gather --pattern uniform:8:4"}}},
      .options = {.usual_threads = "OMP_NUM_THREADS, or one per CPU; one under a launcher"},
      .is_of_memory = true,
      .varies = {.size = "memory of each worker"},
      .sweeps = {{.point = with(point),
                  .name = "{kernel} {size} {pages}[ access {access}][ pattern {pattern} delta "
                          "{delta}][ {threads}]",
                  .axes = {{.labels = {"kernel"}, .values = with(kernels)}},
                  // Past the TLB as well.
                  .size = {.form = SizeRule::Form::by_worker, .least_together = least_chase},
                  .sized = share_memory}},
      .add_options = with(add_options),
      .parse_options = with(parse),
      .figures = {.of_flow = with(flow_figures), .totals = with(totals)},
      .shown = {.tables = tables(),
                .fact_rules = {{.figure = "bandwidth_sum",
                                .heading = "Gather and scatter",
                                .key = "indexed_accesses",
                                .where = {"kernel", "pattern", "delta", "workers"},
                                .words = "{kernel} by {pattern}, {workers|worker}, {pages} pages",
                                .line = "{kernel} by {pattern} {} ({workers|worker})",
                                .only = {"pattern"},
                                .best_of = {"kernel", "pattern", "delta"}},
                               {.figure = "accesses_sum",
                                .heading = "Random access",
                                .key = "random_accesses",
                                .where = {"kernel", "access", "workers"},
                                .words =
                                    "{kernel} of {access} bytes, {workers|worker}, {pages} pages",
                                .line = "{kernel} of {access} bytes {} ({workers|worker})",
                                .only = {"access"},
                                .best_of = {"kernel", "access"}}}},
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_random
