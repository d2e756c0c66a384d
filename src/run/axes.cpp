#include "run/axes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/product.h"
#include "base/text.h"
#include "base/units.h"
#include "engine/sharing.h"
#include "record/labels.h"
#include "report/filled.h"
#include "report/rules.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/executor.h"
#include "run/flows.h"
#include "run/levels.h"
#include "run/room.h"

namespace numatlas {
namespace {

// Options -----------------------------------------------------------------------------------------

/// The options of the common axes, as given.
struct Given {
  std::string sizes = {};
  std::optional<KernelOptions> kernels = {};
  std::vector<Stores> stores{Stores::regular};
  std::string isa = {};
  std::map<std::string, std::string> own_sizes = {};
  std::string on = "cpus";
  const CLI::App* app = nullptr;
};

bool has_own_size(const Sweep& sweep) { return *sweep.size.option != '\0'; }

void add_sizes_option(CLI::App& app, const CommonAxes& varies, std::string& text) {
  std::string usual = *varies.usual_size == '\0' ? past_caches_words : varies.usual_size;
  // After a line break stands what else is to be said.
  usual.insert(std::min(usual.find('\n'), usual.size()), ")");
  add_value(app, "--size", text, varies.one_size ? "SIZE" : "SIZES",
            fmt::format("{}{} (default: {}\n"
                        "{}The default is less where that is more than half of a node's free "
                        "memory",
                        varies.size,
                        varies.one_size ? ", in MiB or with a unit"
                                        : ": 512 (MiB), 48KiB, 1MiB-2GiB or a list",
                        usual, varies.one_size ? "" : "A range has the powers of two. "));
}

void add_options(Given& given, const Benchmark& benchmark, CLI::App& app) {
  given.app = &app;
  if (benchmark.by_gpus) {
    const auto refuses_memory =
        std::ranges::count(benchmark.options.refused, "--memory", &Refusal::option);
    add_on_option(app, given.on, refuses_memory == 0);
  }
  benchmark.add_options(app);
  for (const Sweep& sweep : benchmark.sweeps) {
    for (const Axis& axis : sweep.axes) {
      if (!axis.declared) axis.add_option(app);
    }
  }
  const CommonAxes& varies = benchmark.varies;
  if (*varies.size != '\0') {
    add_sizes_option(app, varies, given.sizes);
  }
  for (const Sweep& sweep : benchmark.sweeps) {
    const SizeRule& rule = sweep.size;
    if (!has_own_size(sweep)) continue;
    std::string& text = given.own_sizes[rule.option] = rule.unless_given;
    rare(add_value(app, rule.option, text, "SIZES", rule.help));
  }
  if (!varies.kernels.empty()) {
    given.kernels.emplace(varies.kernels, varies.mixes);
    given.kernels->add_to(app, varies.kernels_are);
  } else if (varies.stores) {
    add_stores_option(app, given.stores);
    add_isa_option(app, given.isa);
  }
}

Expected<void> check_executor(const ByGpus& how, const CLI::App& app, bool gpus) {
  for (const std::string& option : gpus ? how.cpu_options : how.gpu_options) {
    if (app.count(option) > 0)
      return fail_usage(option, fmt::format("applies only to {}", gpus ? "CPUs" : "GPUs"),
                        gpus ? "leave out either it or --on" : "add --on gpus");
  }
  return {};
}

Expected<GivenAxes> parse_options(Given& given, const Benchmark& benchmark) {
  GivenAxes axes;
  axes.gpus = TRY(parse_on(given.on));
  if (benchmark.by_gpus) TRY(check_executor(*benchmark.by_gpus, *given.app, axes.gpus.has_value()));
  if (!given.sizes.empty())
    axes.sizes = benchmark.varies.one_size
                     ? std::vector{TRY(parse_one_size(given.sizes, benchmark.name))}
                     : TRY(parse_sizes(given.sizes));
  for (const auto& [option, text] : given.own_sizes) {
    auto sizes = parse_sizes(text);
    if (!sizes) return fail(renamed(sizes.error(), "--size", option));
    axes.own_sizes[option] = *std::move(sizes);
  }
  if (given.kernels) {
    axes.choices = TRY(given.kernels->parse());
    axes.kernel_option = given.kernels->given();
    if (axes.gpus) axes.choices = TRY(gpu_choices(axes.choices, axes.kernel_option));
  } else {
    TRY(of_option("--isa", use_instruction_set(given.isa)));
    TRY(check_stores(given.stores));
    for (Stores stores : given.stores) axes.choices.push_back({"", {{}, stores}, true});
  }
  for (const Sweep& sweep : benchmark.sweeps) {
    for (const Axis& axis : sweep.axes) {
      if (!axis.declared) TRY(axis.parse());
    }
  }
  return axes;
}

// Sizes -------------------------------------------------------------------------------------------

/// What a worker has at least.
Bytes least_of(const PlanInput& input, const SizeRule& rule, const std::vector<Flow>& flows) {
  const bool alone = rule.alone || input.options.serial;
  const std::size_t workers = alone ? 1 : std::max<std::size_t>(1, flows.size());
  return std::max(rule.least, Bytes{rule.least_together.value / workers});
}

/// Where memory of this region lies: where nobody says, on the node of who touches it first.
NodeSet nodes_of(const PlanInput& input, const Flow& flow, const Region& region) {
  const NodeSet nodes = region.placement.in_force().node_set();
  const NodeId own = worker_of(input, toucher_of(flow)).placement.cpu_node;
  return nodes.empty() && own.value >= 0 ? NodeSet{own} : nodes;
}

/// What each of these workers has to use so that all of them are past the caches between them and
/// their memory; of a copy, of what it reads and of what it writes.
Bytes past_caches_of(const PlanInput& input, const SizeRule& rule, const std::vector<Flow>& flows) {
  Bytes size = least_of(input, rule, flows);
  const auto consider = [&](const std::vector<Flow>& together, bool sources) {
    std::vector<int> workers;
    NodeSet nodes;
    for (const Flow& flow : together) {
      workers.push_back(flow.worker);
      nodes = nodes | nodes_of(input, flow, sources && flow.source ? *flow.source : flow.region);
    }
    size = std::max(size, size_past_caches(input, workers, size, nodes));
  };
  const bool copies =
      std::ranges::any_of(flows, [](const Flow& flow) { return flow.source.has_value(); });
  for (const bool sources : copies ? std::vector{false, true} : std::vector{false}) {
    if (!rule.alone && !input.options.serial) {
      consider(flows, sources);
      continue;
    }
    for (const Flow& flow : flows) consider({flow}, sources);
  }
  return size;
}

/// Where a node has so little room that its worker's memory fits a cache, and other nodes of its
/// host have more: figures of memory are those of the others.
void leave_out_cached(const PlanInput& input, std::vector<Flow>& flows) {
  Scenario together;
  together.flows = flows;
  std::map<int, Bytes> largest;  // of a host
  const auto host_of = [&](const Flow& flow) { return worker_of(input, flow.worker).host; };
  for (const Flow& flow : flows)
    largest[host_of(flow)] = std::max(largest[host_of(flow)], flow.region.bytes);
  flows.clear();
  for (const Flow& flow : together.flows) {
    const std::string level =
        level_of_flow(machine_of(input, flow.worker), input.layout, together, flow);
    if (flow.region.bytes == largest[host_of(flow)] || level == "memory" || level == "-")
      flows.push_back(flow);
  }
}

/// Gives each of these flows what is past its own caches and has room. The largest of them.
Bytes size_by_worker(const PlanInput& input, const SizeRule& rule, const AxisSetting& now,
                     std::vector<Flow>& flows) {
  const bool alone = rule.alone || input.options.serial;
  std::vector<int> workers;
  for (const Flow& flow : flows) workers.push_back(flow.worker);
  const Bytes least = least_of(input, rule, flows);
  Bytes largest = now.size;
  for (Flow& flow : flows) {
    const auto together = alone ? std::vector{flow.worker} : workers;
    flow.region.bytes = size_past_own_caches(input, together, flow.worker, now.size, least);
    largest = std::max(largest, flow.region.bytes);
  }
  largest = fit_to_room(input, largest, flows);
  // Numbers of threads are compared: a row has as many as it says.
  if (now.threads == all_threads && rule.leaves_out) leave_out_cached(input, flows);
  return largest;
}

/// Of a run without --size: which workers' memory has no room.
std::string left_out_text(const RunReport& report, const RunOptions& options) {
  // Else a point has some of the workers only, and what was not measured looks left out.
  if (options.serial || !options.thread_counts.empty()) return "";
  CpuSet left_out;
  bool measured = false;
  for (const WorkerRow& worker : report.workers) left_out = left_out | worker.cpus;
  for (const Case& one : report.cases) {
    for (const FlowResult& flow : one.flows)
      left_out = left_out - report.workers[static_cast<std::size_t>(flow.worker)].cpus;
    measured = measured || !one.flows.empty();
  }
  if (left_out.empty() || !measured) return "";
  return fmt::format(
      "CPUs {} are left out: their nodes have no room for more than their caches hold (--size "
      "measures them)\n",
      to_list(left_out));
}

/// At most `size`, alike for all of these flows: what has room. As if both ends of a copy lay on
/// one of its nodes, so that copies within a node and between two like it have one size.
Bytes fitting_size(const PlanInput& input, Bytes size, const std::vector<Flow>& flows) {
  size = size_with_room(input, size, flows);
  if (!flows.front().source) return size;
  std::vector<Flow> there = flows, here = flows;
  for (Flow& flow : there) flow.source->placement = flow.region.placement;
  for (Flow& flow : here) flow.region.placement = flow.source->placement;
  return size_with_room(input, size_with_room(input, size, there), here);
}

// Plan --------------------------------------------------------------------------------------------

/// Values of the own axes that stand together.
struct OwnValues {
  std::vector<const std::any*> values = {};
  Labels labels = {}, names = {};  ///< of cases; of their names
  bool asked = true, later = false;
};

bool is_of_every_case(const std::string& label) {
  return label == "kernel" || label == "order" || label == "stride";
}

std::vector<OwnValues> product_of(const std::vector<Axis>& axes,
                                  const std::vector<std::vector<AxisValue>>& values) {
  std::vector<OwnValues> all{OwnValues{}};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::vector<OwnValues> longer;
    for_each_of(
        [&](const OwnValues& before, const AxisValue& value) {
          OwnValues& now = longer.emplace_back(before);
          now.values.push_back(&value.value);
          now.asked = now.asked && value.asked;
          now.later = now.later || value.later;
          for (std::size_t k = 0; k < axes[i].labels.size(); ++k) {
            now.names.emplace_back(axes[i].labels[k], value.labels[k]);
            if (!value.labels[k].empty() && !is_of_every_case(axes[i].labels[k]))
              now.labels.push_back(now.names.back());
          }
          now.names.insert(now.names.end(), value.names.begin(), value.names.end());
        },
        all, values[i]);
    all = std::move(longer);
  }
  return all;
}

/// Makes the points of a sweep.
class Planner {
 public:
  Planner(const Sweep& sweep, bool sized, const GivenAxes& given, const PlanInput& input)
      : sweep_(sweep),
        asked_(has_own_size(sweep) ? given.own_sizes.at(sweep.size.option) : given.sizes),
        chooses_size_(sized && asked_.empty()),
        given_(given),
        input_(input) {}

