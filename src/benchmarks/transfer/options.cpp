#include "benchmarks/transfer/options.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/ids.h"
#include "base/size_list.h"
#include "benchmarks/options.h"

namespace numatlas {
namespace {

CLI::Option* text_option(CLI::App& app, const char* name, std::string& value, const char* type,
                         const char* what) {
  return refuse_empty(app.add_option(name, value, what))->type_name(type);
}

Expected<std::vector<Bytes>> sizes_of(const std::string& text, const char* option) {
  auto sizes = parse_sizes(text);
  if (!sizes) return fail(renamed(sizes.error(), "--size", option));
  for (Bytes size : *sizes) {
    if (size.value % 16 == 0) continue;
    return fail(ErrorKind::usage,
                fmt::format("{}: {} is no multiple of 16 bytes", option, to_text(size)));
  }
  return sizes;
}

}  // namespace

void TransferWords::add_to(CLI::App& app) {
  text_option(app, "--measure", measure_, "LIST",
              "copies, latency (of small copies), chase (of a GPU through memory of the host), "
              "peer (copies between GPUs) (default: all that the machine has)");
  text_option(app, "--gpus", gpus_, "LIST",
              "GPUs by number, as their driver counts them (default: all)");
  app.add_flag("--together", together_,
               "copies of all these GPUs at the same time (default: each GPU alone)");
  text_option(app, "--direction", direction_, "LIST",
              "h2d (host to device), d2h, both at the same time")
      ->capture_default_str();
  text_option(app, "--pin", pin_, "LIST",
              "how GPUs get at the host's memory: pinned (our memory, registered), driver (memory "
              "that the driver allocates), pageable, zero-copy, managed")
      ->capture_default_str();
  text_option(app, "--size", size_, "SIZES",
              "of a copy: MiB (512), with a unit (48KiB), powers of two in a range (4KiB-2GiB), a "
              "list (64,128,300) (default: 512, less where a node is small)");
  text_option(app, "--latency-size", latency_size_, "SIZES", "of the small copies of `latency`")
      ->capture_default_str();
  text_option(app, "--chase-size", chase_size_, "SIZES", "memory that a GPU chases through")
      ->capture_default_str();
  text_option(
      app, "--caches", caches_, "LIST",
      "what the CPUs' caches have of a line when the chase loads it: cold (it was flushed), "
      "warm (a CPU has just read it)")
      ->capture_default_str();
  text_option(app, "--caller", caller_, "PLACE",
              "CPU that queues the work: near the GPU, far from it, or near the memory")
      ->capture_default_str();
}

Expected<TransferOptions> TransferWords::parse() const {
  TransferOptions options;
  options.all = measure_.empty();
  const auto measures = parse_words(options.all ? "copies,latency,chase,peer" : measure_,
                                    "--measure", {"copies", "latency", "chase", "peer"});
  if (!measures) return fail(measures.error());
  for (const std::string& word : *measures) {
    options.copies = options.copies || word == "copies";
    options.latency = options.latency || word == "latency";
    options.chase = options.chase || word == "chase";
    options.peer = options.peer || word == "peer";
  }
  if (!gpus_.empty()) {
    const auto numbers = parse_ordered_list(gpus_);
    if (!numbers || numbers->empty()) {
      return fail(ErrorKind::usage, fmt::format("--gpus: '{}' is no list of numbers", gpus_),
                  "such as 0,1 or 0-3");
    }
    options.gpus = *numbers;
  }
  options.together = together_;
  auto directions = parse_words(direction_, "--direction", {"h2d", "d2h", "both"});
  if (!directions) return fail(directions.error());
  options.directions = *std::move(directions);
  std::vector<std::string> names;
  for (Pinning pinning : all_pinnings) names.emplace_back(name_of(pinning));
  const auto pins = parse_words(pin_, "--pin", names);
  if (!pins) return fail(pins.error());
  for (const std::string& word : *pins) {
    for (Pinning pinning : all_pinnings) {
      if (word == name_of(pinning)) options.pinnings.push_back(pinning);
    }
  }
  const auto caches = parse_words(caches_, "--caches", {"cold", "warm"});
  if (!caches) return fail(caches.error());
  for (const std::string& word : *caches)
    options.caches.push_back(word == "warm" ? HostCaches::warm : HostCaches::cold);
  const auto caller = parse_words(caller_, "--caller", {"near", "far", "memory"});
  if (!caller) return fail(caller.error());
  if (caller->size() > 1) return fail(ErrorKind::usage, "--caller: only one at a time");
  options.caller = caller->front() == "far"      ? Caller::far
                   : caller->front() == "memory" ? Caller::memory
                                                 : Caller::near;
  if (!size_.empty()) {
    auto sizes = sizes_of(size_, "--size");
    if (!sizes) return fail(sizes.error());
    options.sizes = *std::move(sizes);
  }
  auto small = sizes_of(latency_size_, "--latency-size");
  if (!small) return fail(small.error());
  options.latency_sizes = *std::move(small);
  auto chased = sizes_of(chase_size_, "--chase-size");
  if (!chased) return fail(chased.error());
  for (Bytes size : *chased) {
    constexpr std::uint64_t two_lines = 128;
    if (size.value >= two_lines) continue;
    return fail(ErrorKind::usage, fmt::format("--chase-size: {} has no two lines of 64 bytes to "
                                              "go from one to the other",
                                              to_text(size)));
  }
  options.chase_sizes = *std::move(chased);
  return options;
}

}  // namespace numatlas
