#include "benchmarks/options.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/size_list.h"
#include "base/text.h"
#include "gpu/buffers.h"

namespace numatlas {
namespace {

template <class T>
Expected<T> parse_whole(const std::string& text, T low, T high, const char* option) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    return fail(ErrorKind::usage, fmt::format("{}: '{}' is not a whole number from {} to {}",
                                              option, text, low, high));
  }
  return value;
}

template <class T>
Expected<T> parse_choice(const std::string& text, const char* option,
                         const std::vector<std::pair<const char*, T>>& choices) {
  std::string names;
  for (const auto& [name, value] : choices) {
    if (text == name) return value;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  return fail(ErrorKind::usage, fmt::format("{}: '{}' is not one of {}", option, text, names));
}

/// Most worker threads of a rank: far above any machine, low enough to catch a slip of the hand.
constexpr int most_threads = 65536;

/// "4", "1-8" or "1,2,4,8", ascending.
Expected<std::vector<int>> parse_thread_counts(const std::string& text) {
  const auto one = parse_whole<int>(text, 1, most_threads, "--threads");
  if (one) return std::vector<int>{*one};
  const bool several = text.find_first_of(",-") != std::string::npos && text.front() != '-';
  const auto list = several ? parse_list<CpuId>(text) : fail(one.error());
  if (!list) return fail(one.error().kind, one.error().message, "or several: 1-8, 1,2,4,8");
  std::vector<int> counts;
  for (CpuId id : *list) counts.push_back(id.value);
  if (counts.empty() || counts.front() < 1 || counts.back() > most_threads)
    return fail(one.error());
  return counts;
}

}  // namespace

CLI::Option* refuse_empty(CLI::Option* option) {
  return option->check(CLI::Validator(
      [](const std::string& text) { return std::string(text.empty() ? "the value is empty" : ""); },
      ""));
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    words.emplace_back(trim(std::string_view(list).substr(at, end - at)));
    at = end + 1;
  }
  return words;
}

Expected<std::vector<std::string>> parse_words(const std::string& text, const char* option,
                                               const std::vector<std::string>& known) {
  std::vector<std::string> words = words_of(text);
  for (const std::string& word : words) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      return fail(ErrorKind::usage,
                  fmt::format("{}: '{}' is not one of {}", option, word, fmt::join(known, ", ")));
    }
  }
  return words;
}

Expected<Bytes> parse_one_size(const std::string& text, const std::string& command) {
  const auto sizes = parse_sizes(text);
  if (!sizes) return fail(sizes.error());
  if (sizes->size() == 1) return sizes->front();
  return fail(ErrorKind::usage, fmt::format("--size: {} takes one size", command),
              "run it once for each");
}

Error renamed(Error error, std::string_view ours, std::string_view theirs) {
  if (error.message.starts_with(ours)) error.message.replace(0, ours.size(), theirs);
  return error;
}

void add_machine_option(CLI::App& app, std::string& machine) {
  refuse_empty(
      app.add_option("--machine", machine,
                     "a recorded machine instead of this one: hwloc XML, a snapshot of `topology "
                     "--format json`, or a synthetic description such as \"numa:4 core:8 pu:2\""))
      ->type_name("FILE|SPEC");
}

void CommonOptions::add_to(CLI::App& app, const TimeOption& time,
                           const std::vector<std::string>& without) {
  time_ = time.text;
  time_of_all_ = time.of_all;
  add_placement(app);
  add_measurement(app);
  add_output(app);
  add_machine_option(app, plain_.machine);
  app.add_option("--mpi", plain_.mpi, "auto, none, or an MPI of `numatlas features`")
      ->envname("NUMATLAS_MPI")
      ->type_name("NAME")
      ->capture_default_str();
  // For tests: "null" touches no memory and has a scripted clock.
  app.add_option("--engine", engine_)->envname("NUMATLAS_ENGINE")->group("");
  for (const std::string& name : without) {
    CLI::Option* const option = app.get_option(name);
    if (option == process_memory_option_) process_memory_option_ = nullptr;
    app.remove_option(option);
  }
}

void CommonOptions::add_placement(CLI::App& app) {
  const auto place = [](CLI::Option* o) { refuse_empty(o)->group("Placement"); };
  place(
      app.add_option("--cpus", cpus_,
                     "allowed (default), cores, a list such as 1-7,17, node:0,1, or lists by local "
                     "rank separated by /")
          ->type_name("CPUS"));
  place(app.add_option("--threads", threads_,
                       "workers a rank (default: one under a launcher; OMP_NUM_THREADS); bandwidth "
                       "and copy also compare several: 1-8, 1,2,4")
            ->type_name("N"));
  place(app.add_option("--memory", memory_,
                       "local, bind:0, prefer:0, interleave:0,1, weighted:0=3,2=1, each:0,0,1,1, "
                       "auto, pmem:DIR, dax:/dev/dax0.0, memkind:KIND, memkind:DIR, inherit "
                       "(default: inherit when a policy is set, else local)")
            ->type_name("PLACEMENT"));
  place(app.add_option("--pages", pages_, "base, thp, 2M, 1G; several in one run: base,2M")
            ->type_name("KINDS")
            ->capture_default_str());
  app.add_flag("--strict", plain_.strict, "an unmet placement is an error, not a warning")
      ->group("Placement");
}

