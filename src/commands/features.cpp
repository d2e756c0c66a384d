#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>
#include <hwy/highway.h>
#include <hwy/targets.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/terminal.h"
#include "base/text.h"
#include "benchmarks/parse.h"
#include "comm/comm.h"
#include "commands/command.h"
#include "engine/team.h"
#include "gpu/runtime.h"
#include "memory/buffer.h"
#include "memory/source.h"
#include "placement/policy.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/options.h"
#include "run/place_words.h"

namespace numatlas {
namespace {

/// One capability: present or not, and which one or why not.
struct Feature {
  std::string group, name;
  bool available;
  std::string detail;
};

void add_build(std::vector<Feature>& features) {
  features.push_back({"build", "compiler", true, __VERSION__});
  const std::string team = team_description();
  const bool openmp = team.find("OpenMP") != std::string::npos;
  const auto two = run_team(2, [](int) {});
  features.push_back({"build", "OpenMP worker team", openmp && two,
                      !openmp ? "built without OpenMP: std::thread, OMP_* have no effect"
                      : two   ? team
                              : with_hint(two.error().message, two.error())});
  const unsigned hwloc = hwloc_get_api_version();
  features.push_back({"build", "hwloc", true,
                      fmt::format("API {}.{}.{}", hwloc >> 16, (hwloc >> 8) & 255, hwloc & 255)});
  // The best of the targets that both this build and this CPU have (the lowest bit set).
  const auto targets = hwy::SupportedTargets() & HWY_TARGETS;
  features.push_back({"build", "SIMD", true,
                      fmt::format("Highway {}.{}, {}", HWY_MAJOR, HWY_MINOR,
                                  hwy::TargetName(targets & -targets))});
  const auto plugins = list_mpi_plugins();
  for (const MpiPlugin& plugin : plugins) {
    features.push_back({"build", "MPI: " + plugin.name, plugin.problem.empty(),
                        plugin.problem.empty() ? plugin.path : plugin.problem});
  }
  if (plugins.empty()) {
    features.push_back(
        {"build", "MPI", false,
         "no plug-in: not installed, or built without an MPI compiler (mpicc); `numatlas "
         "mpi-plugin` compiles one"});
  }
}

void add_memory(std::vector<Feature>& features, const Machine& machine) {
  constexpr std::size_t probe_bytes = 2 * mib;
  const auto usable = machine.usable_memory_nodes();
  MemoryPlacement bind;
  if (!usable.empty()) bind = {MemoryMode::bind, {{usable.front(), 1}}};
  const auto bound = allocate({Bytes{probe_bytes}, bind, PageKind::base});
  features.push_back({"memory", "placement (mbind)", bound.has_value(),
                      bound ? "allowed" : full_text(bound.error())});
  if (bound) {
    (*bound)->data()[0] = std::byte{1};
    const Residency seen = observe((*bound)->data(), probe_bytes);
    features.push_back({"memory", "placement observed (move_pages)", seen.problem.empty(),
                        seen.problem.empty() ? "allowed" : seen.problem});
  }
  const bool weighted = kernel_has_weighted_interleave();
  features.push_back({"memory", "weighted interleave by the kernel", weighted,
                      weighted ? "weights under /sys/kernel/mm/mempolicy/weighted_interleave"
                      : bound  ? "requires Linux 6.9: pages are touched node by node instead"
                               : "unknown: mbind is refused"});
  std::vector<PageKind> kinds{PageKind::thp, PageKind::huge_2m, PageKind::huge_1g};
  for (const PageKind kind : pool_page_kinds) {
    const bool usual = std::ranges::find(kinds, kind) != kinds.end();
    const auto there = page_kind_problem(kind, machine, {}, Bytes{});
    if (!usual && (!there || there->kind != ErrorKind::unavailable)) kinds.push_back(kind);
  }
  for (const PageKind kind : kinds) {
    const Bytes one{
        std::max<std::uint64_t>(probe_bytes, is_from_pool(kind) ? huge_page_size(kind).value : 0)};
    const auto problem = page_kind_problem(kind, machine, usable, one);
    features.push_back({"memory", fmt::format("--pages {}", name_of(kind)), !problem,
                        problem ? with_hint(problem->message, *problem) : "available"});
  }
  for (const MemorySource& source : memory_sources()) {
    if (source.describe == nullptr) continue;
    SourceState state = source.describe();
    features.push_back({"memory", std::move(state.name), state.available, std::move(state.detail)});
  }
}

/// Equal GPUs once, with their number: "2 x NVIDIA H200 (140 GiB)".
std::string device_list(const std::deque<Device>& devices) {
  std::vector<std::pair<std::string, int>> kinds;
  for (const Device& gpu : devices) {
    const DeviceInfo& device = gpu.info();
    const std::string kind =
        fmt::format("{} ({})", device.name,
                    device.memory.value > 0 ? to_rounded_text(device.memory) : "memory unknown");
    const auto known = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const auto& each) { return each.first == kind; });
    if (known == kinds.end()) {
      kinds.emplace_back(kind, 1);
    } else {
      ++known->second;
    }
  }
  std::vector<std::string> texts;
  for (const auto& [kind, count] : kinds) texts.push_back(fmt::format("{} x {}", count, kind));
  return fmt::format("{}", fmt::join(texts, ", "));
}

