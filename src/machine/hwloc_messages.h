// What libhwloc writes to standard error while it reads a machine.
#pragma once

#include <string>

namespace numatlas {

/// While it is there, standard error leads into a pipe: libhwloc prints a banner of many lines
/// where the firmware contradicts itself, and has no other way to tell. Where libhwloc ends the
/// process, what it wrote still comes out. For one thread at a time; where standard error is
/// closed, or there is no pipe, nothing is caught.
class HwlocMessages {
 public:
  HwlocMessages();
  ~HwlocMessages();
  HwlocMessages(const HwlocMessages&) = delete;
  HwlocMessages& operator=(const HwlocMessages&) = delete;
  /// All that it wrote as one note, "" for nothing. Standard error is as before from here on.
  std::string note();

 private:
  void give_back();
  int before_ = -1;  ///< standard error
  int pipe_ = -1;    ///< the end that is read
};

/// A text of libhwloc in one line: without its frame of stars, and without what follows the facts.
std::string one_line(const std::string& text);

}  // namespace numatlas
