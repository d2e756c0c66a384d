// Pages that the system grants and takes back at the first touch: of a pool beyond a limit of the
// control group, of a file whose disk is full. The kernel sends SIGBUS, which would end the
// process.
#pragma once

#include <cstddef>

namespace numatlas {

struct WatchedRange;

/// Watches a range of memory while it is touched. Where the system cannot provide a page, ordinary
/// memory takes the page's place, and `taken_back` is true from then on.
class Watched {
 public:
  Watched(void* start, std::size_t bytes);
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  bool taken_back() const;

 private:
  WatchedRange* range_ = nullptr;
};

}  // namespace numatlas