void CommonOptions::add_measurement(CLI::App& app) {
  const auto measure = [](CLI::Option* o) { o->group("Measurement"); };
  measure(app.add_flag("--serial", plain_.serial, "one worker at a time, the others sleep"));
  measure(app.add_option("--precision", precision_,
                         "stop when the median's 95 % interval is within this part of it")
              ->type_name("PART")
              ->capture_default_str());
  measure(app.add_option("--time", time_,
                         time_of_all_
                             ? "for all points together, shared among them; seconds unless a unit "
                               "is given"
                             : "cap on the measuring time of each point; seconds unless a unit is "
                               "given")
              ->type_name("TIME")
              ->capture_default_str());
  measure(app.add_option("--seed", seed_, "of the access order")
              ->type_name("N")
              ->capture_default_str());
  measure(app.add_option("--verify", verify_, "proof, or full: walk every chain whole as well")
              ->type_name("HOW")
              ->capture_default_str());
  measure(app.add_flag("--skip-too-large", plain_.skip_too_large,
                       "skip sizes that do not fit instead of refusing"));
}

void CommonOptions::add_output(CLI::App& app) {
  const auto output = [](CLI::Option* o) { o->group("Output"); };
  output(app.add_option("--format", format_, "table, csv or json, on standard output")
             ->type_name("FORMAT")
             ->capture_default_str());
  output(refuse_empty(
             app.add_option("--csv", plain_.csv_file,
                            "also write a row a size, a column a worker (ns; GB/s); of bandwidth "
                            "with several kernels, stores or numbers of threads what --format csv "
                            "prints; of stream a row a host, kernel and round"))
             ->type_name("FILE"));
  output(refuse_empty(app.add_option("--json", plain_.json_file, "also write everything"))
             ->type_name("FILE"));
  // STREAM has one of its own: its samples are rounds, and stand in its JSON.
  if (app.get_option_no_throw("--samples") == nullptr) {
    output(refuse_empty(app.add_option("--samples", plain_.samples_file,
                                       "also write all raw samples, as numatlas.load reads them"))
               ->type_name("FILE"));
  }
  // JSON has had none since version 2; scripts may still say so.
  app.add_flag("--no-samples", no_samples_)->group("");
  output(app.add_flag("--stats", plain_.stats, "also n, interval, percentiles of every cell"));
  process_memory_option_ =
      app.add_option("--process-memory", process_memory_,
                     "also where the memory of a rank (default: the last) or of all lies")
          ->type_name("[RANK|all]")
          ->expected(0, 1);
  output(process_memory_option_);
  output(app.add_flag("-q,--quiet", plain_.quiet, "no progress on standard error"));
  output(app.add_flag("--dry-run", plain_.dry_run, "print the plan and stop"));
  output(app.add_flag("--print-scenario", plain_.print_scenario,
                      "print the plan as a file for `numatlas run` and stop"));
}

Expected<RunOptions> CommonOptions::parse() const {
  RunOptions options = plain_;
  const auto cpus = parse_cpu_spec(cpus_.empty() ? "allowed" : cpus_);
  if (!cpus) return fail(cpus.error());
  options.placement.cpus = *cpus;
  options.placement.cpus.is_default = cpus_.empty();
  if (!threads_.empty()) {
    auto counts = parse_thread_counts(threads_);
    if (!counts) return fail(counts.error());
    options.placement.threads = counts->back();
    if (counts->size() > 1) options.thread_counts = *std::move(counts);
  }
  if (!memory_.empty()) {
    auto memory = parse_memory_spec(memory_);
    if (!memory) return fail(memory.error());
    // It is that of workers, which are CPUs.
    if (gpu_of(memory->single) >= 0) {
      return fail(
          ErrorKind::usage, fmt::format("--memory: {} is memory that only GPUs reach", memory_),
          "numatlas transfer copies to GPUs and from them; a file of scenarios may say more");
    }
    options.placement.memory = *std::move(memory);
  }
  auto pages = parse_page_kinds(pages_);
  if (!pages) return fail(pages.error());
  options.pages = *std::move(pages);
  const auto precision = parse_part(precision_);
  if (!precision) {
    return fail(ErrorKind::usage, "--precision: " + precision.error().message,
                precision.error().hint);
  }
  options.stop.precision = *precision;
  const auto time = parse_duration(time_);
  if (!time) return fail(ErrorKind::usage, "--time: " + time.error().message, time.error().hint);
  options.stop.time = *time;
  options.time_of_all = time_of_all_;
  options.stop.least_time = std::min(options.stop.least_time, *time);
  const auto seed = parse_whole<std::uint64_t>(seed_, 0, ~std::uint64_t{0}, "--seed");
  if (!seed) return fail(seed.error());
  options.seed = *seed;
  const auto verify =
      parse_choice<Verify>(verify_, "--verify", {{"proof", Verify::proof}, {"full", Verify::full}});
  if (!verify) return fail(verify.error());
  options.verify = *verify;
  const auto format = parse_choice<Format>(
      format_, "--format",
      {{"table", Format::table}, {"csv", Format::csv}, {"json", Format::json}});
  if (!format) return fail(format.error());
  options.format = *format;
  const auto null_engine =
      parse_choice<bool>(engine_, "--engine", {{"real", false}, {"null", true}});
  if (!null_engine) return fail(null_engine.error());
  options.null_engine = *null_engine;
  if (process_memory_option_ != nullptr && process_memory_option_->count() > 0)
    options.process_memory = process_memory_;
  if (options.process_memory && !options.process_memory->empty() &&
      *options.process_memory != "all") {
    const auto rank = parse_whole<int>(*options.process_memory, 0, 1 << 30, "--process-memory");
    if (!rank) return fail(rank.error());
  }
  if (!options.machine.empty() && !options.only_plans() && !options.null_engine) {
    return fail(ErrorKind::usage, "--machine: a recorded machine cannot be measured",
                "add --dry-run to see what would be done there");
  }
  return options;
}

}  // namespace numatlas
