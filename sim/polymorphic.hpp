// A value of some class derived from T, copied and compared by content, like std::polymorphic of C++26.
#pragma once

#include <memory>
#include <utility>

namespace loco::sim {

/// T declares `std::unique_ptr<T> clone() const`, `void assign(const T&)` and `bool equals(const T&) const`. Values
/// that are assigned to each other must be of the same class. Never empty, except after being moved from.
template <class T>
class Polymorphic {
 public:
  explicit Polymorphic(std::unique_ptr<T> value) : value_(std::move(value)) {}
  Polymorphic(const Polymorphic& other) : value_(other.value_->clone()) {}
  Polymorphic(Polymorphic&&) noexcept = default;
  Polymorphic& operator=(const Polymorphic& other) {
    if (this != &other) value_->assign(*other.value_);  // reuses its storage
    return *this;
  }
  Polymorphic& operator=(Polymorphic&&) noexcept = default;
  ~Polymorphic() = default;

  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  bool operator==(const Polymorphic& other) const { return value_->equals(*other.value_); }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace loco::sim
