// Transfers between memory of the host and GPUs: every node with memory and every GPU, both ways.
#include "benchmarks/transfer/transfer.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/ids.h"
#include "base/units.h"
#include "benchmarks/device_totals.h"
#include "gpu/machine_gpus.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/device_flows.h"
#include "run/options.h"

namespace numatlas::benchmark_transfer {
namespace {

Expected<std::vector<Bytes>> sizes_of(const std::string& text, const char* option) {
  auto sizes = parse_sizes(text);
  if (!sizes) return fail(renamed(sizes.error(), "--size", option));
  for (Bytes size : *sizes) {
    if (size.value % 16 == 0) continue;
    return fail_usage(option, fmt::format("{} is not a multiple of 16 bytes", to_text(size)));
  }
  return sizes;
}

void add_options(Options& own, CLI::App& app) {
  add_choices<bool Options::*>(
      app, "--measure", own.measures,
      {{"copies", &Options::copies},
       {"latency", &Options::latency},
       {"chase", &Options::chase},
       {"peer", &Options::peer}},
      "what to measure (default: all that the machine supports)\n"
      "copies: the rate of queued copies; latency: of one copy, each waited for before the next; "
      "chase: a pointer chase by the GPU through host memory; peer: copies between GPUs");
  add_value(app, "--gpus", own.gpus_text, "GPUS",
            "GPUs as their driver counts them: 0-3 (default: all)");
  app.add_flag("--together", own.together,
               "copy with all GPUs at the same time, not each alone\n"
               "For --measure copies and latency");
  add_choices(app, "--direction", own.directions, named({"h2d", "d2h", "both"}),
              "direction of copies: host to device (h2d), device to host (d2h), or both at once");
  add_choices(app, "--pin", own.pinnings, named(all_pinnings),
              "how GPUs access host memory\n"
              "pinned is registered with the driver; pageable is not; zero-copy is pinned and "
              "accessed by a GPU kernel");
  add_value(app, "--size", own.size_text, "SIZES",
            "bytes per copy: 512 (MiB), 48KiB, 4KiB-2GiB or a list (default: 128 MiB)\n"
            "A range has the powers of two. They are multiples of 16; the default is less where a "
            "node has too little room");
  const auto* const latency_size = rare(add_value(app, "--latency-size", own.latency_size_text,
                                                  "SIZES", "bytes per copy for --measure latency"));
  const auto* const chase_size = rare(add_value(app, "--chase-size", own.chase_size_text, "SIZES",
                                                "memory that a GPU chases through"));
  own.special = {{latency_size, &Options::latency}, {chase_size, &Options::chase}};
  rare(add_choice<Caller>(
      app, "--caller", own.caller,
      {{"near", Caller::near}, {"far", Caller::far}, {"memory", Caller::memory}},
      "CPU that submits the work: near the GPU, on the node farthest from it, or near the memory"));
}

Expected<void> parse(Options& own, Benchmark&) {
  own.all = own.measures.empty();
  for (const auto measure : own.measures) own.*measure = true;
  if (own.all) own.copies = own.latency = own.chase = own.peer = true;
  for (const auto& [option, measure] : own.special) {
    if (option->count() == 0 || own.*measure) continue;
    return fail_usage(
        option->get_name(), "--measure leaves out the only measurement that uses it",
        measure == &Options::chase ? "add chase to --measure" : "add latency to --measure");
  }
  own.gpus = TRY(parse_gpus(own.gpus_text, "--gpus"));
  if (!own.size_text.empty()) {
    own.sizes = TRY(sizes_of(own.size_text, "--size"));
  }
  own.latency_sizes = TRY(sizes_of(own.latency_size_text, "--latency-size"));
  auto chased = TRY(sizes_of(own.chase_size_text, "--chase-size"));
  for (Bytes size : chased) {
    constexpr std::uint64_t two_lines = 128;
    if (size.value >= two_lines) continue;
    return fail_usage("--chase-size",
                      fmt::format("{} is less than two lines of 64 bytes", to_text(size)));
  }
  own.chase_sizes = std::move(chased);
  return {};
}

SurveyPart survey(const Machine& machine) {
  return on_gpus::survey_part(machine, {3,
                                        {},
                                        {{"measurements", {"measure"}, 1, true},
                                         {"directions", {"direction"}, 2, true},
                                         {"nodes", {"memory"}},
                                         {"GPUs and pairs of them", {"gpus"}}}});
}

Expected<Workers> workers(const Options& own, const RunOptions& options, const Machine& machine,
                          const TaskContext& task) {
  const std::size_t gpus = own.gpus.empty() ? usable_gpus({machine}).size() : own.gpus.size();
  constexpr std::size_t directions = 2;
  return callers(options, machine, task, directions * (own.together ? gpus : 1));
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "transfer",
      .summary = "bandwidth and latency between host memory and GPUs",
      .listing = {Topic::gpus},
      .description =
          "Measures the rate of queued copies from memory of each node to each GPU, back, and both "
          "at once; the latency of one copy, each waited for; a pointer chase of each GPU through "
          "memory of each node; and copies between GPUs. Memory as a GPU's kernels see it is "
          "measured by latency, bandwidth, loaded, matrix and atomics with --on gpus.",
      .examples = {{"Where memory for GPU 0 should lie",
                    "numatlas transfer --gpus 0 --measure copies"},
                   {"All GPUs at once, from memory of both sockets",
                    "numatlas transfer --measure copies --together --memory interleave:0,1"}},
      .without_options = {"--serial"},
      .usual_pages = "base",
      .by_host = true,
      .add_options = with(add_options),
      .parse_options = with(parse),
      .complete = complete_gpus,
      .workers = with(workers),
      .plan = with(plan),
      .totals = device_totals,
      .warnings = device_warnings,
      .views = views,
      .facts = facts,
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_transfer
