// What is wrong with the value of an option, on its way through the parser of the words.
#pragma once

#include <utility>

#include <CLI/CLI.hpp>

#include "base/error.h"

namespace numatlas {

class ValueError : public CLI::ValidationError {
 public:
  explicit ValueError(numatlas::Error error)
      : CLI::ValidationError(error.subject, error.message), error_(std::move(error)) {}
  const numatlas::Error& error() const { return error_; }

 private:
  numatlas::Error error_;
};

}  // namespace numatlas
