#include "base/ids.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/text.h"

namespace numatlas {

template <class I>
void IdSet<I>::insert(I id) {
  if (ids_.empty() || ids_.back() < id) return ids_.push_back(id);  // most lists are sorted
  const auto it = std::lower_bound(ids_.begin(), ids_.end(), id);
  if (it == ids_.end() || *it != id) ids_.insert(it, id);
}

template <class I>
bool IdSet<I>::contains(I id) const {
  return std::binary_search(ids_.begin(), ids_.end(), id);
}

template <class I>
IdSet<I> IdSet<I>::operator&(const IdSet& other) const {
  IdSet result;
  std::set_intersection(begin(), end(), other.begin(), other.end(),
                        std::back_inserter(result.ids_));
  return result;
}

template <class I>
IdSet<I> IdSet<I>::operator|(const IdSet& other) const {
  IdSet result;
  std::set_union(begin(), end(), other.begin(), other.end(), std::back_inserter(result.ids_));
  return result;
}

template <class I>
IdSet<I> IdSet<I>::operator-(const IdSet& other) const {
  IdSet result;
  std::set_difference(begin(), end(), other.begin(), other.end(), std::back_inserter(result.ids_));
  return result;
}

template class IdSet<CpuId>;
template class IdSet<NodeId>;

namespace {

Expected<int> parse_number(std::string_view text, std::string_view whole) {
  const auto value = whole_number<int>(text);
  if (!value || *value < 0 || *value > most_id) {
    return fail(ErrorKind::usage,
                fmt::format("'{}' in '{}' is not a number from 0 to {}", text, whole, most_id));
  }
  return *value;
}

Expected<void> append_item(std::string_view item, std::string_view whole, std::vector<int>& out) {
  int step = 1;
  if (const auto colon = item.find(':'); colon != std::string_view::npos) {
    step = TRY(parse_number(item.substr(colon + 1), whole));
    item = item.substr(0, colon);
  }
  const auto dash = item.find('-');
  const auto first = parse_number(trim(item.substr(0, dash)), whole);
  if (!first) return fail(first.error());
  const auto last = TRY(
      dash == std::string_view::npos ? first : parse_number(trim(item.substr(dash + 1)), whole));
  if (step < 1 || last < *first) {
    return fail(ErrorKind::usage, fmt::format("the range '{}' in '{}' is empty", item, whole));
  }
  for (int id = *first; id <= last; id += step) out.push_back(id);
  return {};
}

}  // namespace

Expected<std::vector<int>> parse_ordered_list(std::string_view text) {
  std::vector<int> ids;
  std::string_view rest = trim(text);
  const std::string_view whole = rest;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    if (auto done = append_item(trim(rest.substr(0, comma)), whole, ids); !done) {
      return fail(done.error());
    }
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
    if (rest.empty()) return fail(ErrorKind::usage, fmt::format("'{}' ends in a comma", whole));
  }
  return ids;
}

template <class I>
Expected<IdSet<I>> parse_list(std::string_view text) {
  auto ids = TRY(parse_ordered_list(text));
  // Ascending, each is inserted at the end; in any other order the set would be moved every time.
  std::sort(ids.begin(), ids.end());
  IdSet<I> set;
  for (int id : ids) set.insert(I{id});
  return set;
}

template <class I>
std::string to_list(const IdSet<I>& set) {
  std::string text;
  for (auto it = set.begin(); it != set.end();) {
    const int first = it->value;
    int last = first;
    while (++it != set.end() && it->value == last + 1) last = it->value;
    if (!text.empty()) text += ',';
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  }
  return text;
}

template std::string to_list(const CpuSet&);
template std::string to_list(const NodeSet&);
template Expected<CpuSet> parse_list<CpuId>(std::string_view);
template Expected<NodeSet> parse_list<NodeId>(std::string_view);

}  // namespace numatlas
