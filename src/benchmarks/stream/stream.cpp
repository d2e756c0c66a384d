#include "benchmarks/stream/stream.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/size_list.h"
#include "benchmarks/choices.h"
#include "benchmarks/flows.h"
#include "benchmarks/room.h"

namespace numatlas {
namespace {

constexpr std::uint64_t arrays = 3;
// STREAM's own rule: each array four times all last-level caches.
constexpr std::uint64_t times_caches = 4;

template <class T>
Expected<T> whole_number(const std::string& text, T low, T high, const char* option,
                         const char* hint) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc{} && end == text.data() + text.size() && value >= low && value <= high)
    return value;
  return fail(ErrorKind::usage,
              fmt::format("{}: '{}' is not a whole number from {} to {}", option, text, low, high),
              hint);
}

Expected<Operation> parse_operation(const std::string& word) {
  for (const Operation operation : {Operation::copy, Operation::scale, Operation::add,
                                    Operation::triad, Operation::read, Operation::write}) {
    if (word == name_of(operation)) return operation;
  }
  return fail(ErrorKind::internal, word);
}

std::vector<int> all_workers(const PlanInput& input) {
  std::vector<int> workers(input.layout.workers.size());
  std::iota(workers.begin(), workers.end(), 0);
  return workers;
}

}  // namespace

bool lasts(const MemoryPlacement& placement) {
  return placement.source.starts_with("pmem:") || placement.source.starts_with("dax:");
}

std::string Stream::description() const {
  return "Each process (rank) has three arrays, divided among its threads. A round is one pass of\n"
         "each kernel; all ranks of all hosts begin each pass together. The first round warms up "
         "and\n"
         "does not count. A host's time is that of its slowest process. Hosts that are alike are\n"
         "compared: one is slow where its median lies far below theirs (--mads, --slow) and its\n"
         "interval excludes it.";
}

void Stream::add_options(CLI::App& app) {
  refuse_empty(
      app.add_option(
          "--elements", elements_text_,
          "elements (8 bytes) of each of the three arrays of a process (default: four times "
          "the last-level caches of the host, among its processes)"))
      ->type_name("N");
  refuse_empty(app.add_option("--size", size_text_,
                              "memory of a process, its three arrays together: MiB (512) or with a "
                              "unit (48KiB)"))
      ->type_name("SIZE");
  app.add_option("--repeats", repeats_text_, "rounds, the first one included")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--kernels", kernels_text_,
                 "copy, scale, add, triad, read, write; several: "
                 "copy,triad")
      ->type_name("NAMES")
      ->capture_default_str();
  app.add_option(
         "--stores", stores_text_,
         "ordinary (fetch the line before they write), or non-temporal or nt (past the caches)")
      ->type_name("KIND")
      ->capture_default_str();
  add_isa_option(app, isa_);
  refuse_empty(app.add_option("--persist", persist_text_,
                              "of persistent memory: none, individual (each thread its part), "
                              "collective (one thread for all of a process), per-block; several: "
                              "none,individual"))
      ->type_name("MODES");
  slow_options_.add_to(app);
  app.add_flag("--check", check_,
               "exit with 1 where a slow host is found, with 9 where hosts could not be judged");
  app.add_flag("--retest", retest_, "run slow hosts again, with healthy ones beside them");
  refuse_empty(app.add_option("--openmetrics", openmetrics_file_,
                              "also write figures for Prometheus' textfile collector"))
      ->type_name("FILE")
      ->group("Output");
  refuse_empty(app.add_option("--dat", dat_folder_,
                              "also write memory_results-PxT-TIME.dat (XML) in this folder"))
      ->type_name("FOLDER")
      ->group("Output");
  app.add_flag("--samples", samples_, "keep the rounds of each process in --json as well")
      ->group("Output");
  app.add_flag("--lines", lines_, "key=value lines after the table, for scripts")->group("Output");
}

