// One rank's error is everyone's.
#pragma once

#include <optional>

#include "comm/comm.h"

namespace numatlas {

/// Collective: returns the error of the lowest rank that has one, named by rank and host when there
/// are several ranks, the same on every rank; nothing when no rank has one.
Expected<void> agree(Comm& comm, const std::optional<Error>& mine);

/// The error of an Expected, if any, as agree takes it.
template <class T>
std::optional<Error> error_of(const Expected<T>& value) {
  if (value) return std::nullopt;
  return value.error();
}

}  // namespace numatlas
