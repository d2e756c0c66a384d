// A machine that does not exist, behind the engine's interface: for golden tests, recorded machines
// and known truth.
#pragma once

#include <memory>
#include <optional>

#include "engine/engine.h"
#include "engine/simulated/noise.h"

namespace numatlas {

/// Touches no memory: a scripted clock and a model of the machine's caches and distances give the
/// same samples on every run. Results say "null" wherever they name the engine. `noise`: how the
/// machine's speed varies; without it time stands still between scenarios, and samples vary by a
/// few per cent on their own.
std::unique_ptr<Engine> make_null_engine(Comm& comm, const Layout& layout, const Machine& machine,
                                         const EngineOptions& options,
                                         const std::optional<Noise>& noise = {});

}  // namespace numatlas