Expected<void> Stream::parse_options() {
  const auto repeats = whole_number<int>(repeats_text_, 0, 1'000'000, "--repeats", "");
  if (!repeats) return fail(repeats.error());
  if (*repeats < 2) {
    return fail(ErrorKind::usage,
                fmt::format("--repeats: {} round{} nothing to report: the first one warms up and "
                            "does not count",
                            *repeats, *repeats == 1 ? " leaves" : "s leave"),
                "ask for 2 or more; an interval takes 7");
  }
  repeats_ = *repeats;
  const auto rule = slow_options_.parse();
  if (!rule) return fail(rule.error());
  rule_ = *rule;
  if (auto parsed = parse_arrays(); !parsed) return parsed;
  return parse_kernels();
}

Expected<void> Stream::parse_arrays() {
  if (!elements_text_.empty() && !size_text_.empty())
    return fail(ErrorKind::usage, "--size: --elements says the same", "give one of them");
  if (!elements_text_.empty()) {
    const auto count = whole_number<std::uint64_t>(elements_text_, 1, std::uint64_t{1} << 56,
                                                   "--elements", "elements of 8 bytes, an array");
    if (!count) return fail(count.error());
    elements_ = *count;
  } else if (!size_text_.empty()) {
    const auto size = parse_one_size(size_text_, "stream");
    if (!size) return fail(size.error());
    elements_ = size->value / arrays / sizeof(double);
    if (*elements_ == 0) {
      return fail(ErrorKind::usage,
                  fmt::format("--size: {} do not hold three arrays", to_text(*size)));
    }
  }
  return {};
}

Expected<void> Stream::parse_kernels() {
  if (auto used = use_instruction_set(isa_); !used) return fail(used.error());
  const auto stores = parse_stores(stores_text_);
  if (!stores) return fail(stores.error());
  if (stores->size() != 1)
    return fail(ErrorKind::usage, "--stores: stream takes one kind in a run");
  stores_ = stores->front();
  const auto kernels =
      parse_words(kernels_text_, "--kernels", {"copy", "scale", "add", "triad", "read", "write"});
  if (!kernels) return fail(kernels.error());
  for (const std::string& word : *kernels) {
    const auto operation = parse_operation(word);
    if (!operation) return fail(operation.error());
    if (std::find(operations_.begin(), operations_.end(), *operation) != operations_.end())
      return fail(ErrorKind::usage, fmt::format("--kernels: '{}' is named twice", word));
    operations_.push_back(*operation);
  }
  // In STREAM's order, whatever theirs: what one writes the next one reads.
  std::sort(operations_.begin(), operations_.end());
  if (persist_text_.empty()) return {};
  const auto modes =
      parse_words(persist_text_, "--persist", {"none", "individual", "collective", "per-block"});
  if (!modes) return fail(modes.error());
  for (const Persist persist :
       {Persist::none, Persist::individual, Persist::collective, Persist::per_block}) {
    if (std::find(modes->begin(), modes->end(), name_of(persist)) != modes->end())
      persists_.push_back(persist);
  }
  return {};
}

