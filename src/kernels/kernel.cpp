#include "kernels/kernel.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

namespace numatlas {
namespace {

struct Entry {
  KernelTraits traits;
  std::unique_ptr<Kernel> (*make)(const KernelSpec&) = nullptr;  ///< none: src/gpu makes it
};
constexpr double round_trip = 0.5;  // is two transfers
constexpr Entry kernels[] = {
    {{.name = "chase", .step = StepKind::chase, .writes = false, .time = "latency"},
     make_chase_kernel},
    {{.name = "read", .writes = false}, make_stream_kernel},
    {{.name = "write", .reads = false}, make_stream_kernel},
    {{.name = "copy", .takes_source = true}, make_stream_kernel},
    {{.name = "scale", .takes_source = true}, make_stream_kernel},
    {{.name = "add", .takes_source = true}, make_stream_kernel},
    {{.name = "triad", .takes_source = true}, make_stream_kernel},
    {{.name = "update", .in_place = true}, make_stream_kernel},
    {{.name = "mix", .mixes = true}, make_mix_kernel},
    {{.name = "stream", .in_files = false}, make_passes_kernel},
    {{.name = "scatter", .in_place = true}, make_scatter_kernel},
    {{.name = "cas", .step = StepKind::ping_pong, .time = "core_to_core", .part = round_trip},
     make_ping_pong_kernel},
    {{.name = "cas answer",
      .step = StepKind::answer,
      .answers = "cas",
      .time = "core_to_core",
      .part = round_trip},
     make_ping_pong_kernel},
    {{.name = "store", .step = StepKind::ping_pong, .time = "core_to_core", .part = round_trip},
     make_ping_pong_kernel},
    {{.name = "store answer",
      .step = StepKind::answer,
      .answers = "store",
      .time = "core_to_core",
      .part = round_trip},
     make_ping_pong_kernel},
    {{.name = "fetch-add", .step = StepKind::addition, .in_files = false, .time = "operation_time"},
     make_atomics_kernel},
    {{.name = "compare-exchange",
      .step = StepKind::addition,
      .retries = true,
      .in_files = false,
      .time = "operation_time"},
     make_atomics_kernel},
    {{.name = "fault", .step = StepKind::fault, .in_files = false, .time = "fault_time"},
     make_fault_kernel},
    {{.name = "migrate", .step = StepKind::migration, .in_files = false, .time = "move_time"},
     make_migrate_kernel},
    {{.name = device_copy, .on_gpu = true, .takes_source = true}},
    {{.name = device_chase,
      .step = StepKind::chase,
      .on_gpu = true,
      .writes = false,
      .time = "latency"}}};

}  // namespace

const char* name_of(Persist persist) {
  switch (persist) {
    case Persist::none: return "none";
    case Persist::individual: return "individual";
    case Persist::collective: return "collective";
    case Persist::per_block: return "per-block";
  }
  return "none";
}

const char* name_of(Pinning pinning) {
  switch (pinning) {
    case Pinning::pinned: return "pinned";
    case Pinning::driver: return "driver";
    case Pinning::pageable: return "pageable";
    case Pinning::zero_copy: return "zero-copy";
    case Pinning::managed: return "managed";
  }
  return "pinned";
}

const char* name_of(HostCaches caches) { return caches == HostCaches::warm ? "warm" : "cold"; }

const char* name_of(Sharing sharing) {
  switch (sharing) {
    case Sharing::same: return "same";
    case Sharing::neighbours: return "neighbours";
    case Sharing::own: return "own";
  }
  return "same";
}

const char* name_of(Faulting faulting) {
  switch (faulting) {
    case Faulting::touch: return "touch";
    case Faulting::madvise: return "madvise";
    case Faulting::mmap: return "mmap";
  }
  return "touch";
}

const char* name_of(Moving moving) { return moving == Moving::mbind ? "mbind" : "move_pages"; }

const KernelTraits& traits_of(std::string_view name) {
  static constexpr KernelTraits any;
  for (const Entry& entry : kernels) {
    if (name == entry.traits.name) return entry.traits;
  }
  return any;
}

StepTime step_time(const KernelSpec& spec) {
  const KernelTraits& traits = traits_of(spec.name);
  const bool of_pages = traits.step == StepKind::fault || traits.step == StepKind::migration;
  const auto step = static_cast<double>(spec.page.step_bytes());
  return {std::string(traits.time),
          of_pages ? static_cast<double>(spec.page.page.value) / step : traits.part};
}

Expected<std::unique_ptr<Kernel>> make_kernel(const KernelSpec& spec) {
  for (const Entry& entry : kernels) {
    if (spec.name == entry.traits.name && entry.make != nullptr) return entry.make(spec);
  }
  return fail(ErrorKind::usage, fmt::format("unknown kernel '{}'", spec.name));
}

Expected<std::pair<unsigned, unsigned>> parse_mix(std::string_view text) {
  // Beyond this a step is longer than a page, and the two streams hardly meet.
  constexpr unsigned most = 64;
  const auto part = [](std::string_view digits) {
    unsigned value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return code == std::errc{} && end == digits.data() + digits.size() && value <= most ? value : 0;
  };
  const std::size_t colon = std::min(text.find(':'), text.size());
  const unsigned reads = part(text.substr(0, colon));
  const unsigned writes = colon < text.size() ? part(text.substr(colon + 1)) : 0;
  if (reads == 0 || writes == 0) {
    return fail_usage("--mix", fmt::format("'{}' is not READS:WRITES", text),
                      fmt::format("such as 2:1, each from 1 to {}", most));
  }
  return std::pair{reads, writes};
}

std::string mix_text(const KernelSpec& spec) {
  return traits_of(spec.name).mixes ? fmt::format("{}:{}", spec.mix_reads, spec.mix_writes) : "";
}

std::string full_name(const KernelSpec& spec) {
  return traits_of(spec.name).mixes ? "mix " + mix_text(spec) : spec.name;
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kernels) {
    if (entry.traits.in_files) names.emplace_back(entry.traits.name);
  }
  return names;
}

Traffic traffic_per_step(const KernelSpec& spec) {
  // A copy's bytes count once, as they cross the link; those of a chase are no bandwidth.
  if (traits_of(spec.name).copies_on_gpu())
    return {spec.device.bytes.value * spec.device.copies, 0, 0};
  const auto kernel = make_kernel(spec);
  return kernel ? (*kernel)->traffic_per_step() : Traffic{};
}

}  // namespace numatlas
