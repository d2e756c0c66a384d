// distributed_streams and its variants for persistent memory, as their users know them: the same
// arguments, banner, table and files, from `numatlas stream`.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/terminal.h"
#include "base/whole.h"
#include "benchmarks/stream/summary.h"
#include "engine/agreement.h"
#include "legacy/programs.h"
#include "report/dat.h"
#include "run/declare.h"
#include "run/runner.h"

namespace numatlas::legacy {
namespace {

const char* name_of(StreamVariant variant) {
  switch (variant) {
    case StreamVariant::memory: return "distributed_streams";
    case StreamVariant::pmem: return "distributed_streams_pmem";
    case StreamVariant::memkind: return "distributed_streams_memkind";
  }
  return "distributed_streams";
}

const OwnWords streams_words{
    {{"--elements", "CACHE_ELEMENTS"}, {"--repeats", "REPEATS"}, {"--dat", "memory_results"}},
    "give fewer CACHE_ELEMENTS, or start fewer processes or threads"};

struct Arguments {
  std::string cache_elements, repeats, path;
};

void declare(CLI::App& app, StreamVariant variant, Arguments& arguments) {
  app.name(name_of(variant));
  add_value(
      app, "CACHE_ELEMENTS", arguments.cache_elements, "",
      "elements of 8 bytes that the last-level cache holds; each array has four times as many, "
      "divided by the processes of a node")
      ->required();
  add_value(app, "REPEATS", arguments.repeats, "",
            "number of runs of each kernel; the first one does not count")
      ->required();
  if (variant == StreamVariant::memory) {
    // The original takes it from every program's users, and this one has no use for it.
    app.add_option("PMEM_PATH", arguments.path, "ignored")->type_name("");
  } else {
    add_value(
        app, "PMEM_PATH", arguments.path, "FOLDER",
        variant == StreamVariant::pmem
            ? "folder on persistent memory; PMEM_PATH0, PMEM_PATH1, ... where these exist: one "
              "for each socket"
            : "folder on persistent memory")
        ->required();
  }
  app.footer(
      "OMP_NUM_THREADS is the number of threads of a process. `numatlas stream` measures the same "
      "with more options.");
}

/// Of a run that numatlas made: the mode's kernels and their rows.
struct Line {
  std::string name;
  TimeRow row;
};

constexpr std::size_t name_width = 12;

std::string line_of(const Line& line, const std::string& place) {
  const auto mb = [](double rate) { return rate * 1e-6; };
  return fmt::format("{:<{}}{:>17.1f}: {:>10.6f}: {:>13.1f}: {:>10.6f}: {:>13.1f}: {:>10.6f}{}{}\n",
                     line.name + ":", name_width, mb(line.row.average_rate), line.row.average,
                     mb(line.row.maximum_rate), line.row.minimum, mb(line.row.minimum_rate),
                     line.row.maximum, place.empty() ? "" : "  ", place);
}

/// Where both a folder and numbered ones are, the numbered ones are meant.
bool has_folder_for_each_socket(const std::string& path) {
  std::error_code none;
  return std::filesystem::is_directory(path + "0", none);
}

/// Of several the first: most mistakes are found before main memory is measured for minutes.
Expected<void> check_folder(const std::string& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) {
    if (access(path.c_str(), W_OK | X_OK) == 0) return {};
    return fail_about(ErrorKind::permission, "PMEM_PATH",
                      fmt::format("{}: {}", path, errno_text(errno)),
                      "name a folder that this user may write to");
  }
  return fail_about(code ? file_error_kind(code.value()) : ErrorKind::usage, "PMEM_PATH",
                    fmt::format("{}: {}", path, code ? code.message() : "it is not a folder"),
                    "name an existing folder on persistent memory");
}

/// What a table of this program has no place for.
void say_warnings(const RunReport& run) {
  std::string text;
  for (const Warning& warning : run.warnings) text += "warning: " + full_text(warning) + "\n";
  say(text);
}

/// One of the programs' runs of `numatlas stream`, on all ranks.
Expected<void> run_task(Comm& comm, const std::vector<std::string>& words,
                        const std::function<std::string(const RunReport&)>& table) {
  const auto parsed = TRY(translated_run("stream", words));
  RunHooks hooks;
  hooks.in_words = [](Error error) { return in_its_words(std::move(error), streams_words); };
  hooks.table = [&](const RunReport& run) {
    say_warnings(run);
    return table(run);
  };
  TRY(run_benchmark(parsed.benchmark, parsed.options, comm, hooks));
  return {};
}

int fewest_processes(const Comm& comm) {
  int fewest = comm.size();
  for (std::size_t host = 0; host < comm.layout().hosts.size(); ++host)
    fewest = std::min(fewest, comm.layout().ranks_on(static_cast<int>(host)));
  return fewest;
}

std::string persistent_tables(const RunReport& run, int repeats) {
  std::string text;
  std::set<std::string> done;
  for (const Case& one : run.cases) {
    const std::string mode = label_of(one, mode_label);
    if (mode.empty() || !done.insert(mode).second) continue;
    // Of memkind nothing is made to last.
    const std::string how = mode == "memory" ? "memkind" : mode + " persist";
    text += streams_banner(run, fmt::format("Stream Persistent Memory Task ({})", how), repeats) +
            streams_table(run, mode, repeats) + "\n";
  }
  return text;
}

}  // namespace

std::uint64_t elements_per_process(std::uint64_t cache_elements, int fewest_processes) {
  return std::max<std::uint64_t>(
      1, 4 * cache_elements / static_cast<std::uint64_t>(std::max(1, fewest_processes)));
}

