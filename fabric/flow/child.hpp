// Work in a process of its own: for what can be done only once in a process (SimGrid), or may end it.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace loco::fabric {

/// The process ended without an answer; what() has what it said first.
class ChildError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Forks; the child calls `work` and hands back the bytes that it returns. `interrupted` is asked now and then and may
/// be empty: true kills the child and returns false. The child has only the calling thread and leaves without running
/// destructors; what it writes to stderr is kept for ChildError. `work` may not throw.
bool run_in_child(const std::function<std::string()>& work, const std::function<bool()>& interrupted,
                  std::string& answer);

}  // namespace loco::fabric
