// Words of --cpus and --memory that name what they are near to or best at.
#pragma once

#include "benchmarks/options.h"
#include "comm/comm.h"

namespace numatlas {

/// Numbers the GPUs of a machine as their drivers do. Where no driver can be used they stay in the
/// order of their addresses. `live`: drivers are asked.
void number_gpus(Machine& machine, bool live);

/// The same options with node:N and bind:N in place of such words, by the machine of this host, and
/// with notes that say why. Collective; an error is the same on every rank.
Expected<RunOptions> with_words_in_place(RunOptions options, Comm& comm);

}  // namespace numatlas
