#include "model/litmus/skeletons/values.hpp"

namespace loco::model::litmus {

namespace {

/// The value of a read whose source is no write.
std::optional<Value> value_without_write(const Skeleton& x, int source, int read) {
  if (source == kConflict) return kUndefined;
  if (source == kInitial) return x.cells->init(x.sub(read).cell);
  return std::nullopt;  // undecided
}

/// `depth`: reads passed on the way from the value that is asked for.
std::optional<Value> evaluate(const Skeleton& x, const Sources& rf, int thread, int symbol, int depth) {
  const Symbol* s = &at(at(x.paths, thread)->symbols, symbol);
  for (; s->kind == Symbol::Kind::read; ++depth) {  // a read has the value that its write wrote
    if (depth > x.n) return std::nullopt;           // the value would come out of thin air
    const int read = at(x.offset, thread) + s->a;
    const int w = rf[read];
    if (w < 0) return value_without_write(x, w, read);
    thread = x.sub(w).thread;
    s = &at(at(x.paths, thread)->symbols, x.sub(w).value);
  }
  if (s->kind == Symbol::Kind::constant) return s->constant;
  const auto a = evaluate(x, rf, thread, s->a, depth);
  if (s->kind == Symbol::Kind::select) {
    if (!a) return std::nullopt;
    if (*a == kUndefined) return kUndefined;
    return evaluate(x, rf, thread, *a != 0 ? s->b : s->c, depth);
  }
  const auto b = s->b == kNone ? std::optional<Value>(0) : evaluate(x, rf, thread, s->b, depth);
  if (!a || !b) return std::nullopt;
  return *a == kUndefined || *b == kUndefined ? kUndefined : apply(s->op, *a, *b);
}

}  // namespace

std::optional<Value> value_of(const Skeleton& x, const Sources& rf, int thread, int symbol) {
  return evaluate(x, rf, thread, symbol, 0);
}

std::optional<Value> value_read(const Skeleton& x, const Sources& rf, int read) {
  const int w = rf[read];
  return w < 0 ? value_without_write(x, w, read) : evaluate(x, rf, x.sub(w).thread, x.sub(w).value, 1);
}

std::optional<Value> value_written(const Skeleton& x, const Sources& rf, int write) {
  return evaluate(x, rf, x.sub(write).thread, x.sub(write).value, 0);
}

}  // namespace loco::model::litmus