  /// Finds the values of the own axes, once a plan.
  Expected<void> find_values() {
    for (const Axis& axis : sweep_.axes) values_.push_back(TRY(axis.values(input_)));
    own_ = product_of(sweep_.axes, values_);
    return {};
  }

  /// `alike`: the size of all points, where nobody gave one and it is known.
  Expected<void> add(PageKind pages, std::optional<Bytes> alike, Plan& plan) {
    alike_ = alike;
    std::vector<Bytes> sizes = asked_;
    if (sizes.empty()) sizes.emplace_back();  // that of the rule
    if (chooses_size_ && sweep_.size.smaller) {
      Plan largest;
      TRY(add_sizes(pages, sizes, largest));
      if (!largest.empty()) sizes = sweep_.size.smaller(input_, largest.front().head.size);
      sizes.emplace_back();
    }
    return add_sizes(pages, sizes, plan);
  }

  Expected<void> add_later(const LaterCase& one, Plan& plan) const {
    std::vector<std::vector<AxisValue>> values;
    for (const AxisValue& value : one.own) values.push_back({value});
    const OwnValues own = product_of(sweep_.axes, values).front();
    const Bytes size = given_.size().value_or(Bytes{});
    return add_case_of({one.pages, size, {}, all_threads, own.values}, own, plan);
  }

