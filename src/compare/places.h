// What a stored result measured of the machine's places, for placement words.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "compare/results.h"
#include "placement/words.h"

namespace numatlas {

/// Latency and bandwidth between nodes, and rates of copies of GPUs, as far as the file has them.
MeasuredPlaces places_of(const Results& stored);

/// Reads a survey.json or a result. Errors name --atlas with the file.
Expected<Results> read_atlas_file(const std::string& path);
/// The same; error (unavailable) where it has no figures of places.
Expected<MeasuredPlaces> read_places(const std::string& path);

}  // namespace numatlas
