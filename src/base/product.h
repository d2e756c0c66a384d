// The product of what a plan varies.
#pragma once

namespace numatlas {

/// Calls `body` without arguments.
template <class Body>
void for_each_of(const Body& body) {
  body();
}

/// Calls `body(a, b, ...)` for every combination of an element of each range; the last range
/// varies fastest, as in nested loops.
template <class Body, class Axis, class... Others>
void for_each_of(const Body& body, const Axis& axis, const Others&... others) {
  for (const auto& value : axis)
    for_each_of([&](const auto&... rest) { body(value, rest...); }, others...);
}

}  // namespace numatlas