 private:
  Expected<void> add_sizes(PageKind pages, const std::vector<Bytes>& sizes, Plan& plan) const {
    Expected<void> state;
    for_each_of(
        [&](Bytes size, const Choice& choice, const OwnValues& own, int threads) {
          if (state) state = add_case_of({pages, size, choice, threads, own.values}, own, plan);
        },
        sizes, sweep_.of_kernels ? given_.choices : std::vector{Choice{}}, own_, counts());
    return state;
  }

  bool compares_threads() const {
    return sweep_.threads.compared &&
           (!input_.options.thread_counts.empty() || sweep_.threads.usual);
  }
  std::vector<int> counts() const {
    if (!sweep_.threads.compared) return {all_threads};
    if (!input_.options.thread_counts.empty()) return input_.options.thread_counts;
    if (sweep_.threads.usual) return sweep_.threads.usual(input_);
    return {input_.options.placement.threads.value_or(all_threads)};
  }

  Expected<void> add_case_of(AxisSetting now, const OwnValues& own, Plan& plan) const {
    const bool chosen = chooses_size_ && now.size == Bytes{};
    if (chosen)
      now.size = alike_              ? *alike_
                 : sweep_.size.usual ? sweep_.size.usual(input_, now)
                                     : sweep_.size.least;
    Expected<Point> point = sweep_.point(input_, now);
    if (point && !point->flows.empty()) {
      const Bytes size = asked_.empty() ? point->size.value_or(now.size) : now.size;
      if (!point->reference) TRY(check_sizes({main_flow(point->flows)}, size));
      if (chosen && !alike_) fit_size(now, point);
    }
    if (point) {
      sweep_.sized(input_, point->flows);
      TRY(check_sizes(point->flows));
    }
    if (!point && own.asked) return fail(point.error());
    const Bytes size = point ? point->size.value_or(now.size) : now.size;
    if (point && point->pages) now.pages = *point->pages;
    PlannedCase planned = new_case(input_, "", size, now.pages);
    planned.head.labels = own.labels;
    planned.optional = !own.asked;
    planned.later = own.later;
    if (has_own_size(sweep_)) planned.size_option = sweep_.size.option;
    if (point) {
      for (auto& label : point->labels)
        if (!label.second.empty()) planned.head.labels.push_back(std::move(label));
      planned.skip = point->skip ? point->skip : too_few(*point, now.threads);
      planned.reference = point->reference;
      planned.in_turn = point->in_turn;
      for (Flow& flow : point->flows)  // once all of its memory is known
        flow.warm_up = warm_up_bytes(machine_of(input_, flow.worker),
                                     worker_of(input_, flow.worker).placement.cpus, flow);
      planned.scenario.flows = std::move(point->flows);
    } else {
      planned.skip = point.error();
    }
    if (compares_threads() && sweep_.threads.label)
      planned.head.labels.emplace_back("threads", std::to_string(now.threads));
    planned.head.name = name_of_case(now, own, planned, !(point && point->pages));
    const auto is_same = [&](const PlannedCase& one) { return one.head.name == planned.head.name; };
    if (point && point->pages && std::ranges::any_of(plan, is_same)) return {};
    add_case(plan, std::move(planned), sweep_.may_be_serial && input_.options.serial);
    return {};
  }

