// Programs that several tests use.
#pragma once

#include <string>

#include "verify/parser.hpp"

namespace loco::test {

/// The example of the paper (Baumann et al., Fig. 2), with a flush after the put, which it needs, and one after the
/// get.
inline const std::string kPutThenStore = R"(process 1 { shared Y = 1; }
process 2 {
  shared R = 0, X = 2;
  local r;
  put(Y, 1, X);
  flush(1);
  store X = 3;
  R = get(Y, 1);
  flush(1);
  load r = R;
}
assert final (r != 3);
)";

/// Peterson's lock (IPL 12(3), 1981) with flag0 and turn on process 0 and flag1 on process 1: two gets on process 0, a
/// put and four gets on process 1, each with its flush. The paper's Table 3: 4 of 7 flushes are needed.
inline const std::string kPeterson = R"(process 0 {
  shared flag0 = 0, turn = 0, F = 0;
  local f, t;
  enter: store flag0 = 1;
  store turn = 1;
  F = get(flag1, 1); flush(1);
  load f = F;
  load t = turn;
  while (f == 1 && t == 1) {
    F = get(flag1, 1); flush(1);
    load f = F;
    load t = turn;
  }
  critical: skip;
  store flag0 = 0;
  goto enter;
}
process 1 {
  shared flag1 = 0, zero = 0, F0 = 0, T0 = 0;
  local f, t;
  enter: store flag1 = 1;
  put(turn, 0, zero); flush(0);
  F0 = get(flag0, 0); flush(0);
  T0 = get(turn, 0); flush(0);
  load f = F0;
  load t = T0;
  while (f == 1 && t == 0) {
    F0 = get(flag0, 0); flush(0);
    T0 = get(turn, 0); flush(0);
    load f = F0;
    load t = T0;
  }
  critical: skip;
  store flag1 = 0;
  goto enter;
}
assert always (!(at(0, critical) && at(1, critical)));
)";

inline verify::Program parsed(const std::string& text) { return verify::parse(text, "f.rma"); }

}  // namespace loco::test