std::vector<StreamPoint> Stream::points(bool lasting) const {
  StreamPoint cycle, reads, writes;
  for (const Operation operation : operations_) {
    StreamPoint& point = operation == Operation::read    ? reads
                         : operation == Operation::write ? writes
                                                         : cycle;
    point.operations.push_back(operation);
  }
  std::vector<Persist> modes = persists_;
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

Stream::Elements Stream::elements_for(const PlanInput& input) const {
  const std::vector<int> workers = all_workers(input);
  std::uint64_t elements = 0;
  for (std::size_t host = 0; host < input.machines.size(); ++host) {
    int processes = 0, last = -1;
    for (const Worker& worker : input.layout.workers) {
      if (worker.host != static_cast<int>(host) || worker.rank == last) continue;
      last = worker.rank;
      ++processes;
    }
    if (processes == 0) continue;
    const std::uint64_t bytes = times_caches * last_level_caches(input, workers, host).value /
                                static_cast<std::uint64_t>(processes);
    elements = std::max(elements, bytes / sizeof(double));
  }
  // Where that does not fit, as much as leaves room for others; a worker has its part of a process.
  std::vector<Flow> flows;
  for (int worker : workers) {
    Flow flow;
    flow.worker = worker;
    flow.region.placement = worker_of(input, worker).placement.memory;
    flows.push_back(flow);
  }
  std::uint64_t most_workers = 1;
  for (const Worker& worker : input.layout.workers)
    most_workers = std::max<std::uint64_t>(most_workers,
                                           static_cast<std::uint64_t>(worker.placement.thread) + 1);
  const Bytes wanted{elements * sizeof(double) * arrays / most_workers};
  const Bytes fitting = size_with_room(input, wanted, flows);
  Elements found{elements};
  if (fitting < wanted) found.room = fitting.value * most_workers / arrays / sizeof(double);
  return found;
}

std::string Stream::source_of_elements(const PlanInput& input, std::uint64_t wanted,
                                       std::uint64_t elements) const {
  const std::string caches = to_text(last_level_caches(input, all_workers(input), 0));
  const std::string rule = fmt::format("{} x the last-level caches", times_caches);
  if (elements < wanted) {
    return fmt::format("what every host has room for: {:.0f} % of {}",
                       100 * static_cast<double>(elements) / static_cast<double>(wanted), rule);
  }
  return fmt::format("{} ({})", rule, caches);
}

Expected<std::vector<Flow>> Stream::flows_of(const PlanInput& input, const StreamPoint& point,
                                             std::uint64_t elements) const {
  const std::uint64_t lines = lines_of(elements);
  std::vector<Flow> flows;
  for (std::size_t i = 0; i < input.layout.workers.size(); ++i) {
    const Worker& worker = input.layout.workers[i];
    const auto threads = input.layout.workers_of(worker.rank).size();
    const auto thread = static_cast<std::uint64_t>(worker.placement.thread);
    Flow flow;
    flow.worker = static_cast<int>(i);
    flow.kernel.name = "stream";
    flow.kernel.passes = point.operations;
    flow.kernel.stores = stores_;
    flow.kernel.persist = point.persist;
    flow.kernel.array_lines = lines / threads + (thread < lines % threads ? 1 : 0);
    if (flow.kernel.array_lines == 0) {
      return fail(
          ErrorKind::usage,
          fmt::format("{}: arrays of {} leave some of the {} threads of a process without a "
                      "cache line",
                      size_text_.empty() ? "--elements" : "--size", elements, threads),
          "ask for more elements, or for fewer --threads");
    }
    flow.region.bytes = stream_region_bytes(flow.kernel.array_lines);
    flow.region.placement = worker.placement.memory;
    flow.region.pages = input.options.pages.front();
    flows.push_back(std::move(flow));
  }
  return flows;
}

Expected<std::vector<PlannedScenario>> Stream::plan(const PlanInput& input) const {
  const auto& options = input.options;
  if (!options.thread_counts.empty())
    return fail(ErrorKind::usage, "--threads: stream takes one number in a run");
  if (options.pages.size() > 1)
    return fail(ErrorKind::usage, "--pages: stream takes one kind in a run");
  const bool lasting =
      std::any_of(input.layout.workers.begin(), input.layout.workers.end(),
                  [](const Worker& worker) { return lasts(worker.placement.memory); });
  if (!persists_.empty() && !lasting) {
    return fail(ErrorKind::usage, "--persist: this memory does not last",
                "name persistent memory, as in --memory pmem:/mnt/pmem0");
  }
  std::uint64_t elements = elements_.value_or(0);
  if (!elements_) {
    const Elements its = elements_for(input);
    elements = std::min(its.wanted, its.room);
  }
  std::vector<PlannedScenario> plan;
  for (const StreamPoint& point : points(lasting)) {
    auto flows = flows_of(input, point, elements);
    if (!flows) return fail(flows.error());
    PlannedScenario planned;
    planned.scenario = {point.name, *std::move(flows), options.stop};
    planned.scenario.stop.passes = repeats_ * static_cast<int>(point.operations.size());
    planned.head.name = point.name;
    planned.head.kernel = "stream";
    planned.head.size =
        planned.scenario.flows.empty() ? Bytes{} : planned.scenario.flows.front().region.bytes;
    planned.point = static_cast<int>(plan.size());
    plan.push_back(std::move(planned));
  }
  return plan;
}

std::unique_ptr<Benchmark> make_stream_benchmark() { return std::make_unique<Stream>(); }

}  // namespace numatlas