std::string streams_banner(const RunReport& run, const std::string& task, int repeats) {
  const auto mib_of = [](double bytes) { return bytes / static_cast<double>(mib); };
  const auto gib_of = [](double bytes) { return bytes / static_cast<double>(gib); };
  const std::uint64_t elements = elements_of(run);
  const double array = static_cast<double>(elements) * 8;
  int most = 0, least = run.ranks, threads = 0;
  for (const HostRow& host : run.host_rows) {
    most = std::max(most, host.processes);
    least = std::min(least, host.processes);
    threads = std::max(threads, host.workers / host.processes);
  }
  const double node = 3 * array * most;
  const std::string a_node =
      least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
  return fmt::format(
      "{}\n"
      "This system uses 8 bytes per array element.\n"
      "Array size = {} (elements), Offset = 0 (elements)\n"
      "Memory per array = {:.1f} MiB (= {:.1f} GiB).\n"
      "Total memory required per process = {:.1f} MiB (= {:.1f} GiB).\n"
      "Total memory required per node = {:.1f} MiB (= {:.1f} GiB).\n"
      "Each kernel will be executed {} times.\n"
      "The *best* time for each kernel (excluding the first iteration)\n"
      "will be used to compute the reported bandwidth.\n"
      "Running with {} MPI processes, each with {} OpenMP threads. {} processes per node\n",
      task, elements, mib_of(array), gib_of(array), mib_of(3 * array), gib_of(3 * array),
      mib_of(node), gib_of(node), repeats, run.ranks, threads, a_node);
}

std::string streams_table(const RunReport& run, const std::string& mode, int repeats) {
  std::string text = fmt::format(
      "{:<{}}{:>17}  {:>10}  {:>13}  {:>10}  {:>13}  {:>10}  {}\n"
      "{:<{}}{:>17}  {:>10}  {:>13}  {:>10}  {:>13}  {:>10}  {}\n{}\n",
      "Benchmark", name_width, "Average Bandwidth", "Avg Time", "Max Bandwidth", "Min Time",
      "Min Bandwidth", "Max Time", "Max Time Location", "", name_width, "(MB/s)", "(seconds)",
      "(MB/s)", "(seconds)", "(MB/s)", "(seconds)", "(proc name)", std::string(118, '-'));
  const auto rows = kernel_rows(run);
  std::string nodes;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Case& one = run.cases[i];
    if (!rows[i] || label_of(one, mode_label) != mode) continue;
    const std::string name = capitalised(one.kernel);
    const KernelRows& both = *rows[i];
    text += line_of({name, both.process}, run.hosts[both.process.slowest_host]);
    // The original's average: that of the processes, whose rates it adds up.
    TimeRow node = both.host;
    node.average = both.process.average;
    node.average_rate = both.summed_rate;
    nodes += line_of({"Node " + name, node}, "");
  }
  text += nodes;
  if (!run.complete) {
    text += fmt::format("Incomplete: {} of {} repeats: {}\n", finished_rounds(run), repeats,
                        run.incomplete_reason);
  }
  return text;
}

int distributed_streams(StreamVariant variant, const std::vector<std::string>& words) {
  CLI::App app("STREAM over MPI ranks and OpenMP threads, by process and by node.");
  Arguments arguments;
  declare(app, variant, arguments);
  if (const auto ended = parse_program(app, words)) return *ended;
  // Four times as many bytes are still an address.
  constexpr std::uint64_t most = std::uint64_t{1} << 53;
  auto cache = parse_whole<std::uint64_t>(arguments.cache_elements, 1, most, "CACHE_ELEMENTS");
  if (!cache) {
    cache.error().hint = "see --help";
    return end_with_error(cache.error());
  }
  return run_on_ranks(streams_words, [&](Comm& comm) -> Expected<void> {
    if (variant == StreamVariant::memory && !arguments.path.empty() && comm.rank() == 0) {
      say(fmt::format("{}: warning: PMEM_PATH is ignored: {}_pmem measures it\n", name_of(variant),
                      name_of(variant)));
    }
    const bool numbered =
        variant == StreamVariant::pmem && has_folder_for_each_socket(arguments.path);
    if (variant != StreamVariant::memory) {
      const auto there = check_folder(arguments.path + (numbered ? "0" : ""));
      TRY(agree(comm, error_of(there)));
    }
    const std::vector<std::string> common{
        "-q", "--repeats", arguments.repeats, "--elements",
        std::to_string(elements_per_process(*cache, fewest_processes(comm)))};
    // What is not a number is refused before any table.
    const int repeats = std::atoi(arguments.repeats.c_str());
    std::vector<std::string> memory = common;
    memory.insert(memory.end(), {"--dat", "."});
    auto ran = run_task(comm, memory, [&](const RunReport& run) {
      return streams_banner(run, "Stream Memory Task", repeats) +
             streams_table(run, "memory", repeats) + (variant == StreamVariant::memory ? "" : "\n");
    });
    if (!ran || variant == StreamVariant::memory) return ran;
    // A word without a slash would be one of memkind's kinds.
    const bool plain = arguments.path.find('/') == std::string::npos;
    const std::string place = (variant == StreamVariant::pmem ? "pmem:" : "memkind:") +
                              std::string(plain ? "./" : "") + arguments.path +
                              (numbered ? "{socket}" : "");
    std::vector<std::string> persistent = common;
    persistent.insert(persistent.end(), {"--memory", place});
    if (variant == StreamVariant::pmem) {
      persistent.insert(persistent.end(), {"--persist", "none,individual,collective", "--kernels",
                                           "copy,scale,add,triad,read,write"});
    }
    return run_task(comm, persistent,
                    [&](const RunReport& run) { return persistent_tables(run, repeats); });
  });
}

}  // namespace numatlas::legacy
