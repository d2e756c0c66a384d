// Fields that parsers fill, a line each.
#pragma once

#include <initializer_list>
#include <utility>

#include "base/error.h"

namespace numatlas {

/// Puts what was read into `field`; its error where it could not be read.
template <class T, class Read>
Expected<void> fill(T& field, Expected<Read> read) {
  if (!read) return fail(std::move(read).error());
  field = *std::move(read);
  return {};
}

/// The first error of several readings. All of them are done, so none may rely on one before.
inline Expected<void> first_error(std::initializer_list<Expected<void>> readings) {
  for (const Expected<void>& reading : readings)
    if (!reading) return reading;
  return {};
}

}  // namespace numatlas
