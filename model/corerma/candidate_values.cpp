#include "model/corerma/candidate_values.hpp"

#include <algorithm>

namespace loco::model::corerma {
Constants::Constants(const Program& program) {
  const auto* begin = program.statements.data();
  const bool sums = std::any_of(begin, begin + program.count, [](const Statement& s) { return s.kind == Kind::rga; });
  std::int64_t next = sums ? 1 : 0;
  const auto fresh = [&] {
    const std::int64_t value = next;
    next = sums ? 10 * next : next + 1;
    return value;
  };
  for (int v = 0; v < program.variables; ++v) initial[index(v)] = fresh();
  for (int i = 0; i < program.count; ++i)
    if (program.statement(i).kind == Kind::write) written[index(i)] = fresh();
}

CandidateValues::Value CandidateValues::read(int action, int depth) const {
  if (depth > graph_.n) return std::nullopt;
  const int source = candidate_.source[index(action)];
  return source == kNobody ? Value(constants_.initial[index(graph_.variable[index(action)])])
                           : written(source, depth + 1);
}

CandidateValues::Value CandidateValues::written(int action, int depth) const {
  const int statement = graph_.statement[index(action)];
  const int first = graph_.first[index(statement)];
  switch (program_.statement(statement).kind) {
    case Kind::write:
      return constants_.written[index(statement)];
    case Kind::get:
    case Kind::put:
      return read(first, depth);
    case Kind::rga: {
      const Value old = read(first + 1, depth);
      if (action != first + 1) return old;
      const Value added = read(first, depth);
      return old && added ? Value(*old + *added) : std::nullopt;
    }
    case Kind::cas: {
      const Value old = read(first + 2, depth);
      if (action != first + 2) return old;
      const Value compared = read(first, depth);
      if (!old || !compared) return std::nullopt;
      return *old == *compared ? read(first + 1, depth) : old;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace loco::model::corerma
