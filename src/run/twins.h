// Which points of a session's benchmarks are the same work: the same flows of the same workers on
// the same memory. They are measured once, and each visit counts for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "run/session_part.h"

namespace numatlas {

class Twins {
 public:
  struct Member {
    SessionPart* part = nullptr;
    std::size_t point = 0;
  };

  /// Finds the twins of the points from `first` on of a part, which must outlive this.
  void add(SessionPart& part, std::size_t first);
  /// Gives a point that has no visits those that its twins had: whether there are any.
  bool take_earlier(const Member& mine);
  /// A visit to a point counts for its twins as well; `keep`: also for those that are added later.
  /// Returns them: whether they have enough is to be decided.
  std::vector<Member> take(const Member& visited, bool keep);
  /// Forgets the visits that were kept: no more points come.
  void forget_visits();

 private:
  struct Group {
    std::vector<Flow> work;  ///< its workers are indices into `workers_`
    std::vector<Member> members;
    std::vector<std::pair<Member, Visited>> visits;
  };
  using Key = std::pair<const SessionPart*, std::size_t>;

  std::optional<std::vector<Flow>> work_of(const SessionPart& part, std::size_t point);
  int common_number(const Worker& worker);

  std::vector<Worker> workers_;  ///< of all parts
  std::vector<Group> groups_;
  /// Indices into `groups_`: by number of flows, their size and the first one's kernel; by point.
  std::multimap<std::tuple<std::size_t, std::uint64_t, std::string>, std::size_t> alike_;
  std::map<Key, std::size_t> group_of_;
};

}  // namespace numatlas
