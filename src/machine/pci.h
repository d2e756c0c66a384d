// PCI devices in sysfs: their links, and the bridges above them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/tree.h"
#include "machine/machine.h"

namespace numatlas {

/// The way from a GPU to its root port, for Gpu::path; empty where sysfs tells of no link on it.
std::vector<PciStep> read_path(const Tree& tree, const std::string& pci_address);

/// "" where the device is no GPU. Display controllers (PCI base class 3) of the three makers of
/// compute GPUs, which leaves out the plain VGA of emulated machines and service processors;
/// processing accelerators (class 0x1200) of two of them only, as Intel's are inference units.
std::string gpu_vendor(std::int64_t pci_class, std::int64_t vendor);

}  // namespace numatlas
