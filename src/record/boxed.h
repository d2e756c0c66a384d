// An optional value that takes no room where there is none.
#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace numatlas {

/// As std::optional, for large values that few of many have.
template <class T>
class Boxed {
 public:
  using value_type = T;
  Boxed() = default;
  Boxed(std::nullopt_t) {}       // NOLINT: as std::optional
  Boxed(std::optional<T> value)  // NOLINT: the same
      : held_(value ? std::make_unique<T>(*std::move(value)) : nullptr) {}
  Boxed(T value) : held_(std::make_unique<T>(std::move(value))) {}  // NOLINT: as std::optional
  Boxed(const Boxed& other) : held_(other ? std::make_unique<T>(*other) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(Boxed other) noexcept {
    held_ = std::move(other.held_);
    return *this;
  }
  ~Boxed() = default;

  explicit operator bool() const { return has_value(); }
  bool has_value() const { return held_ != nullptr; }
  T& operator*() { return *held_; }
  const T& operator*() const { return *held_; }
  T* operator->() { return held_.get(); }
  const T* operator->() const { return held_.get(); }
  void reset() { held_.reset(); }
  T& emplace() { return *(held_ = std::make_unique<T>()); }

 private:
  std::unique_ptr<T> held_;
};

}  // namespace numatlas
