// Random access: how many accesses a second go to places of the memory that nothing foretells, as
// in hash tables and graphs; and gathers and scatters by a pattern of indices.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/product.h"
#include "base/text.h"
#include "base/units.h"
#include "base/whole.h"
#include "benchmarks/extremes.h"
#include "benchmarks/random/pattern.h"
#include "record/cache_level.h"
#include "record/labels.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/flows.h"
#include "run/room.h"
#include "run/sizes_option.h"

namespace numatlas::benchmark_random {
namespace {

const Choices<Access> operations{{"read", Access::read},     {"write", Access::write},
                                 {"update", Access::update}, {"atomic", Access::atomic},
                                 {"gather", Access::gather}, {"scatter", Access::scatter}};

struct Options {
  std::vector<Access> chosen{Access::read, Access::write, Access::update, Access::atomic};
  std::string access_text = "8", pattern_text, delta_text;
  SizesOption sizes{past_caches_words};
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
  own.sizes.add_to(app, "memory of each worker");
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
  TRY(own.sizes.parse());
  benchmark.is_of_memory = own.sizes.given().empty();
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

/// Whether the workers of a rank work on the same memory.
bool shares_memory(const PlanInput& input, const KernelSpec& kernel) {
  const auto* const random = kernel.find<RandomParameters>();
  return random != nullptr && random->access == Access::atomic && !input.options.serial;
}

/// Gives the flows of each rank the memory of all of them, which the first of them places.
void share_memory(const PlanInput& input, std::vector<Flow>& flows) {
  std::map<int, std::vector<std::size_t>> of_rank;
  for (std::size_t i = 0; i < flows.size(); ++i)
    of_rank[worker_of(input, flows[i].worker).rank].push_back(i);
  for (const auto& [rank, mine] : of_rank) {
    Flow& owner = flows[mine.front()];
    Bytes together;
    for (const std::size_t i : mine) together.value += flows[i].region.bytes.value;
    owner.region.bytes = together;
    for (const std::size_t i : mine) {
      Flow& flow = flows[i];
      flow.kernel.as<RandomParameters>().workers = mine.size();
      flow.region = owner.region;
      if (i != mine.front()) flow.shares = static_cast<int>(mine.front());
    }
  }
}

/// One access or start of a pattern, as the report names it.
std::vector<std::pair<std::string, std::string>> labels_of(const Options& own,
                                                           const KernelSpec& kernel) {
  if (const auto* const pattern = kernel.find<PatternParameters>()) {
    const auto named = std::ranges::find_if(own.patterns, [&](const NamedPattern& one) {
      return one.work.indices == pattern->indices && one.work.delta == pattern->delta;
    });
    return {{"pattern", named->name}, {"delta", std::to_string(pattern->delta)}};
  }
  return {{"access", std::to_string(kernel.as<RandomParameters>().bytes)}};
}

PlannedScenario point(const Options& own, const PlanInput& input, const KernelSpec& kernel,
                      Bytes size, PageKind pages, int threads) {
  std::vector<Flow> flows;
  for (const int worker : workers_within(input.layout, threads)) {
    Flow flow = stream_flow(input, {name_of(kernel), kernel}, worker, size, pages);
    // Other places than those of any other worker.
    flow.kernel.seed += static_cast<std::uint64_t>(worker);
    flows.push_back(std::move(flow));
  }
  if (own.sizes.given().empty()) size = fit_to_room(input, size, flows);
  if (shares_memory(input, kernel)) share_memory(input, flows);
  std::string name = fmt::format("{} {} {}", name_of(kernel), compact_text(size), name_of(pages));
  const auto labels = labels_of(own, kernel);
  for (const auto& [label, text] : labels) name += fmt::format(" {} {}", label, text);
  if (!input.options.thread_counts.empty()) name += " " + count_text(threads, "thread");
  PlannedScenario planned = new_point(input, std::move(name), size, pages);
  planned.head.labels = labels;
  planned.scenario.flows = std::move(flows);
  return planned;
}

/// What no cache holds and, of few workers, no TLB.
Bytes usual_size_of(const PlanInput& input, int threads) {
  const std::vector<int> workers = workers_within(input.layout, threads);
  const std::uint64_t each = least_chase.value / std::max<std::size_t>(1, workers.size());
  return size_past_caches(input, workers, std::max(least_past_caches, Bytes{each}));
}

Expected<Plan> plan(const Options& own, const PlanInput& input) {
  std::vector<int> counts = input.options.thread_counts;
  if (counts.empty()) counts = {std::numeric_limits<int>::max()};
  std::vector<Bytes> sizes = own.sizes.given();
  if (sizes.empty()) sizes.emplace_back();
  for (const Bytes size : own.sizes.given()) {
    for (const KernelSpec& kernel : own.kernels) {
      TRY(check_size(kernel, size));
    }
  }
  Plan plan;
  for_each_of(
      [&](PageKind pages, Bytes size, const KernelSpec& kernel, int threads) {
        const Bytes its = own.sizes.given().empty() ? usual_size_of(input, threads) : size;
        add_point(plan, point(own, input, kernel, its, pages, threads), input.options.serial);
      },
      input.pages, sizes, own.kernels, counts);
  for (const PlannedScenario& planned : plan) {
    for (const Flow& flow : planned.scenario.flows) {
      TRY(check_size(flow.kernel, flow.region.bytes));
    }
  }
  return plan;
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

/// What all tables of a case have.
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

std::vector<View> views(const RunReport& report) {
  std::vector<View> views;
  for (const CaseGroup& group : groups_of(report, {"pages", "pattern"})) {
    View view;
    view.where = group.labels;
    const ScenarioResult& any = *group.cases.front();
    const std::string pattern = label_of(any, "pattern");
    if (!pattern.empty()) {
      view.title = fmt::format("Gather and scatter by {}, delta {}, in GB/s ({} pages)", pattern,
                               label_of(any, "delta"), any.pages);
      view.notes = {
          fmt::format("sum: the words moved by all workers in their common time; {}: half of its "
                      "95 % interval; used: share of each line that the pattern moves",
                      plus_minus()),
          "delta: each start is so many words after the one before"};
      view.cells =
          columns({}, {figure_column("sum", "bandwidth_sum", in_gb_per_s),
                       figure_column(plus_minus(), "bandwidth_sum", in_gb_per_s, Part::half_width),
                       figure_column("worker median", "bandwidth", in_gb_per_s)});
    } else {
      view.title = fmt::format("Random accesses: millions per second ({} pages)", any.pages);
      view.notes = {
          fmt::format("sum: all workers in their common time (of updates 1,000 are a GUP/s); {}: "
                      "half of its 95 % interval; GB/s: whole lines, read and written; used: share "
                      "of a line "
                      "that an access uses",
                      plus_minus()),
          "checked after each visit: reads by their sum, writes by their content, updates by "
          "undoing "
          "them; an error ends the run"};
      view.cells =
          columns({label_column("bytes", "access")},
                  {figure_column("sum", "accesses_sum", in_millions, Part::value, 2),
                   figure_column(plus_minus(), "accesses_sum", in_millions, Part::half_width),
                   figure_column("worker median", "accesses", in_millions, Part::value, 2),
                   figure_column("GB/s", "bandwidth_sum", in_gb_per_s)});
    }
    views.push_back(std::move(view));
  }
  return views;
}

/// Words moved a second by the indices of a pattern.
Fact fact_of_pattern(const ScenarioResult& most) {
  const std::string workers = count_text(most.flows.size(), "worker");
  const std::string words =
      most.kernel.substr(most.kernel.find('-') + 1) + " by " + label_of(most, "pattern");
  return {"indexed_accesses",
          {{"kernel", most.kernel},
           {"pattern", label_of(most, "pattern")},
           {"delta", label_of(most, "delta")},
           {"workers", std::to_string(most.flows.size())}},
          fmt::format("{}, {}, {} pages", words, workers, most.pages),
          "B/s",
          *host_estimate_of(most, "bandwidth_sum"),
          "Gather and scatter",
          fmt::format("{} {{}} ({})", words, workers)};
}

/// Accesses a second at random places.
Fact fact_of_random(const ScenarioResult& most) {
  const std::string workers = count_text(most.flows.size(), "worker");
  const std::string bytes = fmt::format("of {} bytes", label_of(most, "access"));
  const std::string operation = most.kernel.substr(most.kernel.find('-') + 1);
  return {"random_accesses",
          {{"kernel", most.kernel},
           {"access", label_of(most, "access")},
           {"workers", std::to_string(most.flows.size())}},
          fmt::format("{} {}, {}, {} pages", most.kernel, bytes, workers, most.pages),
          "1/s",
          *host_estimate_of(most, "accesses_sum"),
          "Random access",
          fmt::format("{} {} {{}} ({})", operation == "atomic" ? "atomic updates" : operation + "s",
                      bytes, workers)};
}

/// Of each operation the most that memory has given.
std::vector<Fact> facts(const RunReport& report) {
  std::vector<Fact> facts;
  for (const CaseGroup& group : groups_of(report, {"kernel", "access", "pattern", "delta"})) {
    const bool indexed = !label_of(*group.cases.front(), "pattern").empty();
    const auto rate = [indexed](const ScenarioResult* one) {
      const char* const figure = indexed ? "bandwidth_sum" : "accesses_sum";
      return cache_text(*one).empty() ? value_of(host_estimate_of(*one, figure)) : std::nullopt;
    };
    if (const auto* const most = highest_of(group.cases, rate))
      facts.push_back(indexed ? fact_of_pattern(**most) : fact_of_random(**most));
  }
  return facts;
}

SurveyPart survey(const Machine&) {
  const auto way = [](const std::string& chosen, const std::string& left_out) {
    return SurveyWay{{"--operation", chosen, "--skip-too-large"}, left_out};
  };
  return {0.5,
          {way("read,update,write,atomic", ""), way("read,update", "writes and atomic updates"),
           way("read", "writes and updates")},
          ""};
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "random",
      .summary = "random accesses per second, gather and scatter",
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
                    "numatlas random --operation gather --pattern uniform:8:4"}},
      .usual_threads = "OMP_NUM_THREADS, or one per CPU; one under a launcher",
      .is_of_memory = true,
      .add_options = with(add_options),
      .parse_options = with(parse),
      .plan = with(plan),
      .flow_figures = with(flow_figures),
      .totals = with(totals),
      .views = views,
      .facts = facts,
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_random