  /// `size`: of all of them, instead of their own.
  Expected<void> check_sizes(const std::vector<Flow>& flows, std::optional<Bytes> size = {}) const {
    for (const Flow& flow : flows) {
      const auto state = check_size(flow.kernel, size.value_or(flow.region.bytes));
      if (state) continue;
      return fail(has_own_size(sweep_) ? renamed(state.error(), "--size", sweep_.size.option)
                                       : state.error());
    }
    return {};
  }

  /// Gives the point what is past its caches and has room, by the sweep's rule.
  void fit_size(AxisSetting& now, Expected<Point>& point) const {
    const Bytes first = now.size;
    if (!sweep_.size.usual) now.size = past_caches_of(input_, sweep_.size, point->flows);
    if (sweep_.size.form == SizeRule::Form::alike)
      now.size = fitting_size(input_, now.size, point->flows);
    if (now.size != first) point = sweep_.point(input_, now);
    if (point && sweep_.size.form == SizeRule::Form::by_worker)
      now.size = size_by_worker(input_, sweep_.size, now, point->flows);
  }

  std::string name_of_case(const AxisSetting& now, const OwnValues& own, const PlannedCase& planned,
                           bool has_pages) const {
    return filled(sweep_.name, [&](const std::string& name) -> std::string {
      if (name == "size") return compact_text(planned.head.size);
      if (name == "pages") return has_pages ? name_of(now.pages) : "";
      if (name == "threads") return threads_text(now.threads);
      if (name == "nt") return now.kernel.spec.stores == Stores::non_temporal ? "nt" : "";
      for (const Labels* labels : {&own.names, &planned.head.labels}) {
        for (const auto& [label, value] : *labels)
          if (label == name) return value;
      }
      return name == "kernel" ? now.kernel.short_name() : "";
    });
  }

