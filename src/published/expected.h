// What all CPUs of a machine read together, and what its memory can carry.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/rows.h"
#include "machine/machine.h"

namespace numatlas {

/// The processor's name without maker, cores and clock, as data/metal.csv has it: "Xeon
/// Platinum 8480+", "EPYC 7742", "Neoverse V2". Printable.
std::string processor_name(const std::string& cpu_model);

/// Hardware threads of a core; nothing where a core is unknown, or where they differ.
std::optional<int> threads_per_core(const Machine& machine);
/// Last-level caches of all CPUs, as the machine shows them; nothing where it shows none.
std::optional<int> caches_in_mib(const Machine& machine);

/// What the channels of all sockets carry together.
struct PeakRate {
  double rate = 0;                   ///< bytes a second
  std::string text;                  ///< "307 GB/s (8 x DDR5-4800)"
  std::vector<std::string> empty{};  ///< channels without modules: "socket 1 channel C"
  bool of_modules = false;           ///< by the modules (SMBIOS), not by the processor's most
};
/// By the modules where they are known, else by the processor's specification; nothing where
/// neither is, or where high-bandwidth memory answers as well. Pure.
std::optional<PeakRate> peak_rate_of(const Machine& machine);

/// The sum of the reads of a run of `bandwidth`, and why it is not what all CPUs of one host read
/// from memory; "" where it is. Without a rate: of anything else.
struct AllReads {
  std::optional<Estimate> rate{};
  std::string reason{};
};
AllReads all_reads_of(const Rows& run);

/// The first run that has what all CPUs read; nullptr for none.
const Rows* first_with_reads(const std::vector<Rows>& runs);

}  // namespace numatlas
