// Words of --cpus and --memory that name what they are near to or best at.
#pragma once

#include <optional>
#include <string>

#include "comm/comm.h"
#include "engine/clock.h"
#include "memory/source.h"
#include "run/options.h"

namespace numatlas {

/// What --cpus names: a placement, or a word that goes to `words` ("allowed" stands for it till
/// then).
Expected<CpuSpec> parse_cpus(const std::string& text, WordSpec& words);
/// The same of --memory; nullopt for a word and for "".
Expected<std::optional<MemorySpec>> parse_memory(const std::string& text, WordSpec& words,
                                                 HintsOf hints = HintsOf::nodes_and_sources);
/// The figures of --atlas; nullopt for "". Error (usage): no word asks for them.
Expected<std::optional<MeasuredPlaces>> parse_atlas(const std::string& path, const WordSpec& words);

/// Warns of the machine's clock source where a reading of this clock takes long: kernels name those
/// of guests and of other architectures as they like.
void judge_clock(Machine& machine, Clock& clock);

/// What --machine names; "": the machine that this process runs on.
Expected<Machine> machine_of_option(const std::string& spec);

/// Numbers the GPUs of a machine as their drivers do. Where no driver can be used they stay in the
/// order of their addresses. `live`: drivers are asked.
void number_gpus(Machine& machine, bool live);

/// Puts node:N and bind:N in place of such words, by the machine of this host, with notes that say
/// why; rank 0 says them.
Expected<void> put_words_in_place(RunOptions& options);

/// Of what GPUs run, --memory gpu:N is the memory of that GPU and no node.
void take_gpu_memory(RunOptions& options);

}  // namespace numatlas