  std::string threads_text(int threads) const {
    using Unnamed = ThreadsAxis::Unnamed;
    const int unnamed = sweep_.threads.unnamed == Unnamed::one ? 1
                        : sweep_.threads.unnamed == Unnamed::all_cpus
                            ? static_cast<int>(input_.machines.front().usable_cpus().size())
                            : all_threads;
    if (!compares_threads() || threads == all_threads || threads == unnamed) return "";
    return count_text(threads, sweep_.threads.word);
  }

  std::optional<Error> too_few(const Point& point, int threads) const {
    const auto& all = input_.layout.workers;
    const std::size_t workers = point.flows.size();
    const bool several_ranks = all.back().rank > all.front().rank;
    if (point.workers_are.empty() || !input_.options.placement.threads || several_ranks ||
        static_cast<int>(workers) >= threads)
      return std::nullopt;
    return Error{ErrorKind::unavailable,
                 fmt::format("{} asked for; of the workers {} {} {}", threads, workers,
                             workers == 1 ? "is" : "are", point.workers_are),
                 "", "--threads"};
  }

  const Sweep& sweep_;
  const std::vector<Bytes>& asked_;  ///< sizes
  bool chooses_size_;                ///< nobody said how large its memory is
  const GivenAxes& given_;
  const PlanInput& input_;
  std::vector<std::vector<AxisValue>> values_ = {};
  std::vector<OwnValues> own_ = {};  ///< pointers to `values_`
  std::optional<Bytes> alike_ = {};
};

Expected<Plan> runs_of_plan(std::vector<Planner>& sweeps, std::optional<Bytes> alike,
                            const PlanInput& input) {
  Plan plan;
  for (PageKind pages : input.pages) {
    for (Planner& sweep : sweeps) TRY(sweep.add(pages, alike, plan));
  }
  return plan;
}

Expected<Plan> plan_of(const Benchmark& benchmark, const GivenAxes& given, const PlanInput& input) {
  if (benchmark.runs_together) TRY(check_run_together(input, benchmark.name));
  const auto possible = benchmark.check(input);
  if (!possible && possible.error().kind == ErrorKind::usage) return fail(possible.error());
  std::vector<Planner> sweeps;
  for (const Sweep& sweep : benchmark.sweeps) {
    sweeps.emplace_back(sweep, *benchmark.varies.size != '\0', given, input);
    TRY(sweeps.back().find_values());
  }
  Plan plan = TRY(runs_of_plan(sweeps, std::nullopt, input));
  if (!possible) return fail(possible.error());  // a mistake in the words comes first
  const auto in_plan = [](const Sweep& sweep) {
    return sweep.size.form == SizeRule::Form::in_plan;
  };
  if (plan.empty() || !given.sizes.empty() || std::ranges::none_of(benchmark.sweeps, in_plan))
    return plan;
  std::set<Bytes> sizes;
  for (const PlannedCase& one : plan)
    if (!one.size_option) sizes.insert(one.head.size);
  if (sizes.empty()) return plan;
  const Bytes fitting = size_with_room(input, *sizes.rbegin(), plan);
  return sizes == std::set{fitting} ? std::move(plan) : runs_of_plan(sweeps, fitting, input);
}

Expected<Plan> later_plan_of(const Benchmark& benchmark, const GivenAxes& given,
                             const PlanInput& input, const RunReport& report) {
  Plan plan;
  for (const Sweep& sweep : benchmark.sweeps) {
    const Planner planner(sweep, *benchmark.varies.size != '\0', given, input);
    for (const LaterCase& one : sweep.later(input, report)) TRY(planner.add_later(one, plan));
  }
  return plan;
}

/// The hooks that follow from its sweeps and rules.
void set_hooks(Benchmark& benchmark, const std::shared_ptr<const GivenAxes>& axes) {
  const auto data = std::make_shared<const Benchmark>(benchmark);
  if (!data->sweeps.empty())
    benchmark.plan = [axes, data](const PlanInput& input) { return plan_of(*data, *axes, input); };
  if (std::ranges::any_of(data->sweeps, [](const Sweep& sweep) { return bool(sweep.later); }))
    benchmark.refinement.plan = [axes, data](const PlanInput& input, const RunReport& report) {
      return later_plan_of(*data, *axes, input, report);
    };
  if (!data->figures.scaled.empty())
    benchmark.figures.totals = [data](const Case& visit, const RunReport&) {
      return scaled_figures(data->figures.scaled, visit);
    };
  if (!data->figures.against.empty())
    benchmark.figures.conclude = [data](RunReport& report) {
      add_against(data->figures.against, report);
      data->figures.conclude(report);
    };
  if (!data->shown.tables.empty())
    benchmark.shown.views = [data](const RunReport& report) {
      return views_of(data->shown.tables, report);
    };
  if (!data->shown.fact_rules.empty())
    benchmark.shown.facts = [data](const RunReport& report) {
      return facts_of(data->shown.fact_rules, report);
    };
  if (std::ranges::any_of(data->sweeps, [](const Sweep& sweep) { return sweep.size.leaves_out; }))
    benchmark.shown.remarks = [axes](const RunReport& report, const RunOptions& options) {
      return axes->sizes.empty() ? left_out_text(report, options) : "";
    };
}

}  // namespace