void add_gpu_drivers(std::vector<Feature>& features) {
  for (const RuntimeState& state : device_runtimes()) {
    std::string detail;
    const bool usable = !state.devices.empty();
    if (usable) {
      detail = state.description + ": " + device_list(state.devices);
    } else if (state.problem) {
      detail = with_hint(full_text(*state.problem), *state.problem);
    }
    features.push_back({"gpu", state.name, usable, std::move(detail)});
  }
}

/// What a survey could measure here; the machine alone is asked.
void add_benchmarks(std::vector<Feature>& features, const Machine& machine) {
  for (const auto& benchmark : all_benchmarks()) {
    const SurveyPart part = benchmark.survey(machine);
    std::string detail = part.reason.empty() ? benchmark.help.summary : part.reason;
    features.push_back({"benchmark", benchmark.name, part.reason.empty(), std::move(detail)});
  }
}

void add_launcher(std::vector<Feature>& features) {
  const LauncherTask task = detect_launcher();
  features.push_back(
      {"launcher", task.launched() ? task.launcher : "launcher", task.launched(),
       task.launched() ? fmt::format("rank {} of {}", task.rank.value_or(0), task.size.value_or(1))
                       : "none (not started by a launcher)"});
}

std::string table(const std::vector<Feature>& features) {
  std::vector<std::vector<std::string>> rows;
  for (const Feature& feature : features) {
    rows.push_back({feature.group, feature.name, feature.available ? "yes" : "no", feature.detail});
  }
  return aligned_within(rows, terminal_columns(STDOUT_FILENO).value_or(0));
}

struct Options {
  std::string format = "table", machine;
  bool dry_run = false;
};

Expected<int> run(const Options& options) {
  if (!should_report(detect_launcher())) return 0;  // of many ranks the first one prints
  const bool live = options.machine.empty();
  const auto machine = TRY(machine_of_option(options.machine));
  std::vector<Feature> features;
  add_build(features);
  add_benchmarks(features, machine);
  // What the kernel allows can only be asked where one is.
  if (live) {
    add_memory(features, machine);
    add_gpu_drivers(features);
    add_launcher(features);
  }
  if (options.format != "json") return answer(table(features));
  nlohmann::json list = nlohmann::json::array();
  for (const Feature& f : features) {
    list.push_back(
        {{"group", f.group}, {"name", f.name}, {"available", f.available}, {"detail", f.detail}});
  }
  return answer(pretty(list));
}

Start declare_features(CLI::App& app, const CommandLine&) {
  auto options = std::make_shared<Options>();
  add_choice(app, "--format", options->format, named({"table", "json"}),
             "format of standard output; json is an array of objects with group, name, available "
             "and detail");
  app.add_flag("--dry-run", options->dry_run, "accepted for consistency; nothing is measured");
  add_machine_option(app, options->machine);
  return [options] { return run(*options); };
}

}  // namespace

Command features_command() {
  return {.name = "features",
          .summary = "list available features, and why others are missing",
          .listing = {Topic::machine, true},
          .examples = {{"What can be measured here, and why not the rest", "numatlas features"},
                       {"The same for scripts", "numatlas features --format json"}},
          .declare = declare_features};
}

}  // namespace numatlas
