// PCI devices in sysfs: their links, and the bridges above them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/tree.h"
#include "machine/machine.h"

namespace numatlas {

/// The way from a GPU to its root port, for Gpu::path; empty where sysfs tells of no link on it.
/// Some cards (AMD's, Intel's) are a switch with the GPU behind it; the link inside such a card is
/// no link of the machine and says anything (Intel Arc's: 2.5 GT/s x1). There the GPU's own step
/// has the link of the card, and the switch's ports are left out.
std::vector<PciStep> read_path(const Tree& tree, const std::string& pci_address);

/// read_link of machine/pci_link.h on a tree: a card's link for a GPU, as above.
std::optional<PciLink> read_link(const Tree& tree, const std::string& pci_address);

/// "" where the device is no GPU. Display controllers (PCI base class 3) of the three makers of
/// compute GPUs, which leaves out the plain VGA of emulated machines and service processors;
/// processing accelerators (class 0x1200) of two of them only, as Intel's are inference units.
std::string gpu_vendor(std::int64_t pci_class, std::int64_t vendor);

}  // namespace numatlas
