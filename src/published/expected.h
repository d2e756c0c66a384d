// What all CPUs of a machine read together, and what its memory can carry.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/rows.h"
#include "machine/machine.h"

namespace numatlas {

/// The processor's name without maker, cores and clock, as data/processors.csv has it: "Xeon
/// Platinum 8480+", "EPYC 7742", "Neoverse V2". Printable.
std::string processor_name(const std::string& cpu_model);

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

/// The sum of all CPUs' reads in a run of `bandwidth` on one host; nothing where it has none, or
/// where not each core took part.
std::optional<Estimate> all_reads_of(const Rows& run);

/// The first run that has it, and it.
struct AllReads {
  const Rows* run = nullptr;
  Estimate rate;
};
std::optional<AllReads> first_reads(const std::vector<Rows>& runs);

}  // namespace numatlas
