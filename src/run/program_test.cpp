#include "run/program.h"

#include <gtest/gtest.h>

#include <csignal>
#include <new>
#include <stdexcept>

#include "base/error.h"

namespace numatlas {
namespace {

/// As a destructor does: what it throws ends the process.
template <class Exception>
int throw_to_nobody(const Exception& exception) noexcept {
  const auto throw_it = [&] { throw exception; };
  throw_it();
  return 0;
}

TEST(Program, ALackOfMemoryThatNobodyCatchesIsAnError) {
  EXPECT_EXIT(run_program([] { return throw_to_nobody(std::bad_alloc()); }),
              ::testing::ExitedWithCode(exit_code(ErrorKind::resource)),
              "^numatlas: error: not enough memory\nnumatlas: hint: raise `ulimit -v`");
}

TEST(Program, OtherExceptionsEndAsTheyDoWithoutIt) {
  EXPECT_EXIT(run_program([] { return throw_to_nobody(std::runtime_error("of a library")); }),
              ::testing::KilledBySignal(SIGABRT), "of a library");
}

}  // namespace
}  // namespace numatlas
