#include "base/warning.h"

#include <gtest/gtest.h>

namespace numatlas {
namespace {

TEST(Warning, TheSameMatterOfManyPlacesIsToldOnce) {
  const std::vector<Warning> warnings{{"low-overlap", "1MiB, worker 0", "overlapped 63 %"},
                                      {"low-overlap", "1MiB, worker 1", "overlapped 61 %"},
                                      {"placement", "1MiB, worker 1", "overlapped 61 %"},
                                      {"setting", "", "4 kHz"},
                                      {"setting", "", "5 kHz"}};
  EXPECT_EQ(counted(warnings),
            (std::vector<std::string>{"1MiB, worker 0: overlapped 63 % (and 1 more)",
                                      "1MiB, worker 1: overlapped 61 %", "4 kHz", "5 kHz"}));
}

}  // namespace
}  // namespace numatlas
