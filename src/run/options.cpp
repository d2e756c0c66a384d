#include "run/options.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/units.h"
#include "base/whole.h"
#include "comm/launcher.h"
#include "compare/places.h"
#include "memory/source.h"
#include "report/openmetrics.h"
#include "report/reporter.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/place_words.h"

namespace numatlas {
namespace {

/// Most worker threads of a rank: far above any machine, low enough to catch a slip of the hand.
constexpr int most_threads = 65536;

Expected<void> read_cpus(const std::string& text, RunOptions& options) {
  options.placement.cpus = TRY(parse_cpus(text, options.words));
  options.placement.cpus.is_default = false;
  return {};
}

/// "lognormal=5%" or "delays:share=0.1%,by=1us".
Expected<Noise> parse_noise(std::string_view text) {
  constexpr std::string_view lognormal = "lognormal=", share = "delays:share=", by = ",by=";
  Noise noise;
  if (text.starts_with(lognormal)) {
    noise.samples = TRY(parse_part(text.substr(lognormal.size())));
    return noise;
  }
  const std::size_t comma = text.find(by);
  if (!text.starts_with(share) || comma == std::string_view::npos)
    return fail(ErrorKind::usage,
                fmt::format("'{}' is not one of lognormal=PART, delays:share=PART,by=TIME", text));
  const auto part = TRY(parse_part(text.substr(share.size(), comma - share.size())));
  const auto time = TRY(parse_duration(text.substr(comma + by.size())));
  noise.delays = {.share = part, .by = time};
  return noise;
}

Expected<Nanoseconds> parse_time(const std::string& text) {
  const auto time = TRY(parse_duration(text));
  if (time >= std::chrono::milliseconds(1)) return time;
  return fail(ErrorKind::usage, fmt::format("'{}' is less than 1 ms", text),
              "caches and clocks take longer than that to settle");
}

}  // namespace

std::vector<OutputFile> output_files(const RunOptions& options) {
  return {{"--csv", options.csv_file}, {"--json", options.json_file}};
}

Expected<std::vector<int>> parse_counts(const std::string& text, int most,
                                        const std::string& option) {
  const auto one = parse_whole<int>(text, 1, most, option);
  if (one) return std::vector<int>{*one};
  const bool several = text.find_first_of(",-") != std::string::npos && text.front() != '-';
  const auto list = several ? parse_list<CpuId>(text) : fail(one.error());
  if (!list) return fail_usage(option, one.error().message, "or several: 1-8, 1,2,4,8");
  std::vector<int> counts;
  for (CpuId id : *list) counts.push_back(id.value);
  if (counts.empty() || counts.front() < 1 || counts.back() > most) return fail(one.error());
  return counts;
}

Expected<Bytes> parse_one_size(const std::string& text, const std::string& command) {
  const auto sizes = TRY(parse_sizes(text));
  if (sizes.size() == 1) return sizes.front();
  return fail_usage("--size", fmt::format("{} accepts one size", command), "run it once for each");
}

Expected<bool> is_alone(const std::string& machine, bool null_engine, bool only_plans) {
  if (machine.empty() || null_engine) return false;
  if (only_plans) return true;
  return fail_usage("--machine", "a recorded machine cannot be measured",
                    "add --dry-run to see what would be done there");
}

CLI::Option* add_label_option(CLI::App& app,
                              std::vector<std::pair<std::string, std::string>>& labels) {
  return add_parsed(app, "--label", labels, "", "NAME=VALUE,...",
                    "labels for each series of OpenMetrics, such as rack=3,site=north",
                    parse_labels);
}

CLI::Option* add_machine_option(CLI::App& app, std::string& machine) {
  return add_value(
      app, "--machine", machine, "FILE|SPEC",
      "use a recorded machine instead of this one: hwloc XML, the output of `numatlas "
      "topology --format json`, or \"numa:4 core:8 pu:2\"\n"
      "Also a folder that hwloc-gather-topology gathered. Nothing can be measured there: --dry-run "
      "shows the plan");
}

CLI::Option* add_mpi_option(CLI::App& app, std::string& mpi) {
  return rare(add_value(app, "--mpi", mpi, "auto|none|NAME",
                        "MPI plug-in: selected from the launcher's environment variables (auto), "
                        "none, or one that `numatlas features` lists"))
      ->envname("NUMATLAS_MPI");
}

CLI::Option* add_order_option(CLI::App& app, ChainOrder& order) {
  return add_choice(app, "--order", order, named(all_chain_orders),
                    "order of the chain; page-local is random within each page before the next\n"
                    "page-local avoids most TLB misses")
      ->group("Measurement");
}

void CommonOptions::add_to(CLI::App& app, const Benchmark& benchmark,
                           const std::vector<std::string>& without) {
  add_placement(app, benchmark);
  add_measurement(app, benchmark.options.time);
  add_output(app);
  // For tests: "null" touches no memory and has a scripted clock.
  app.add_option("--engine", engine_)->envname("NUMATLAS_ENGINE")->group("");
  app.add_option("--noise", noise_)->group("");
  for (const std::string& name : without) {
    CLI::Option* const option = app.get_option(name);
    if (option == time_option_) time_option_ = nullptr;
    if (name == "--stats") options_.style.all_notes = true;  // which no option would show
    app.remove_option(option);
  }
  for (const std::string& name : benchmark.options.shown) app.get_option(name)->configurable();
}

void CommonOptions::add_placement(CLI::App& app, const Benchmark& benchmark) {
  const auto place = [](CLI::Option* option) { option->group("Placement"); };
  const std::string usual_cpus = benchmark.options.usual_cpus;
  place(add_read(
      app, "--cpus", "", "CPUS",
      fmt::format("CPUs of the workers: all, cores (one per core), a list (0-7,16), node:0, "
                  "socket:0{}\n"
                  "With all (or allowed), workers use the CPUs that this process may use. Other "
                  "forms: isolated (isolcpus), kind:performance, lists separated by /, one per "
                  "local rank, and the CPUs of the node that gpu:0, nearest:gpu:0 or fastest "
                  "names",
                  usual_cpus.empty() ? "" : fmt::format(" (default: {})", usual_cpus)),
      [this](const std::string& text) { return read_cpus(text, options_); }));
  const std::string usual_threads = benchmark.options.usual_threads;
  place(add_read(
      app, "--threads", "", "N",
      usual_threads.empty()
          ? "workers per rank\n"
            "The default is OMP_NUM_THREADS, or what the command needs; one under a launcher"
          : "workers per rank, or several numbers in turn: 1-8, 1,4\nThe default is " +
                usual_threads,
      [this](const std::string& text) -> Expected<void> {
        auto counts = TRY(parse_counts(text, most_threads, "--threads"));
        options_.placement.threads = counts.back();
        if (counts.size() > 1) options_.thread_counts = std::move(counts);
        return {};
      }));
  place(add_parsed(
      app, "--memory", options_.placement.memory, "", "PLACEMENT",
      fmt::format("where the memory is: local, bind:0, interleave:0,1, gpu:0 (default: the "
                  "inherited policy, else local)\n"
                  "Other forms: prefer:0, interleave:all, weighted:0=3,2=1, "
                  "each:0,0,1,1 (by rank), auto, nearest:gpu:0, fastest, {} "
                  "and inherit",
                  source_forms()),
      [this](const std::string& text) { return parse_memory(text, options_.words); }));
  place(rare(add_value(app, "--atlas", atlas_, "FILE",
                       "a survey.json, or JSON of matrix or transfer, of this machine: its figures "
                       "decide which node gpu:0, nearest:gpu:0 and fastest are")));
  std::vector<std::string> kinds;
  for (const PageKind kind : usual_page_kinds) kinds.emplace_back(name_of(kind));
  const std::string usual_pages = benchmark.options.usual_pages;
  const bool several = !benchmark.options.one_kind_of_pages;
  place(add_parsed(
      app, "--pages", options_.pages, usual_pages, type_of_words(kinds, several),
      std::string("page sizes") +
          (usual_pages.empty() ? " (default: thp where available, else base)\n"
                                 "Interleaved memory has base pages by default"
                               : "") +
          (several ? "\nSeveral are measured in turn. Other" : "\nOther") +
          " sizes of the system's pools: 64K, 1M, 16M, 32M, 512M, 2G, 16G",
      [several, name = benchmark.name](const std::string& text) -> Expected<std::vector<PageKind>> {
        auto kinds = TRY(parse_page_kinds(text));
        if (kinds.size() > 1 && !several)
          return fail_usage("--pages", name + " accepts one kind of pages", "run it once for each");
        return kinds;
      }));
  place(rare(app.add_flag("--strict", options_.strict,
                          "fail if memory is misplaced or figures are UNRELIABLE\n"
                          "Memory is misplaced if its nodes or pages are not those that were asked "
                          "for. The exit code is 1 where figures are UNRELIABLE")));
  place(rare(add_machine_option(app, options_.machine)));
  place(add_mpi_option(app, options_.mpi));
}

void CommonOptions::add_measurement(CLI::App& app, const TimeOption& time) {
  const auto measure = [](CLI::Option* option) { option->group("Measurement"); };
  measure(app.add_flag("--serial", options_.serial,
                       "measure one worker at a time while the others sleep"));
  measure(rare(add_parsed(app, "--precision", options_.precision, "1%", "FRACTION",
                          "stop a case once it is known this precisely\n"
                          "That is when half of its 95 % interval is at most this fraction of the "
                          "value",
                          parse_part)));
  options_.time_of_all = time.of_all;
  const char* const without =
      time.fixed    ? ""
      : time.of_all ? ". Without it, each case has 100 ms if there are more than 100"
                    : ". Without it all cases together take about 10 s at most, or 100 ms each if "
                      "that is more";
  CLI::Option* const option =
      add_parsed(app, "--time", options_.stop.time, time.text, "TIME",
                 fmt::format("time limit of {}\nIn seconds, or with a unit{}",
                             time.of_all ? "all cases together" : "each case", without),
                 parse_time);
  measure(option);
  time_option_ = time.fixed ? nullptr : option;
  measure(rare(add_parsed(app, "--visits", options_.visits, "", "N",
                          "measure each case N times, each in new memory (default: 5 to 10)\n"
                          "By default, a case ends once --precision is met; on a virtual machine, "
                          "when the time is used up",
                          whole(1, 1000))));
  measure(rare(add_parsed(app, "--seed", options_.seed, "1", "N", "seed of all random choices",
                          whole<std::uint64_t>(0, UINT64_MAX))));
  measure(rare(add_choice<Verify>(app, "--verify", options_.verify,
                                  {{"proof", Verify::proof}, {"full", Verify::full}},
                                  "how to verify a chain before use: prove that it is one cycle, "
                                  "or also walk it completely (full)")));
  measure(rare(app.add_flag("--skip-too-large", options_.skip_too_large,
                            "skip sizes that do not fit into memory instead of refusing to start; "
                            "it is an error if none is left")));
  measure(rare(app.add_flag("--ignore-side-caches", options_.ignore_side_caches,
                            "choose sizes past the caches of CPUs, but not past memory-side "
                            "caches: memory past large ones takes long to prepare")));
}

void CommonOptions::add_output(CLI::App& app) {
  const auto output = [](CLI::Option* option) { option->group("Output"); };
  output(add_choice(app, "--format", options_.format, named(reporter_names()), "output format"));
  output(
      rare(add_choice(app, "--color", color_, named({"auto", "always", "never"}),
                      "mark remote cells, intervals wider than 10 % and slow hosts with colors: on "
                      "terminals unless NO_COLOR is set (auto), always or never")));
  output(add_value(app, "--csv", options_.csv_file, "FILE",
                   "also write the first table as CSV\n"
                   "A matrix is a square without heads. --format csv has all figures, with their "
                   "intervals"));
  output(add_value(app, "--json", options_.json_file, "FILE",
                   "also write the whole result as JSON\n"
                   "It has figures with intervals, the environment and the observed placement"));
  output(rare(add_label_option(app, options_.style.labels)));
  output(
      app.add_flag("--stats", options_.style.stats,
                   "also print intervals and percentiles\nThey are those of each worker and case"));
  output(add_quiet(app, options_.quiet));
  output(app.add_flag("--dry-run", options_.dry_run, "print the plan and stop"));
}

Expected<RunOptions> CommonOptions::parse() const {
  RunOptions options = options_;
  options.atlas = TRY(parse_atlas(atlas_, options.words));
  // mpirun gives tasks a terminal of its own, whatever their output goes to.
  options.style.color =
      wants_color(color_) && (color_ == "always" || !detect_launcher().launched());
  if (engine_ != "real" && engine_ != "null")
    return fail_usage("--engine", fmt::format("'{}' is not one of real, null", engine_));
  options.null_engine = engine_ == "null";
  if (!noise_.empty()) {
    if (!options.null_engine)
      return fail_usage("--noise", "works only with the null engine", "add --engine null");
    options.noise = TRY(of_option("--noise", parse_noise(noise_)));
  }
  options.time_is_usual = time_option_ != nullptr && time_option_->count() == 0;
  TRY(is_alone(options.machine, options.null_engine, options.only_plans()));
  return options;
}

}  // namespace numatlas
