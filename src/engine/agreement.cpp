#include "engine/agreement.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace numatlas {
namespace {

/// The error of the lowest rank that has one.
Expected<void> error_among(const Comm& comm, const std::vector<std::string>& all) {
  const auto first = std::find_if(
      all.begin(), all.end(), [](const std::string& text) { return text.starts_with(error_mark); });
  if (first == all.end()) return {};
  Error error = error_received(*first);
  // An error of all ranks is the command line's, not a rank's.
  const bool everyone =
      std::all_of(all.begin(), all.end(), [&](const std::string& t) { return t == *first; });
  // What the ranks of a host agreed on names its rank already.
  if (!everyone && error.where.empty()) {
    const auto rank = static_cast<std::size_t>(first - all.begin());
    const auto host = static_cast<std::size_t>(comm.layout().host_of[rank]);
    error.where = fmt::format("rank {} on {}", comm.world_rank(static_cast<int>(rank)),
                              comm.layout().hosts[host]);
  }
  return fail(std::move(error));
}

}  // namespace

std::string error_to_send(const Error& error) {
  const nlohmann::json words{static_cast<int>(error.kind),
                             error.message,
                             error.hint,
                             error.subject,
                             error.option_hint,
                             error.where};
  // File names are bytes; what is no UTF-8 in them must not end the program here.
  return error_mark + words.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Error error_received(const std::string& text) {
  const auto parts = nlohmann::json::parse(text.substr(1));
  return {static_cast<ErrorKind>(parts[0].get<int>()),
          parts[1],
          parts[2],
          parts[3],
          parts[4],
          parts[5]};
}

Expected<void> agree(Comm& comm, const std::optional<Error>& mine) {
  // Nearly always there is none, and then no rank holds anything of the others.
  if (!TRY(comm.any(mine.has_value()))) return {};
  return error_among(comm, TRY(comm.all_gather(mine ? error_to_send(*mine) : "")));
}

Expected<void> as_root_has(Comm& comm, const std::optional<Error>& mine) {
  const std::string told = TRY(comm.broadcast(mine ? error_to_send(*mine) : ""));
  if (told.empty()) return {};
  return fail(error_received(told));
}

Expected<std::vector<std::string>> all_gather(Comm& comm, const Expected<std::string>& mine) {
  auto all = TRY(comm.all_gather(mine ? *mine : error_to_send(mine.error())));
  TRY(error_among(comm, all));
  return all;
}

Expected<std::optional<int>> first_unlike(Comm& comm, const Expected<std::string>& mine) {
  const auto first = TRY(comm.broadcast(mine.value_or("")));
  const int size = comm.size();
  const int differs = mine && *mine == first ? 0 : size - comm.rank();
  const int code = mine ? differs : size + 1;  // an error is above all
  const auto found = static_cast<int>(TRY(comm.largest(static_cast<std::uint64_t>(code))));
  if (found == 0) return std::nullopt;
  if (found <= size) return size - found;
  TRY(error_among(comm, TRY(comm.all_gather(mine ? "" : error_to_send(mine.error())))));
  return std::nullopt;
}

}  // namespace numatlas
