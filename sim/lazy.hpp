// A part of a value that most copies never need: it takes a pointer until somebody changes it.
//
// What is not there reads, and compares, as a default-made T. A value: copied with what it holds, storage reused.
// Not thread-safe.
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
  /// To change it; makes it if it is not there.
  [[nodiscard]] T& edit() {
    if (!item_) item_ = std::make_unique<T>();
    return *item_;
  }

  bool operator==(const Lazy& other) const { return **this == *other; }

 private:
  std::unique_ptr<T> item_;
};

}  // namespace loco::sim
