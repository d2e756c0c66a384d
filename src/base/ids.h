// Numbers of CPUs and NUMA nodes (the operating system's numbering, always) and sets of them.
#pragma once

#include <compare>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace numatlas {

/// The kernel's own limit is far lower; this only stops "0-999999999999".
constexpr int most_id = 1 << 20;

/// A number that cannot be mistaken for another kind of number.
template <class Tag>
struct Id {
  int value = -1;
  friend auto operator<=>(const Id&, const Id&) = default;
};
struct CpuTag;
struct NodeTag;
using CpuId = Id<CpuTag>;    ///< OS number of a logical CPU
using NodeId = Id<NodeTag>;  ///< OS number of a NUMA node

/// Sorted set of ids without duplicates; sparse numbers and thousands of members are fine.
template <class I>
class IdSet {
 public:
  IdSet() = default;
  IdSet(std::initializer_list<I> ids) {
    for (I id : ids) insert(id);
  }
  void insert(I id);
  bool contains(I id) const;
  bool empty() const { return ids_.empty(); }
  std::size_t size() const { return ids_.size(); }
  I front() const { return ids_.front(); }
  I operator[](std::size_t index) const { return ids_[index]; }
  auto begin() const { return ids_.begin(); }
  auto end() const { return ids_.end(); }
  /// Members of both.
  IdSet operator&(const IdSet& other) const;
  /// Members of either.
  IdSet operator|(const IdSet& other) const;
  /// Members of this set that the other does not have.
  IdSet operator-(const IdSet& other) const;
  friend bool operator==(const IdSet&, const IdSet&) = default;

 private:
  std::vector<I> ids_;
};
using CpuSet = IdSet<CpuId>;
using NodeSet = IdSet<NodeId>;

extern template class IdSet<CpuId>;
extern template class IdSet<NodeId>;

/// Kernel list format, "0-3,7" ("" for the empty set).
template <class I>
std::string to_list(const IdSet<I>& set);
/// Reads the kernel list format; spaces and a final newline are ignored, "0-30:2" (stride) is
/// understood. Members keep no order. Errors: kind usage, message without an option's name.
template <class I>
Expected<IdSet<I>> parse_list(std::string_view text);
/// As parse_list, but keeps the order and duplicates as written ("7,1-3" gives 7,1,2,3).
Expected<std::vector<int>> parse_ordered_list(std::string_view text);

}  // namespace numatlas
