// numa_gpu_xfer_bench: copies between memory of the host and GPUs, with the command line and the
// four lines of the program `benchmark` of numa-gpu-xfer-bench.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "legacy/programs.h"
#include "run/declare.h"

namespace numatlas::legacy {
namespace {

/// How it says what `numatlas transfer` says.
const OwnWords gpu_xfer_words{
    {{"--gpus", "--ngpus"}, {"--latency-size", "--benchmark_bytes"}, {"--json", "--json"}}};

// What the original rounds up to.
constexpr std::uint64_t page = 4096;
// More than any machine has, and little enough that sums over GPUs are right.
constexpr std::uint64_t most_gpu_bytes = std::uint64_t{1} << 50;

void declare_gpu_xfer(CLI::App& app, GpuXfer& asked) {
  constexpr int most = std::numeric_limits<int>::max();
  app.name("numa_gpu_xfer_bench");
  add_parsed(
      app, "--ngpus", asked.gpus, "", "N",
      "number of GPUs, the first ones of those that the driver counts; all copy at the same time",
      whole(1, most))
      ->required();
  add_parsed(app, "--benchmark_bytes", asked.bytes.value, "", "BYTES",
             "bytes per copy, rounded up to whole pages of 4096",
             whole<std::uint64_t>(1, most_gpu_bytes))
      ->required();
  add_parsed(app, "--iterations_per_bench", asked.iterations, "", "N",
             "number of timed copies per GPU and direction, after a warm-up of at least 2 copies",
             whole(1, most))
      ->required();
  add_choices<std::string>(app, "--operation_type", asked.directions, {{"R", "h2d"}, {"W", "d2h"}},
                           "copies from host to device (R), from device to host (W), or one, then "
                           "the other")
      ->required();
  add_choice<bool>(app, "--pin_memory", asked.pinned, {{"0", false}, {"1", true}},
                   "whether the host's memory is pinned")
      ->required()
      ->default_str("");
  add_parsed(
      app, "--time", asked.time, "", "TIME",
      "limit on measuring each direction; a warning says where it ended one before its copies "
      "were done (default: what the copies would take one after the other at 1 GB/s, at least "
      "2 s)",
      parse_duration);
  add_value(app, "--json", asked.json, "FILE",
            "also write everything, as `numatlas transfer` does");
  app.add_flag("--strict", asked.strict,
               "make memory that does not lie where numactl asked for it an error");
  add_quiet(app, asked.quiet);
  app.footer(
      "The host's memory lies where numactl says. `numatlas transfer` measures the same with more "
      "options, scripts/interleave_scripts.sh whole tables.");
}

Bytes copied_bytes(const GpuXfer& asked) {
  return Bytes{(asked.bytes.value + page - 1) / page * page};
}

const Case* point_of(const RunReport& report, const std::string& direction) {
  for (const Case& one : report.cases) {
    if (label_of(one, "direction") == direction) return &one;
  }
  return nullptr;
}

/// With `least` decimals, or more where that makes four figures.
std::string figures_text(const std::optional<double>& value, int least) {
  if (!value || !(*value > 0)) return "-";
  constexpr int figures = 4, most = 9;
  const int before = static_cast<int>(std::floor(std::log10(*value))) + 1;
  return fmt::format("{:.{}f}", *value, std::clamp(figures - before, least, most));
}

const char* operation_text(const std::string& direction) {
  return direction == "h2d" ? "host-to-device" : "device-to-host";
}

const Summary* copies_of(const FlowResult& flow) {
  const Figure* latency = find_figure(flow, "copy_latency");
  return latency != nullptr && latency->summary ? &*latency->summary : nullptr;
}

/// Where --time ended a direction: the copies of the GPU that has fewest.
std::optional<Warning> cut_off_note(const Case& one, const GpuXfer& asked) {
  std::optional<std::size_t> fewest;
  for (const FlowResult& flow : one.flows) {
    const Summary* copies = copies_of(flow);
    if (flow.stop == "time_cap" && copies != nullptr)
      fewest = std::min(fewest.value_or(copies->n), copies->n);
  }
  if (!fewest) return std::nullopt;
  return Warning{"time-cap", one.name,
                 fmt::format("the time limit ended it after {} of {} copies per GPU", *fewest,
                             asked.iterations)};
}

}  // namespace

Nanoseconds longest_time(const GpuXfer& asked) {
  if (asked.time) return *asked.time;
  // Below any link, and for a copy that is waited for; GPUs that take turns take as many times
  // that.
  constexpr double slowest = 1e9, once = 100e-6;
  constexpr double shortest = 2, longest = 24 * 3600;
  const double copies = static_cast<double>(asked.iterations) * asked.gpus;
  const double seconds = copies * (static_cast<double>(copied_bytes(asked).value) / slowest + once);
  return std::chrono::duration_cast<Nanoseconds>(
      std::chrono::duration<double>(std::clamp(seconds, shortest, longest)));
}

Expected<ParsedRun> transfer_run(const GpuXfer& asked) {
  std::vector<std::string> words{"--measure",
                                 "latency",
                                 "--together",
                                 "--gpus",
                                 asked.gpus == 1 ? "0" : fmt::format("0-{}", asked.gpus - 1),
                                 "--direction",
                                 fmt::format("{}", fmt::join(asked.directions, ",")),
                                 "--pin",
                                 asked.pinned ? "pinned" : "pageable",
                                 "--latency-size",
                                 fmt::format("{}B", copied_bytes(asked).value),
                                 "--mpi",
                                 "none"};
  const std::vector<std::string> test = test_words();
  // A recorded machine has no numactl around it.
  if (std::find(test.begin(), test.end(), "--memory") == test.end())
    words.insert(words.end(), {"--memory", "inherit"});
  words.insert(words.end(), test.begin(), test.end());
  if (asked.strict) words.emplace_back("--strict");
  if (asked.quiet) words.emplace_back("--quiet");
  if (!asked.json.empty()) words.insert(words.end(), {"--json", asked.json});
  auto parsed = parse_run("transfer", words);
  if (!parsed) return parsed;
  StopRule& stop = parsed->options.stop;
  stop.steps = static_cast<std::uint64_t>(asked.iterations);
  stop.time = longest_time(asked);
  parsed->options.visits = 1;  // that many copies, in one go
  return parsed;
}

GpuXferFigures figures_of(const RunReport& report, const std::string& direction) {
  const Case* one = point_of(report, direction);
  if (one == nullptr) return {{}, {}, "not measured"};
  if (one->status != Status::ok) return {{}, {}, one->reason};
  double seconds = 0, copies = 0;
  for (const FlowResult& flow : one->flows) {
    const Summary* its = copies_of(flow);
    if (its == nullptr) continue;
    seconds += its->mean * static_cast<double>(its->n);
    copies += static_cast<double>(its->n);
  }
  if (!(seconds > 0)) return {{}, {}, "no copy was timed"};
  const double mean = seconds / copies;
  return {mean * 1e3, static_cast<double>(one->size.value) / mean / gib, ""};
}

std::string ms_text(const std::optional<double>& copy_ms) { return figures_text(copy_ms, 3); }
std::string gib_text(const std::optional<double>& gib_second) {
  return figures_text(gib_second, 2);
}

std::string gpu_xfer_text(const GpuXfer& asked, const RunReport& report) {
  std::string text;
  for (const std::string& direction : asked.directions) {
    const GpuXferFigures figures = figures_of(report, direction);
    text += fmt::format("Average {} latency: {} ms\nAverage {} bandwidth: {} GiB/s\n",
                        operation_text(direction), ms_text(figures.copy_ms),
                        operation_text(direction), gib_text(figures.gib_second));
  }
  return text;
}

std::vector<Warning> gpu_xfer_notes(const RunReport& report, const GpuXfer& asked) {
  std::vector<Warning> notes;
  for (const Case& one : report.cases) {
    if (one.status != Status::ok)
      notes.push_back({"", fmt::format("{}: {}", one.name, name_of(one.status)), one.reason});
    if (auto note = cut_off_note(one, asked)) notes.push_back(*std::move(note));
  }
  for (const Warning& warning : report.warnings) {
    if (std::find(notes.begin(), notes.end(), warning) == notes.end()) notes.push_back(warning);
  }
  return notes;
}

int gpu_xfer(const std::vector<std::string>& words) {
  CLI::App app("Copies between memory of the host and GPUs, under numactl's policy.");
  GpuXfer asked;
  declare_gpu_xfer(app, asked);
  if (const auto ended = parse_program(app, words)) return *ended;
  // Each once, host to device first.
  const std::set<std::string, std::greater<>> once(asked.directions.begin(),
                                                   asked.directions.end());
  asked.directions.assign(once.begin(), once.end());
  RunHooks hooks;
  hooks.table = [&](const RunReport& report) { return gpu_xfer_text(asked, report); };
  return run_alone(transfer_run(asked), gpu_xfer_words, hooks, [&](const RunReport& report) {
    std::string notes;
    for (const Warning& note : gpu_xfer_notes(report, asked))
      notes += (note.code.empty() ? "" : "warning: ") + full_text(note) + "\n";
    return notes;
  });
}

}  // namespace numatlas::legacy
