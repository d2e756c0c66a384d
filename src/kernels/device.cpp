#include "kernels/device.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "kernels/kind.h"
#include "kernels/stream.h"

namespace numatlas {
namespace {

/// Of a GPU's memory: it fills it itself, and warms up with it.
constexpr Preparation of_device{0.1, 0.005, 0.02};

}  // namespace

const char* name_of(Pinning pinning) {
  switch (pinning) {
    case Pinning::pinned: return "pinned";
    case Pinning::pageable: return "pageable";
    case Pinning::zero_copy: return "zero-copy";
  }
  return "pinned";
}

const char* name_of(GpuLoads loads) { return loads == GpuLoads::l2 ? "l2" : "cached"; }

const char* DeviceStreamParameters::name() const {
  switch (operation) {
    case Operation::write: return "gpu write";
    case Operation::copy: return "gpu copy";
    case Operation::scale: return "gpu scale";
    case Operation::add: return "gpu add";
    case Operation::triad: return "gpu triad";
    default: return "gpu read";
  }
}

int DeviceStreamParameters::arrays() const {
  constexpr std::size_t line = 64;
  return static_cast<int>(traffic_of_line(operation, Stores::regular).counted() / line);
}

Bytes DeviceStreamParameters::array_bytes() const {
  constexpr std::uint64_t unit = 256;
  return Bytes{bytes.value / static_cast<std::uint64_t>(arrays()) / unit * unit};
}

std::vector<KernelKind> DeviceStreamParameters::kinds() {
  std::vector<KernelKind> all;
  for (const Operation operation : {Operation::read, Operation::write, Operation::copy,
                                    Operation::scale, Operation::add, Operation::triad}) {
    DeviceStreamParameters usual;
    usual.operation = operation;
    all.push_back({.usual = usual,
                   .traits = {.on_gpu = true,
                              .reads = operation != Operation::write,
                              .writes = operation != Operation::read},
                   .check_size = [](const KernelSpec& spec, Bytes size) -> Expected<void> {
                     auto work = spec.as<DeviceStreamParameters>();
                     work.bytes = size;
                     if (work.array_bytes().value > 0) return {};
                     return fail_usage("--size",
                                       fmt::format("{} is too small for {} arrays of 256 bytes",
                                                   to_text(size), work.arrays()));
                   },
                   .traffic = [](const KernelSpec& spec) -> Traffic {
                     const auto& work = spec.as<DeviceStreamParameters>();
                     const std::size_t array = work.array_bytes().value * work.passes;
                     const bool writes = work.operation != Operation::read;
                     const auto read = static_cast<std::size_t>(work.arrays()) - (writes ? 1 : 0);
                     return {read * array, writes ? array : 0, 0};
                   },
                   .preparation = of_device});
  }
  return all;
}

std::vector<KernelKind> DeviceCopyParameters::kinds() {
  return {{.usual = DeviceCopyParameters{},
           .traits = {.on_gpu = true, .takes_source = true},
           .check_size = [](const KernelSpec&, Bytes size) -> Expected<void> {
             constexpr std::uint64_t word = 16;  // of kernels that copy
             if (size.value % word == 0) return {};
             return fail_usage(
                 "--size", fmt::format("{} is not a multiple of {} bytes", to_text(size), word));
           },
           // Bytes count once, as they cross the link.
           .traffic = [](const KernelSpec& spec) -> Traffic {
             const auto& work = spec.as<DeviceCopyParameters>();
             return {work.bytes.value * work.copies, 0, 0};
           }}};
}

std::vector<KernelKind> DeviceChaseParameters::kinds() {
  return {{.usual = DeviceChaseParameters{},
           .traits = {.step = StepKind::chase, .on_gpu = true, .writes = false, .time = "latency"},
           .check_size = [](const KernelSpec& spec, Bytes size) -> Expected<void> {
             const Bytes line = spec.as<DeviceChaseParameters>().stride;
             if (size.value >= 2 * line.value) return {};
             return fail_usage("--size", fmt::format("{} is less than two lines of {} bytes",
                                                     to_text(size), line.value));
           },
           .preparation = of_chain}};
}

std::uint64_t DeviceCounterParameters::apart() const {
  constexpr std::uint64_t line = 128, word = 8;
  switch (sharing) {
    case Sharing::same: return 0;
    case Sharing::neighbours: return word;
    case Sharing::own: return line;
  }
  return 0;
}

Bytes DeviceCounterParameters::bytes() const {
  return Bytes{std::max<std::uint64_t>(sizeof(std::uint64_t), threads * apart())};
}

std::vector<KernelKind> DeviceCounterParameters::kinds() {
  return {{.usual = DeviceCounterParameters{},
           .traits = {.step = StepKind::addition, .on_gpu = true, .time = "operation_time"},
           .check_size = [](const KernelSpec& spec, Bytes size) -> Expected<void> {
             const auto& work = spec.as<DeviceCounterParameters>();
             if (size >= work.bytes()) return {};
             return fail_usage("--size",
                               fmt::format("{} is too small for the counters of {} threads",
                                           to_text(size), work.threads));
           },
           .part =
               [](const KernelSpec& spec) {
                 const auto& work = spec.as<DeviceCounterParameters>();
                 return 1 / (static_cast<double>(work.threads) * static_cast<double>(work.adds));
               },
           .preparation = of_device}};
}

}  // namespace numatlas
