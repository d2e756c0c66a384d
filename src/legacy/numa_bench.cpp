// numa_bench: two CPUs, on their own and on each other's first-touched memory, with the lines of
// the program of this name.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "legacy/programs.h"
#include "placement/policy.h"
#include "run/declare.h"

namespace numatlas::legacy {
namespace {

constexpr const char* numa_bench_name = "numa_bench";

// What each core of the original does: one update for each byte of its 256 MiB.
constexpr double updates = 1 << 28;

/// How it says what `numatlas touch` says.
const OwnWords numa_bench_words{{{"--cpus", "--core0, --core1"}},
                                "each core uses 256 MiB; `numatlas touch` has --size"};

struct TwoCores {
  std::optional<int> first, second;
  std::string pattern = "own";  ///< of `numatlas touch`
  bool serial = false;
};

void declare(CLI::App& app, TwoCores& options) {
  app.name(numa_bench_name);
  app.add_option("--core0", options.first,
                 "first CPU, given together with --core1 (default: a CPU of the first NUMA node)")
      ->type_name("CPU");
  app.add_option("--core1", options.second,
                 "second CPU, given together with --core0 (default: a CPU of the second NUMA node, "
                 "or another one of the only node)")
      ->type_name("CPU");
  add_choice<std::string>(
      app, "--pattern", options.pattern,
      {{"own", "own"}, {"first", "other"}, {"crossed", "crossed"}},
      "which memory each core uses: what it touched first itself (own), what the "
      "first core touched first (first), or what the other touched first "
      "(crossed)");
  app.add_flag("--serial", options.serial,
               "run one core after the other, as the original does, instead of both at once");
  app.footer(
      "The seconds are those of 2^28 scattered updates at the measured rate; fewer are really run. "
      "`numatlas touch` measures the same with more options.");
}

/// As words of `numatlas touch`.
Expected<std::vector<std::string>> translated(const TwoCores& options) {
  if (options.first.has_value() != options.second.has_value())
    return fail(ErrorKind::usage, "--core0 and --core1 go together", "give both or neither");
  std::vector<std::string> words{"--threads", "2", "--pattern", options.pattern, "--kernel",
                                 "scatter", "--size", "256",
                                 // The original goes over its memory once.
                                 "--visits", "5"};
  for (const std::optional<int>& core : {options.first, options.second}) {
    if (core && *core < 0) return fail_usage("--core0, --core1", "CPUs count from 0");
  }
  if (options.first && *options.first == *options.second) {
    return fail(ErrorKind::usage,
                fmt::format("--core0 and --core1 are the same CPU {}", *options.first),
                "name two different ones");
  }
  if (options.first) {
    words.insert(words.end(), {"--cpus", fmt::format("{},{}", *options.first, *options.second)});
  }
  if (options.serial) words.push_back("--serial");
  return words;
}

/// Without cores named, two of those that this process may use are taken.
Expected<void> check_two_cpus() {
  const CpuSet cpus = thread_affinity();
  if (cpus.size() > 1) return {};
  return fail(
      ErrorKind::unavailable,
      fmt::format("two cores are required, but this process may use CPU {} only", to_list(cpus)),
      "start it with a wider CPU mask (taskset, mpirun --bind-to none, srun --cpu-bind=none)");
}

}  // namespace

std::string node_lines(const Machine& machine) {
  const CpuSet all = machine.all_cpus();
  const int last = all.empty() ? -1 : all[all.size() - 1].value;
  std::string text;
  for (const NumaNode& node : machine.nodes) {
    std::string digits;
    for (int cpu = 0; cpu <= last; ++cpu) digits += node.cpus.contains(CpuId{cpu}) ? '1' : '0';
    text += fmt::format("NUMA node {}: {} - {} MB\n", node.id.value, digits,
                        node.memory_total ? std::to_string(node.memory_total->value / mib) : "-");
  }
  return text;
}

std::string core_lines(const RunReport& report, const std::string& run) {
  std::string text;
  for (const Case& one : report.cases) {
    if (label_of(one, "run") != run) continue;
    for (const FlowResult& flow : one.flows) {
      const WorkerRow& worker = report.workers[static_cast<std::size_t>(flow.worker)];
      const Figure* const update = find_figure(flow, "access_time");
      text += fmt::format("Core {}: {}\n", to_list(worker.cpus),
                          update != nullptr && update->value()
                              ? fmt::format("{:.3f}s", *update->value() * updates)
                              : "-");
    }
  }
  return text;
}

int numa_bench(const std::vector<std::string>& words) {
  CLI::App app("Two CPUs on their own, or on each other's, first-touched memory.");
  TwoCores options;
  declare(app, options);
  if (const auto ended = parse_program(app, words)) return *ended;
  const auto touch_words = translated(options);
  if (!touch_words) return end_with_error(touch_words.error());
  const auto parsed = translated_run("touch", *touch_words);
  const auto table = [&](const RunReport& report) {
    return node_lines(report.machines.front()) +
           core_lines(report, options.serial ? "alone" : "together");
  };
  const auto check = [&]() -> Expected<void> {
    const bool chosen = options.first || !parsed->options.machine.empty();
    return chosen ? Expected<void>{} : check_two_cpus();
  };
  return run_alone(parsed, numa_bench_words, plain_hooks(table), usual_notes, check);
}

}  // namespace numatlas::legacy
