// What a machine's memory is expected to give when all CPUs read it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/rows.h"
#include "machine/machine.h"

namespace numatlas {

/// The processor's name without maker, cores and clock, as data/published.toml has it: "Xeon
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

/// What others measured on this processor: the lowest and the highest.
struct PublishedRange {
  double low = 0, high = 0;  ///< bytes a second
  std::string text;          ///< "240 to 264 GB/s", "481 to 527 GB/s (1 socket, times 2)"
};
/// Of reads, in virtual machines or outside of them. Rows of as many sockets, else of others,
/// by the socket: each reads its own memory. Pure.
std::optional<PublishedRange> published_reads(const Machine& machine, bool in_virtual_machines);

/// A figure below this share of the lowest that was published is too low: others tune more, and
/// programs differ in their loops.
inline constexpr double published_share = 0.85;

/// The sum of all CPUs' reads in a run of `bandwidth` on one host; nothing where it has none, or
/// where not each core took part.
std::optional<Estimate> all_reads_of(const Rows& run);

/// The first run that has it, and it.
struct AllReads {
  const Rows* run = nullptr;
  Estimate rate;
};
std::optional<AllReads> first_reads(const std::vector<Rows>& runs);

/// "read 244 GB/s ±1.0 %: 79 % of 307 GB/s (8 x DDR5-4800); published for this model: 240 to 264
/// GB/s"; of a machine that is not virtual. "" where neither peak nor published figures are known.
std::string reads_text(const Machine& machine, const Estimate& reads);

/// What `check` holds all CPUs' reads of a run against: 85 % of the least that others published of
/// the processor, else 60 % of what its channels carry. Nothing in a virtual machine, where neither
/// is known, or where they read more than the peak: that of other memory.
std::optional<KnownReads> known_reads(const Rows& run);

}  // namespace numatlas
