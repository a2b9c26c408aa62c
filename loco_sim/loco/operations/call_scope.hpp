// Brackets a library call in the trace for the length of a scope. If an exception leaves the scope, the trace shows a
// call that has not returned.
#pragma once

#include <exception>

#include "loco_sim/loco/transport.hpp"

namespace loco {

class call_scope {
 public:
  call_scope(Transport& transport, const CallInfo& call) : transport_(transport), lane_(call.lane) {
    transport_.begin_call(call);
  }
  call_scope(const call_scope&) = delete;
  call_scope& operator=(const call_scope&) = delete;
  ~call_scope() {
    if (std::uncaught_exceptions() > exceptions_)
      transport_.abandon_call(lane_);
    else
      transport_.end_call(result_, lane_);
  }

  void set_result(std::uint64_t result) { result_ = result; }

 private:
  Transport& transport_;
  std::uint32_t lane_;
  int exceptions_ = std::uncaught_exceptions();
  std::uint64_t result_ = 0;
};

}  // namespace loco
