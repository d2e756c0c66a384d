// A function that a value may name.
#pragma once

#include <functional>
#include <memory>
#include <utility>

namespace numatlas {

/// A function of a benchmark. One that it does not name does nothing: what it gives is empty.
template <class Signature>
struct Hook;
template <class Result, class... Arguments>
struct Hook<Result(Arguments...)> : std::function<Result(Arguments...)> {
  using Base = std::function<Result(Arguments...)>;
  using Base::Base;
  Result operator()(Arguments... arguments) const {
    return *this ? Base::operator()(std::forward<Arguments>(arguments)...) : Result();
  }
};

/// Binds functions to the values of a benchmark's own options, which they all take first.
template <class Options>
class Bound {
 public:
  template <class Function>
  auto operator()(Function function) const {
    return [function, own = own_](auto&&... rest) {
      return function(*own, std::forward<decltype(rest)>(rest)...);
    };
  }
  /// A member of the values, which lives as long as they do.
  template <class T>
  std::shared_ptr<T> of(T Options::*member) const {
    return {own_, &(own_.get()->*member)};
  }

 private:
  std::shared_ptr<Options> own_ = std::make_shared<Options>();
};

}  // namespace numatlas
