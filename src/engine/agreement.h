// One rank's error is everyone's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "comm/comm.h"

namespace numatlas {

/// Errors as ranks send them to each other: texts that begin with this; no other text does.
inline constexpr char error_mark = '!';
std::string error_to_send(const Error& error);
Error error_received(const std::string& text);

/// Collective: returns the error of the lowest rank that has one, named by rank and host when there
/// are several ranks, the same on every rank; nothing when no rank has one.
Expected<void> agree(Comm& comm, const std::optional<Error>& mine);

/// Collective: the error of rank 0, or none, on every rank: of what only rank 0 knows.
Expected<void> as_root_has(Comm& comm, const std::optional<Error>& mine);

/// Collective: every rank's text, on every rank; or the error as of agree. Texts of no error do not
/// begin with '!'.
Expected<std::vector<std::string>> all_gather(Comm& comm, const Expected<std::string>& mine);

/// Collective: the lowest rank whose text is not that of rank 0, the same on every rank; nothing
/// when all ranks have the same text; or the error as of agree, where a rank has one in its place.
Expected<std::optional<int>> first_unlike(Comm& comm, const Expected<std::string>& mine);

/// The error of an Expected, if any, as agree takes it.
template <class T>
std::optional<Error> error_of(const Expected<T>& value) {
  if (value) return std::nullopt;
  return value.error();
}

}  // namespace numatlas
