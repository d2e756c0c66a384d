// STREAM over all ranks of all hosts: rounds of Copy, Scale, Add and Triad that everybody begins
// together.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "analysis/peers.h"
#include "base/add_once.h"
#include "base/units.h"
#include "base/whole.h"
#include "benchmarks/stream/summary.h"
#include "kernels/stream_loops.h"
#include "memory/source.h"
#include "record/labels.h"
#include "report/answer.h"
#include "report/dat.h"
#include "run/benchmark.h"
#include "run/choices.h"
#include "run/declare.h"
#include "run/flows.h"
#include "run/levels.h"
#include "run/room.h"
#include "run/slow_options.h"

namespace numatlas::benchmark_stream {
namespace {

constexpr std::uint64_t arrays = 3;
// STREAM's own rule: each array four times all last-level caches.
constexpr std::uint64_t times_caches = 4;

// Cache lines that so many elements take: arrays are whole lines.
constexpr std::uint64_t elements_per_line = 8;
constexpr std::uint64_t lines_of(std::uint64_t elements) {
  return (elements + elements_per_line - 1) / elements_per_line;
}

/// Whether what is stored there can be made to last.
bool lasts(const MemoryPlacement& placement) { return source_of(placement).persistent; }

/// What hosts will have measured of a kernel.
Case case_of(Operation operation, Stores stores, std::uint64_t lines, const std::string& mode,
             const std::string& memory) {
  const Traffic traffic = traffic_of_line(operation, stores);
  Case one;
  one.kernel = one.name = name_of(operation);
  if (mode != "memory") one.name += fmt::format(" (persist {})", mode);
  one.stores = traffic.written > 0 ? name_of(stores) : "";
  one.labels = {{mode_label, mode},
                {memory_label, memory},
                {elements_label, std::to_string(lines * elements_per_line)}};
  const auto bytes = [&](const char* key, std::uint64_t a_line) {
    return plain_figure(key, "B", static_cast<double>(a_line * lines));
  };
  one.figures = {bytes(pass_bytes_key, traffic.counted()),
                 bytes("pass_traffic", traffic.with_allocate())};
  return one;
}

/// "local"; "bind:0, bind:1" where workers have different ones.
std::string memory_text(const Layout& layout) {
  std::vector<std::string> texts;
  for (const Worker& worker : layout.workers) add_once(texts, worker.placement.memory.text());
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// What is done in the passes of one scenario of the plan.
struct StreamPoint {
  std::string name;                   ///< "stream", "read (persist none)"
  std::vector<Operation> operations;  ///< in turn
  Persist persist = Persist::none;
};

struct Options {
  std::string elements_text, size_text, isa, repeats_text = "10";
  std::string dat_folder;
  std::string elements_source;  ///< why so many, for the views: the plan finds out
  std::string fits;             ///< the caches that hold the arrays: the plan finds out
  bool samples = false, check = false, retest = false;
  SlowOptions slow_options;
  SlowRule rule;
  std::optional<std::uint64_t> elements;
  int repeats = 10;
  Stores stores = Stores::regular;
  std::vector<Operation> operations{Operation::copy, Operation::scale, Operation::add,
                                    Operation::triad};
  std::vector<Persist> persists;
};

/// Where it is said who is slow; one host is asked for a verdict by --check alone.
bool judges(const Options& own, const RunReport& report) {
  return own.check || report.hosts.size() > 1;
}

void add_options(Options& own, CLI::App& app) {
  add_value(
      app, "--elements", own.elements_text, "N",
      "8-byte elements of each array of a process (default: four times the last-level caches)\n"
      "The number is rounded up to whole cache lines. By default, an array is four times the "
      "last-level caches that the workers of a host use, or a third of 1 GiB where the system may "
      "not list all caches, or a third of twice the memory-side caches, whichever is largest, "
      "divided by the processes of the host. All hosts take the largest array that any needs, but "
      "at most half of the free memory");
  add_value(app, "--size", own.size_text, "SIZE",
            "memory of the three arrays of a process\n"
            "In MiB or with a unit; instead of --elements");
  add_value(app, "--repeats", own.repeats_text, "N",
            "rounds; the first is an uncounted warm-up\n"
            "At least 2; an interval takes 7");
  add_choices(app, "--kernels", own.operations,
              named(std::vector{Operation::copy, Operation::scale, Operation::add, Operation::triad,
                                Operation::read, Operation::write}),
              "kernels to run\n"
              "They run in the order of STREAM: copy, scale, add, triad; read and write run in "
              "rounds of their own");
  add_stores_option(app, own.stores);
  add_isa_option(app, own.isa);
  rare(add_choices(
      app, "--persist", own.persists,
      named(
          std::vector{Persist::none, Persist::individual, Persist::collective, Persist::per_block}),
      "with --memory pmem:, when writes are made persistent, within the measured time: "
      "never (none), by each thread at the end of its part (individual), by one thread per process "
      "for all (collective), or every 64 KiB (per-block). Several are measured in turn"));
  own.slow_options.add_to(app);
  rare(app.get_option("--mads"));
  app.add_flag("--check", own.check, "exit code 1 if a host is slow, 9 if one is not judged");
  app.add_flag("--retest", own.retest,
               "run slow hosts again, beside healthy ones\n"
               "As many healthy hosts of their kind run, at least three, while the others wait. "
               "Hosts that are not slow again do not count for --check");
  const auto output = [](CLI::Option* option) { option->group("Output"); };
  output(rare(add_value(app, "--dat", own.dat_folder, "FOLDER",
                        "also write memory_results-PxT-TIME.dat in this folder, the XML of "
                        "distributed_streams: P processes per host, T threads each")));
  output(rare(
      app.add_flag("--samples", own.samples, "keep the rounds of each process in --json as well")));
}

Expected<void> parse_arrays(Options& own) {
  if (!own.elements_text.empty() && !own.size_text.empty())
    return fail_usage("--size", "--elements says the same", "give one of them");
  if (!own.elements_text.empty()) {
    const auto count =
        parse_whole<std::uint64_t>(own.elements_text, 1, std::uint64_t{1} << 56, "--elements");
    if (!count)
      return fail_usage("--elements", count.error().message, "elements of 8 bytes, an array");
    own.elements = *count;
  } else if (!own.size_text.empty()) {
    const auto size = TRY(parse_one_size(own.size_text, "stream"));
    own.elements = size.value / arrays / sizeof(double);
    if (*own.elements == 0) {
      return fail_usage("--size", fmt::format("{} are too small for three arrays", to_text(size)));
    }
  }
  return {};
}

Expected<void> parse_kernels(Options& own) {
  TRY(of_option("--isa", use_instruction_set(own.isa)));
  TRY(check_stores({own.stores}));
  // In STREAM's order, whatever theirs: what one writes the next one reads.
  std::sort(own.operations.begin(), own.operations.end());
  std::sort(own.persists.begin(), own.persists.end());
  own.persists.erase(std::unique(own.persists.begin(), own.persists.end()), own.persists.end());
  return {};
}

Expected<void> parse(Options& own, Benchmark& benchmark) {
  const auto repeats = TRY(parse_whole<int>(own.repeats_text, 0, 1'000'000, "--repeats"));
  if (repeats < 2) {
    return fail_usage("--repeats",
                      fmt::format("{} round{} nothing to report: the first one is a warm-up",
                                  repeats, repeats == 1 ? " leaves" : "s leave"),
                      "use 2 or more", "; an interval requires 7");
  }
  own.repeats = repeats;
  own.rule = TRY(own.slow_options.parse());
  benchmark.reduced_to_hosts->rounds = own.repeats;
  benchmark.reduced_to_hosts->keeps_processes = own.samples;
  if (!own.size_text.empty()) benchmark.options.size = "--size";
  TRY(parse_arrays(own));
  return parse_kernels(own);
}

/// The points for memory that lasts, or not.
std::vector<StreamPoint> points(const Options& own, bool lasting) {
  StreamPoint cycle, reads, writes;
  for (const Operation operation : own.operations) {
    StreamPoint& point = operation == Operation::read    ? reads
                         : operation == Operation::write ? writes
                                                         : cycle;
    point.operations.push_back(operation);
  }
  std::vector<Persist> modes = own.persists;
  if (modes.empty()) modes = {Persist::none};
  std::vector<StreamPoint> points;
  for (StreamPoint* point : {&cycle, &writes, &reads}) {
    if (point->operations.empty()) continue;
    point->name = point == &cycle ? "stream" : name_of(point->operations.front());
    for (const Persist persist : modes) {
      points.push_back(*point);
      points.back().persist = persist;
      if (point == &reads) {  // leave nothing to make last
        points.back().persist = Persist::none;
        break;
      }
      if (lasting) points.back().name += fmt::format(" (persist {})", name_of(persist));
    }
  }
  return points;
}

/// Elements of each array of a process: what the caches of a host ask for, and what it has room for
/// beside others.
struct Elements {
  std::uint64_t wanted = 0, room = ~std::uint64_t{0};
};

Elements elements_for(const PlanInput& input) {
  const std::vector<int> workers = all_workers(input.layout);
  std::uint64_t elements = 0;
  for (std::size_t host = 0; host < input.machines.size(); ++host) {
    int processes = 0, last = -1;
    for (const Worker& worker : input.layout.workers) {
      if (worker.host != static_cast<int>(host) || worker.rank == last) continue;
      last = worker.rank;
      ++processes;
    }
    if (processes == 0) continue;
    const std::uint64_t bytes = std::max(
        times_caches * last_level_caches(input.machines[host], cpus_of(input, workers, host)).value,
        past_all_caches(input, workers, host).value / arrays);
    elements = std::max(elements, bytes / static_cast<std::uint64_t>(processes) / sizeof(double));
  }
  // Where that does not fit, as much as leaves room for others; a worker has its part of a process.
  std::vector<Flow> flows;
  for (int worker : workers) {
    Flow flow;
    flow.worker = worker;
    flow.region.placement = worker_of(input, worker).placement.memory;
    flow.region.pages = input.pages.front();
    flows.push_back(flow);
  }
  std::uint64_t most_workers = 1;
  for (const Worker& worker : input.layout.workers)
    most_workers = std::max<std::uint64_t>(most_workers,
                                           static_cast<std::uint64_t>(worker.placement.thread) + 1);
  const Bytes wanted{elements * sizeof(double) * arrays / most_workers};
  const Bytes fitting = size_with_room(input, wanted, flows);
  Elements found{elements};
  if (fitting >= wanted) return found;
  // Arrays of a worker lie a little apart, which must be in the same pages.
  constexpr std::uint64_t bytes_of_lines = arrays * elements_per_line * sizeof(double);
  std::uint64_t lines = fitting.value / bytes_of_lines;
  while (lines > 1 && stream_region_bytes(lines) > fitting)
    lines -= std::min(lines - 1,
                      1 + (stream_region_bytes(lines).value - fitting.value) / bytes_of_lines);
  found.room = lines * elements_per_line * most_workers;
  return found;
}

/// Why so many: "4 x the last-level caches (32 MiB)", or what there is room for.
std::string source_of_elements(const PlanInput& input, std::uint64_t wanted,
                               std::uint64_t elements) {
  const std::vector<int> workers = all_workers(input.layout);
  const Bytes listed = last_level_caches(input.machines.front(), cpus_of(input, workers, 0));
  const Bytes others = past_all_caches(input, workers, 0);
  const bool believed = arrays * times_caches * listed.value >= others.value;
  const bool is_unlisted = others == Bytes{gib};
  const std::string caches = to_text(believed      ? listed
                                     : is_unlisted ? others
                                                   : Bytes{others.value / 2});
  const std::string rule = believed      ? fmt::format("{} x the last-level caches", times_caches)
                           : is_unlisted ? "what exceeds caches that the system may not list"
                                         : "2 x the memory-side caches";
  if (elements < wanted) {
    return fmt::format("the most that fits on every host: {:.0f} % of {}",
                       100 * static_cast<double>(elements) / static_cast<double>(wanted), rule);
  }
  return fmt::format("{} ({})", rule, caches);
}

Expected<std::vector<Flow>> flows_of(const Options& own, const PlanInput& input,
                                     const StreamPoint& point, std::uint64_t elements) {
  const std::uint64_t lines = lines_of(elements);
  std::vector<Flow> flows;
  for (std::size_t i = 0; i < input.layout.workers.size(); ++i) {
    const Worker& worker = input.layout.workers[i];
    const auto threads = input.layout.workers_of(worker.rank).size();
    const auto thread = static_cast<std::uint64_t>(worker.placement.thread);
    Flow flow;
    flow.worker = static_cast<int>(i);
    const std::uint64_t its = lines / threads + (thread < lines % threads ? 1 : 0);
    flow.kernel = {PassesParameters{point.operations, its, point.persist}, own.stores};
    if (its == 0) {
      return fail_usage(own.size_text.empty() ? "--elements" : "--size",
                        fmt::format("arrays of {} leave some of the {} threads of a process "
                                    "without a cache line",
                                    elements, threads),
                        "use more --elements", ", or for fewer --threads");
    }
    flow.region.bytes = stream_region_bytes(its);
    flow.region.placement = worker.placement.memory;
    flow.region.pages = input.pages.front();
    flows.push_back(std::move(flow));
  }
  return flows;
}

/// Of each array of a process; as asked for, else what all hosts, or this one, came to.
std::uint64_t elements_of(const Options& own, const PlanInput& input) {
  if (own.elements) return *own.elements;
  if (!input.largest.empty()) return std::min(input.largest[0], ~input.largest[1]);
  const Elements its = elements_for(input);
  return std::min(its.wanted, its.room);
}

/// What is wanted, and the least room of all hosts; of arrays that were asked for nothing.
std::vector<std::uint64_t> numbers_of_host(const Options& own, const PlanInput& input) {
  const Elements mine = own.elements ? Elements{} : elements_for(input);
  return {mine.wanted, ~mine.room};
}

/// Where pools of huge pages hold most of the memory, as on hosts of virtual machines.
std::string roomier_pages(const Machine& machine) {
  std::map<Bytes, std::uint64_t> in_pools;
  std::uint64_t free = 0;
  for (const NumaNode& node : machine.nodes) {
    free += node.memory_free.value_or(Bytes{}).value + node.memory_cache.value_or(Bytes{}).value;
    for (const HugePagePool& pool : node.huge_pages)
      in_pools[pool.page_size] += pool.free * pool.page_size.value;
  }
  for (const PageKind kind : {PageKind::huge_1g, PageKind::huge_2m})
    if (free > 0 && in_pools[huge_page_size(kind)] > free)
      return fmt::format("; --pages {} has more room", name_of(kind));
  return "";
}

std::vector<std::size_t> hosts_to_retest(const Options& own, const RunReport& report) {
  if (!own.retest) return {};
  const Rows rows = rows_of(report);
  return numatlas::hosts_to_retest(hosts_of(rows), own.rule);
}

void conclude(const Options& own, RunReport& report) {
  std::erase_if(report.cases, is_finding);  // of an earlier round
  std::string reason;
  for (const Case& one : report.cases)
    if (reason.empty()) reason = one.reason;
  const auto rows = kernel_rows(report);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Case& one = report.cases[i];
    one.figures.resize(2);  // the bytes
    if (rows[i])
      for (Figure& figure : figures_of(*rows[i])) one.figures.push_back(std::move(figure));
    one.status = rows[i] ? Status::ok : Status::incomplete;
    for (HostTotals& host : one.host_totals) {
      if (host.passes.empty()) one.status = Status::incomplete;
      host.figures = {bandwidth_of(rates_of(report, one, host.host, host.passes))};
    }
    one.reason = one.status == Status::ok ? "" : reason.empty() ? "not measured" : reason;
  }
  const Judged judged = judge_hosts(report, own.rule);
  if (judges(own, report)) report.answer = answer_of(report.hosts, judged);
  add_findings(judged, report);
}

/// The name of the .dat is known once hosts have met. When a run started it says to the minute: a
/// number is added where there is such a file.
std::vector<OwnFile> own_files(const Options& own, const RunReport& report) {
  if (own.dat_folder.empty()) return {};
  const std::filesystem::path folder = own.dat_folder;
  std::filesystem::path name = "memory_results";
  if (!report.hosts.empty()) {
    const std::filesystem::path wanted = dat_name(report);
    name = wanted;
    std::error_code none;
    for (int i = 2; std::filesystem::exists(folder / name, none); ++i)
      name = fmt::format("{}-{}{}", wanted.stem().string(), i, wanted.extension().string());
  }
  return {{{"--dat", (folder / name).string()}, dat_text}};
}

int exit_code(const Options& own, const RunReport& report) {
  if (!own.check) return 0;
  const int code = exit_code_of(judge_hosts(report, own.rule));
  return code == 0 && !distrust_of(report).empty() ? exit_code_of_unjudged_nodes : code;
}

Expected<Plan> plan(Options& own, const PlanInput& input) {
  const auto& options = input.options;
  const bool lasting =
      std::any_of(input.layout.workers.begin(), input.layout.workers.end(),
                  [](const Worker& worker) { return lasts(worker.placement.memory); });
  if (!own.persists.empty() && !lasting) {
    return fail_usage("--persist", "this memory is not persistent",
                      "name persistent memory, as in --memory pmem:/mnt/pmem0");
  }
  const std::uint64_t elements = elements_of(own, input), lines = lines_of(elements);
  own.elements_source.clear();
  if (!own.elements) {
    const std::uint64_t wanted =
        input.largest.empty() ? elements_for(input).wanted : input.largest[0];
    own.elements_source = source_of_elements(input, wanted, elements);
    if (elements < wanted && !is_from_pool(input.pages.front()))
      own.elements_source += roomier_pages(input.machines.front());
  }
  const auto& workers = input.layout.workers;
  const auto threads = workers.empty() ? 1 : input.layout.workers_of(workers.front().rank).size();
  Plan plan;
  for (const StreamPoint& point : points(own, lasting)) {
    auto flows = TRY(flows_of(own, input, point, elements));
    PlannedCase planned;
    planned.head.name = point.name;
    planned.head.size = flows.empty() ? Bytes{} : flows.front().region.bytes;
    planned.scenario = {point.name, std::move(flows), options.stop};
    planned.scenario.stop.steps = point.operations.size();
    planned.scenario.stop.whole_passes = true;
    planned.head.kernel = "stream";
    for (const Operation operation : point.operations) {
      planned.passes.push_back(case_of(operation, own.stores, lines,
                                       lasting ? name_of(point.persist) : "memory",
                                       memory_text(input.layout)));
      planned.passes.back().size =
          Bytes{arrays * sizeof(double) * lines * elements_per_line / threads};
    }
    add_case(plan, std::move(planned));
  }
  own.fits = fmt::format(
      "{}", fmt::join(caches_of(input.machines, input.layout, plan.front().scenario), "/"));
  return plan;
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "stream",
      .help =
          {.summary = "run STREAM on all ranks and hosts, name slow hosts",
           .listing = {Topic::hosts},
           .description = "Each process (rank) has three arrays, divided among its threads. A "
                          "round is one pass of each kernel. All ranks begin a round when all are "
                          "ready, and the ranks of a host begin each pass together. A host's time "
                          "runs from the first begin to the last end. One that lies with its "
                          "interval far below the median of its kind is slow (--slow, --mads).",
           .examples =
               {{"STREAM on this host, one thread per CPU", "numatlas stream"},
                {"Find the slow hosts of a job, 8 processes per host with 16 threads each",
                 "srun --ntasks-per-node 8 -c 16 numatlas stream --threads 16 --check --retest"}}},
      .options = {.less_memory_hint =
                      "use fewer --elements or a smaller --size, or fewer ranks or --threads",
                  .without = {"--serial", "--precision", "--time", "--seed", "--verify", "--stats",
                              "--skip-too-large"},
                  .refused = {{"--threads", "stream accepts one number per run", "", true}},
                  .shown = {"--strict"},
                  .one_kind_of_pages = true,
                  .size = "--elements"},
      .add_options = with(add_options),
      .parse_options = with(parse),
      .plan = with(plan),
      .figures = {.conclude = with(conclude)},
      .shown = {.warnings = with([](const Options& own, const RunReport& report) {
                  auto all = stream_warnings(report, judges(own, report) ? &own.rule : nullptr);
                  if (!own.fits.empty())
                    all.push_back({"fits-cache", "", cache_warning_text("figures", own.fits)});
                  return all;
                }),
                .views = with([](const Options& own, const RunReport& report) {
                  return stream_views(report, own.rule, own.repeats, own.elements_source);
                }),
                .own_files = with(own_files)},
      .exit_code = with(exit_code),
      .reduced_to_hosts =
          ReducedToHosts{.numbers = with(numbers_of_host), .to_retest = with(hosts_to_retest)},
  };
}

}  // namespace numatlas::benchmark_stream
