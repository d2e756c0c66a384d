// The words of `numatlas advise`, and what they mean.
#pragma once

#include <string>
#include <vector>

#include "advise/advise.h"

namespace numatlas {

/// As typed.
struct AdviseWords {
  std::string atlas, time = "5m", runs, metric = "time", prepare, warmup = "0", timeout, input,
                     launcher = "none", ranks, seed = "1", machine, assume;
  std::vector<std::string> exports;
  std::vector<Axis> axes{Axis::memory, Axis::pages, Axis::cpus, Axis::threads, Axis::weights};
  std::string format = "table";
  bool higher = false, show_output = false, dry_run = false, quiet = false;
};

/// What can be told wrong before anything is read or run.
Expected<void> check_words(const AdviseWords& words, const std::vector<std::string>& program);

/// Errors name the option.
Expected<AdviseOptions> options_of(const AdviseWords& words,
                                   const std::vector<std::string>& program);

/// "threads=8,memory=40GiB,openmp": what --dry-run takes the program to be. Errors name --assume.
Expected<ProgramTraits> traits_from(const std::string& text, int ranks);

}  // namespace numatlas
