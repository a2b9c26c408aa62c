#include "tests/model/corerma/conversion.hpp"

#include <algorithm>
#include <stdexcept>

namespace loco::model::corerma::test {

NaiveProgram to_naive(const Program& program) {
  NaiveProgram naive;
  naive.homes.assign(program.home.begin(), program.home.begin() + program.variables);
  for (int p = 0; p < program.processes; ++p) {
    naive.processes.emplace_back();
    for (int i = program.begin_of(p); i < program.end_of(p); ++i) {
      const Statement& s = program.statement(i);
      NaiveStatement n;
      n.kind = kKindLetters[static_cast<std::size_t>(s.kind)][0];
      if (s.kind == Kind::put)
        n.operands = {s.remote, s.local};
      else
        for (const std::int8_t v : {s.local, s.remote, s.operand, s.operand2})
          if (v != kNobody) n.operands.push_back(v);
      if (s.kind == Kind::flush) n.host = s.host;
      naive.processes.back().push_back(n);
    }
  }
  return naive;
}

std::set<std::string> to_naive(RuleSet rules) {
  std::set<std::string> names;
  for (const Rule r : rules.rules()) names.emplace(litmus::name(r));
  return names;
}

std::set<NaiveProgram> generated(GenerateOptions options, int size) {
  std::set<NaiveProgram> programs;
  options.size = size;
  Generator generator(options);
  const int hosts = generator.options().hosts;
  (void)generator.run([&](const Test& test) {
    if (test.size == size && !programs.insert(naive_canonical(to_naive(test.program), hosts)).second)
      throw std::runtime_error("twice: " + test.name);
    return true;
  });
  return programs;
}

std::vector<long> to_document_values(const Program& program, std::vector<long> values) {
  const auto* begin = program.statements.data();
  if (std::any_of(begin, begin + program.count, [](const Statement& s) { return s.kind == Kind::rga; })) return values;
  for (long& v : values) {
    long k = 0;
    for (; v > 1; v /= 10) ++k;
    v = k;
  }
  return values;
}

}  // namespace loco::model::corerma::test
