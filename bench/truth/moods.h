// Two runs on a real machine that keeps one of two speeds for seconds or minutes, from a recording.
#pragma once

#include <string>

namespace numatlas::truth {

/// Compares identical runs at random times of the recording, as the command does, and prints how
/// often a verdict is false. Only rows whose name contains `only`. False where a row is outside its
/// gate. Ends the program where the recording cannot be read.
bool run_moods(const std::string& only, int replicates, bool wide);

}  // namespace numatlas::truth
