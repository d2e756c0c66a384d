// What this machine is called: host, system, processor, virtual machine.
#pragma once

#include <string>
#include <vector>

#include "base/tree.h"
#include "machine/machine.h"

namespace numatlas {

/// Host, OS, architecture, models of CPUs and of their kinds, and hypervisor; keeps what stands in
/// `machine` where the tree says nothing.
void read_identity(const Tree& tree, Machine& machine);

/// Whether it is known to be a virtual machine.
inline bool is_virtual(const Machine& machine) {
  return machine.hypervisor && !machine.hypervisor->empty();
}

/// Whether it is known to be none.
inline bool is_bare_metal(const Machine& machine) {
  return machine.hypervisor && machine.hypervisor->empty();
}

/// The processor's name by the kernel's /proc/cpuinfo, whose words differ by architecture; "" where
/// it has none (Arm).
std::string model_name(const std::string& cpuinfo);

/// Name of an Arm core from the hexadecimal numbers of /proc/cpuinfo ("0x41", "0xd0c"); both
/// numbers as text where it is not a common one.
std::string arm_core_name(const std::string& implementer, const std::string& part);

/// What files of /sys/class/dmi/id say, in this order; "" for nothing.
std::string dmi_words(const Tree& tree, const std::vector<const char*>& files);

}  // namespace numatlas
