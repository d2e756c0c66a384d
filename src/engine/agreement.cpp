#include "engine/agreement.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace numatlas {

Expected<void> agree(Comm& comm, const std::optional<Error>& mine) {
  // Nearly always there is none, and then no rank holds anything of the others.
  const auto any = comm.largest(mine ? 1 : 0);
  if (!any) return fail(any.error());
  if (*any == 0) return {};
  std::string text;
  if (mine) {
    text = nlohmann::json{{"kind", static_cast<int>(mine->kind)},
                          {"message", mine->message},
                          {"hint", mine->hint}}
               // File names are bytes; what is no UTF-8 in them must not end the program here.
               .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  const auto all = comm.all_gather(text);
  if (!all) return fail(all.error());
  const auto first =
      std::find_if(all->begin(), all->end(), [](const std::string& t) { return !t.empty(); });
  if (first == all->end()) return {};
  const auto error = nlohmann::json::parse(*first);
  std::string message = error["message"];
  // An error of all ranks is the command line's, not a rank's.
  const bool everyone =
      std::all_of(all->begin(), all->end(), [&](const std::string& t) { return t == *first; });
  // What the ranks of a host agreed on names its rank already.
  const bool named = message.starts_with("rank ");
  if (!everyone && !named) {
    const auto rank = static_cast<std::size_t>(first - all->begin());
    const auto host = static_cast<std::size_t>(comm.layout().host_of[rank]);
    message = fmt::format("rank {} on {}: {}", comm.world_rank(static_cast<int>(rank)),
                          comm.layout().hosts[host], message);
  }
  return fail(static_cast<ErrorKind>(error["kind"].get<int>()), message, error["hint"]);
}

Expected<std::optional<int>> first_unlike(Comm& comm, const std::string& mine) {
  const auto first = comm.broadcast(mine);
  if (!first) return fail(first.error());
  const int size = comm.size();
  const bool differs = *first != mine;
  const auto found = comm.largest(static_cast<std::uint64_t>(differs ? size - comm.rank() : 0));
  if (!found) return fail(found.error());
  if (*found == 0) return std::nullopt;
  return size - static_cast<int>(*found);
}

}  // namespace numatlas
