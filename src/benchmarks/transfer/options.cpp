#include "benchmarks/transfer/options.h"

#include <cstdint>
#include <utility>

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include "base/ids.h"
#include "base/size_list.h"
#include "run/declare.h"
#include "run/options.h"

namespace numatlas {
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

}  // namespace

void TransferWords::add_to(CLI::App& app) {
  add_choices<bool TransferOptions::*>(
      app, "--measure", measures_,
      {{"copies", &TransferOptions::copies},
       {"latency", &TransferOptions::latency},
       {"chase", &TransferOptions::chase},
       {"peer", &TransferOptions::peer}},
      "what to measure (default: all that the machine supports)\n"
      "copies: the rate of queued copies; latency: of one copy, each waited for before the next; "
      "chase: a pointer chase by the GPU through host memory; peer: copies between GPUs");
  add_value(app, "--gpus", gpus_, "GPUS", "GPUs as their driver counts them: 0-3 (default: all)");
  app.add_flag("--together", options_.together,
               "copy with all GPUs at the same time, not each alone\n"
               "For --measure copies and latency");
  add_choices(app, "--direction", options_.directions, named({"h2d", "d2h", "both"}),
              "direction of copies: host to device (h2d), device to host (d2h), or both at once");
  add_choices(app, "--pin", options_.pinnings, named(all_pinnings),
              "how GPUs access host memory\n"
              "pinned is our own memory registered with the driver; driver is allocated by the "
              "driver under the requested policy; pageable is not pinned; zero-copy is pinned and "
              "accessed by a GPU kernel; managed migrates between host and GPU. driver and managed "
              "have base pages only and no persistent memory");
  add_value(app, "--size", size_, "SIZES",
            "bytes per copy: 512 (MiB), 48KiB, 4KiB-2GiB or a list (default: 128 MiB)\n"
            "A range has the powers of two. They are multiples of 16; the default is less where a "
            "node has too little room");
  const auto* const latency_size = rare(add_value(app, "--latency-size", latency_size_, "SIZES",
                                                  "bytes per copy for --measure latency"));
  const auto* const chase_size = rare(
      add_value(app, "--chase-size", chase_size_, "SIZES", "memory that a GPU chases through"));
  const auto* const caches = rare(add_choices(
      app, "--caches", options_.caches, named(std::vector{HostCaches::cold, HostCaches::warm}),
      "state of a line in the CPU caches when the chase loads it: flushed (cold) or "
      "recently read by a CPU (warm)"));
  special_ = {{latency_size, &TransferOptions::latency},
              {chase_size, &TransferOptions::chase},
              {caches, &TransferOptions::chase}};
  rare(add_choice<Caller>(
      app, "--caller", options_.caller,
      {{"near", Caller::near}, {"far", Caller::far}, {"memory", Caller::memory}},
      "CPU that submits the work: near the GPU, on the node farthest from it, or near the memory"));
}

Expected<TransferOptions> TransferWords::parse() const {
  TransferOptions options = options_;
  options.all = measures_.empty();
  for (const auto measure : measures_) options.*measure = true;
  if (options.all) options.copies = options.latency = options.chase = options.peer = true;
  for (const auto& [option, measure] : special_) {
    if (option->count() == 0 || options.*measure) continue;
    return fail_usage(
        option->get_name(), "--measure leaves out the only measurement that uses it",
        measure == &TransferOptions::chase ? "add chase to --measure" : "add latency to --measure");
  }
  if (!gpus_.empty()) {
    const auto numbers = parse_ordered_list(gpus_);
    if (!numbers || numbers->empty()) {
      return fail_usage("--gpus", fmt::format("'{}' is not a list of numbers", gpus_),
                        "such as 0,1 or 0-3");
    }
    options.gpus = *numbers;
  }
  if (!size_.empty()) {
    options.sizes = TRY(sizes_of(size_, "--size"));
  }
  options.latency_sizes = TRY(sizes_of(latency_size_, "--latency-size"));
  auto chased = TRY(sizes_of(chase_size_, "--chase-size"));
  for (Bytes size : chased) {
    constexpr std::uint64_t two_lines = 128;
    if (size.value >= two_lines) continue;
    return fail_usage("--chase-size",
                      fmt::format("{} is less than two lines of 64 bytes", to_text(size)));
  }
  options.chase_sizes = std::move(chased);
  return options;
}

}  // namespace numatlas
