#include "engine/agreement.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace numatlas {

std::string error_to_send(const Error& error) {
  return nlohmann::json{static_cast<int>(error.kind),
                        error.message,
                        error.hint,
                        error.subject,
                        error.option_hint,
                        error.where}
      // File names are bytes; what is no UTF-8 in them must not end the program here.
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Error error_received(const std::string& text) {
  const auto parts = nlohmann::json::parse(text);
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
  const auto all = TRY(comm.all_gather(mine ? error_to_send(*mine) : ""));
  const auto first =
      std::find_if(all.begin(), all.end(), [](const std::string& t) { return !t.empty(); });
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

Expected<std::optional<int>> first_unlike(Comm& comm, const std::string& mine) {
  const auto first = TRY(comm.broadcast(mine));
  const int size = comm.size();
  const bool differs = first != mine;
  const auto found =
      TRY(comm.largest(static_cast<std::uint64_t>(differs ? size - comm.rank() : 0)));
  if (found == 0) return std::nullopt;
  return size - static_cast<int>(found);
}

}  // namespace numatlas