Axis node_axis(const std::string& label, const std::string& option, const std::string& usual,
               const std::string& what, const std::string& text) {
  const std::string first = usual.empty() ? "all" : usual;
  const auto nodes = std::make_shared<std::string>(first);
  const auto values = [=](const PlanInput& input) -> Expected<std::vector<AxisValue>> {
    const auto& asked = input.options.placement.memory;
    if (*nodes != first && asked)
      return fail(ErrorKind::usage, fmt::format("{} and --memory both place the {}", option, what),
                  "leave one of them out");
    std::vector<AxisValue> places;
    for (const NodeChoice& place : TRY(node_choices(input, option, *nodes, usual)))
      places.push_back({{place.node || !asked ? place.label : asked->single.text()},
                        place,
                        false,
                        {{"at", place.node ? place.label : ""}}});
    return places;
  };
  const std::string type = usual.empty() ? "all|NODES" : usual + "|all|NODES";
  return {{label},
          values,
          [=](CLI::App& app) { add_value(app, option, *nodes, type, text); },
          [=] { return check_nodes(option, *nodes, usual); }};
}

Benchmark with_axes(Benchmark benchmark) {
  if (benchmark.sweeps.empty() && *benchmark.varies.size == '\0') return benchmark;
  if (benchmark.runs_together) {
    benchmark.options.refused.push_back({"--serial",
                                         benchmark.name + " measures its threads together",
                                         "--threads 1 has one of them"});
  }
  const auto given = std::make_shared<Given>();
  const auto axes = std::make_shared<GivenAxes>();
  const auto data = std::make_shared<const Benchmark>(benchmark);
  benchmark.given = axes;
  benchmark.add_options = [given, data](CLI::App& app) { add_options(*given, *data, app); };
  benchmark.parse_options = [given, axes, data](Benchmark& its) -> Expected<void> {
    *axes = TRY(parse_options(*given, *data));
    its = *data;
    its.given = axes;
    TRY(data->parse_options(its));
    if (axes->gpus) its = by_gpus(its, *axes->gpus);
    set_hooks(its, axes);
    return {};
  };
  set_hooks(benchmark, axes);
  return benchmark;
}

}  // namespace numatlas
