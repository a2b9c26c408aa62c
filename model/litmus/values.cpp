#include "model/litmus/values.hpp"

namespace loco::model::litmus {

std::optional<Value> value_read(const Skeleton& x, const Sources& rf, int read, int depth) {
  const int w = rf[read];
  if (w == kUndecided || depth > x.n) return std::nullopt;  // too deep: the value would come out of thin air
  if (w == kConflict) return kUndefined;
  if (w == kInitial) return x.cells->init(x.sub(read).cell);
  return value_of(x, rf, x.sub(w).thread, x.sub(w).value, depth + 1);
}

std::optional<Value> value_of(const Skeleton& x, const Sources& rf, int thread, int symbol, int depth) {
  const Symbol& s = at(at(x.paths, thread)->symbols, symbol);
  switch (s.kind) {
    case Symbol::Kind::constant:
      return s.constant;
    case Symbol::Kind::read:
      return value_read(x, rf, at(x.offset, thread) + s.a, depth);
    case Symbol::Kind::op: {
      const auto a = value_of(x, rf, thread, s.a, depth);
      const auto b = s.b == kNone ? std::optional<Value>(0) : value_of(x, rf, thread, s.b, depth);
      if (!a || !b) return std::nullopt;
      return *a == kUndefined || *b == kUndefined ? kUndefined : apply(s.op, *a, *b);
    }
    case Symbol::Kind::select: {
      const auto a = value_of(x, rf, thread, s.a, depth);
      if (!a) return std::nullopt;
      if (*a == kUndefined) return kUndefined;
      return value_of(x, rf, thread, *a != 0 ? s.b : s.c, depth);
    }
  }
  return std::nullopt;
}

std::optional<Value> value_written(const Skeleton& x, const Sources& rf, int write) {
  return value_of(x, rf, x.sub(write).thread, x.sub(write).value);
}

}  // namespace loco::model::litmus
