// PCIe links: what a link can carry, the narrowest one on a GPU's way, and who shares one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/tree.h"
#include "machine/machine.h"

namespace numatlas {

/// The generation of PCI Express with so many transfers a second and lane; nothing for others.
std::optional<int> pcie_generation(const std::optional<double>& speed);

/// Bytes a second and direction that a link carries after its line coding: what packets' heads and
/// flow control take is still in it. `speed` in transfers a second and lane (32e9), `width` in
/// lanes. nullopt for a speed that no generation of PCIe has, and for widths under 1.
std::optional<double> link_rate(double speed, int width);

/// The narrowest link on the way from a GPU to the CPU, by the most that both ends of each can do;
/// bytes a second and direction. Links that nothing is known of are passed over; nullopt where
/// nothing is known of any, and for a GPU whose memory is a node: its data goes another way
/// (NVLink-C2C), whatever link it has besides.
std::optional<double> path_limit(const Gpu& gpu);

/// "Gen5 x16"; "Gen4 x8 of Gen5 x16" where it runs below what its end can do (idle links step
/// down); "up to Gen5 x16" where nobody says what it runs at; "" where nothing is known.
std::string link_text(const PciLink& link);

/// GPUs with a bridge in common, so that their copies share the link there.
struct SharedPort {
  std::string pci_address;        ///< of the lowest bridge that all of them have above them
  std::vector<std::size_t> gpus;  ///< positions in Machine::gpus, ascending
  /// The narrowest of the links that all of them share; bytes a second and direction.
  std::optional<double> limit;
  friend bool operator==(const SharedPort&, const SharedPort&) = default;
};

/// All such groups of two GPUs or more, by their first GPU, the smaller one first: with a switch
/// behind a switch a GPU is in several. Two GPUs on root ports of their own share none,
/// and GPUs whose memory is a node none either (see path_limit).
std::vector<SharedPort> shared_ports(const Machine& machine);

/// The link of a device as it is now; to be asked while copies run. nullopt where sysfs says
/// nothing of it (virtual functions, many virtual machines).
std::optional<PciLink> read_link(const Tree& tree, const std::string& pci_address);

/// Hz that a GPU's processors run at now, as its kernel driver tells hwmon (amdgpu does); nullopt
/// where it does not.
std::optional<double> gpu_frequency(const Tree& tree, const std::string& pci_address);

}  // namespace numatlas
