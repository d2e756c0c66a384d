#include "machine/pci_link.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace numatlas {
namespace {

struct Generation {
  int number;
  double speed;   // transfers a second and lane
  double coding;  // part of them that is data
};

// PCI Express Base Specification: 8b/10b in 2.5 and 5 GT/s (revision 3.0, 4.2.1), 128b/130b in 8,
// 16 and 32 GT/s (revision 5.0, 4.2.2). From 64 GT/s on packets go in flits of 256 bytes (revision
// 6.0, 4.2.3), 14 of which are check codes: 242/256; PAM4's two bits a symbol are in the speed.
constexpr Generation generations[] = {
    {1, 2.5e9, 8.0 / 10},   {2, 5e9, 8.0 / 10},     {3, 8e9, 128.0 / 130},   {4, 16e9, 128.0 / 130},
    {5, 32e9, 128.0 / 130}, {6, 64e9, 242.0 / 256}, {7, 128e9, 242.0 / 256},
};

const Generation* generation_of(double speed) {
  const auto found = std::find_if(std::begin(generations), std::end(generations),
                                  [&](const Generation& one) { return one.speed == speed; });
  return found == std::end(generations) ? nullptr : found;
}

template <class T>
std::optional<T> lesser(const std::optional<T>& a, const std::optional<T>& b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

/// What two ends agree on, by what each says it can do. A link that runs faster than an end claims
/// has an end that a virtual machine made up (QEMU's older root ports say 2.5 GT/s x1).
template <class T>
std::optional<T> agreed(const std::optional<T>& lower_most, const std::optional<T>& upper_most,
                        const std::optional<T>& now) {
  const auto least = lesser(lower_most, upper_most);
  return least && now ? std::max(least, now) : least;
}

/// Link `number` of a path, counted from the GPU. Each has two ends, one after the other in the
/// path: the GPU and the port above it, a switch's upstream port and the port above that. (sysfs
/// gives a downstream port the link below it, so both tell of the same one.) The last may have no
/// upper end to see.
std::optional<double> link_limit(const std::vector<PciStep>& path, std::size_t number) {
  const PciLink& lower = path[2 * number].link;
  const PciLink upper = 2 * number + 1 < path.size() ? path[2 * number + 1].link : PciLink{};
  const auto speed = agreed(lower.max_speed, upper.max_speed, lower.speed);
  const auto width = agreed(lower.max_width, upper.max_width, lower.width);
  return speed && width ? link_rate(*speed, *width) : std::nullopt;
}

/// The narrowest link from `number` up.
std::optional<double> limit_from(const std::vector<PciStep>& path, std::size_t number) {
  std::optional<double> least;
  for (; 2 * number < path.size(); ++number) least = lesser(least, link_limit(path, number));
  return least;
}

/// "Gen5 x16", or the part of it that is known.
std::string speed_and_width(const std::optional<double>& speed, const std::optional<int>& width) {
  std::string text;
  if (speed) {
    const Generation* generation = generation_of(*speed);
    text = generation != nullptr ? fmt::format("Gen{}", generation->number)
                                 : fmt::format("{:g} GT/s", *speed * 1e-9);
  }
  if (width) text += fmt::format("{}x{}", text.empty() ? "" : " ", *width);
  return text;
}

}  // namespace

std::optional<int> pcie_generation(const std::optional<double>& speed) {
  const Generation* const generation = speed ? generation_of(*speed) : nullptr;
  return generation == nullptr ? std::nullopt : std::optional(generation->number);
}

std::optional<double> link_rate(double speed, int width) {
  const Generation* generation = generation_of(speed);
  if (generation == nullptr || width < 1) return std::nullopt;
  constexpr double bits_per_byte = 8;
  return speed * width * generation->coding / bits_per_byte;
}

std::optional<double> path_limit(const Gpu& gpu) {
  return gpu.memory_node ? std::nullopt : limit_from(gpu.path, 0);
}

std::string link_text(const PciLink& link) {
  const std::string now = speed_and_width(link.speed, link.width);
  const std::string most = speed_and_width(link.max_speed, link.max_width);
  if (now.empty()) return most.empty() ? "" : "up to " + most;
  return most.empty() || most == now ? now : now + " of " + most;
}

std::vector<SharedPort> shared_ports(const Machine& machine) {
  std::map<std::string, std::vector<std::size_t>> below;  // bridge -> GPUs
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    const auto& path = machine.gpus[i].path;
    if (machine.gpus[i].memory_node) continue;
    for (std::size_t step = 1; step < path.size(); ++step) {
      below[path[step].pci_address].push_back(i);
    }
  }
  std::vector<SharedPort> ports;
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    const auto& path = machine.gpus[i].path;
    for (std::size_t step = 1; step < path.size(); ++step) {
      const auto& gpus = below[path[step].pci_address];
      // Each bridge once, with its first GPU; of several with the same GPUs the lowest.
      if (gpus.size() < 2 || gpus.front() != i) continue;
      if (!ports.empty() && ports.back().gpus == gpus) continue;
      ports.push_back({path[step].pci_address, gpus, limit_from(path, step / 2)});
    }
  }
  return ports;
}

std::optional<double> gpu_frequency(const Tree& tree, const std::string& pci_address) {
  const std::string monitors = "/sys/bus/pci/devices/" + pci_address + "/hwmon/";
  for (const std::string& name : tree.names(monitors)) {
    // The first of its clocks: "sclk", of the shaders. The second one is the memory's.
    const auto hz = tree.number(monitors + name + "/freq1_input");
    if (hz && *hz > 0) return static_cast<double>(*hz);
  }
  return std::nullopt;
}

}  // namespace numatlas
