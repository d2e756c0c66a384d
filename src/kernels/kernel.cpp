#include "kernels/kernel.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

namespace numatlas {
namespace {

struct Entry {
  const char* name;
  std::unique_ptr<Kernel> (*make)(const KernelSpec&);
};
constexpr std::array<Entry, 15> kernels{{{"chase", make_chase_kernel},
                                         {"read", make_stream_kernel},
                                         {"write", make_stream_kernel},
                                         {"copy", make_stream_kernel},
                                         {"scale", make_stream_kernel},
                                         {"add", make_stream_kernel},
                                         {"triad", make_stream_kernel},
                                         {"update", make_stream_kernel},
                                         {"mix", make_mix_kernel},
                                         {"stream", make_passes_kernel},
                                         {"scatter", make_scatter_kernel},
                                         {"cas", make_hand_over_kernel},
                                         {"cas answer", make_hand_over_kernel},
                                         {"store", make_hand_over_kernel},
                                         {"store answer", make_hand_over_kernel}}};

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

Expected<std::unique_ptr<Kernel>> make_kernel(const KernelSpec& spec) {
  for (const Entry& entry : kernels) {
    if (spec.name == entry.name) return entry.make(spec);
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
  return spec.name == "mix" ? fmt::format("{}:{}", spec.mix_reads, spec.mix_writes) : "";
}

std::string full_name(const KernelSpec& spec) {
  return spec.name == "mix" ? "mix " + mix_text(spec) : spec.name;
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kernels) names.emplace_back(entry.name);
  return names;
}

Traffic traffic_a_step(const KernelSpec& spec) {
  // A copy's bytes count once, as they cross the link; those of a chase are no bandwidth.
  if (spec.name == device_copy) return {spec.device.bytes.value * spec.device.copies, 0, 0};
  const auto kernel = make_kernel(spec);
  return kernel ? (*kernel)->traffic_a_step() : Traffic{};
}

}  // namespace numatlas
