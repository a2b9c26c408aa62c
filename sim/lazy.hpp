// A part of a value that most copies never need: it takes only a pointer until it is changed.
//
// A missing part reads and compares as a default-constructed T. A value: copied with its content, storage reused. Not
// thread-safe.
#pragma once

#include <memory>

namespace loco::sim {

template <class T>
class Lazy {
 public:
  Lazy() = default;
  Lazy(const Lazy& other) : item_(other.item_ ? std::make_unique<T>(*other.item_) : nullptr) {}
  Lazy(Lazy&&) noexcept = default;
  Lazy& operator=(const Lazy& other) {
    if (this == &other) return *this;
    if (!other.item_)
      item_.reset();
    else if (item_)
      *item_ = *other.item_;
    else
      item_ = std::make_unique<T>(*other.item_);
    return *this;
  }
  Lazy& operator=(Lazy&&) noexcept = default;
  ~Lazy() = default;

  [[nodiscard]] const T& operator*() const {
    static const T kNone{};
    return item_ ? *item_ : kNone;
  }
  [[nodiscard]] const T* operator->() const { return &**this; }
  /// Access for changes; creates the part if it is missing.
  [[nodiscard]] T& edit() {
    if (!item_) item_ = std::make_unique<T>();
    return *item_;
  }

  bool operator==(const Lazy& other) const { return **this == *other; }

 private:
  std::unique_ptr<T> item_;
};

}  // namespace loco::sim
