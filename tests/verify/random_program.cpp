#include "tests/verify/random_program.hpp"

#include <boost/random/mersenne_twister.hpp>
#include <fmt/format.h>
#include <vector>

namespace loco::test {

namespace {

class Writer {
 public:
  explicit Writer(std::uint32_t seed) : random_(seed) {}

  std::string program() {
    processes_ = below(5) == 0 ? 3 : 2;
    const std::uint32_t length = processes_ == 3 ? 3 : 5;
    std::string text;
    for (std::uint32_t p = 0; p < processes_; ++p) {
      text += fmt::format("process {} {{\n  shared X{} = {}, Y{} = {};\n  local a{}, b{} = 1, n{};\n", p, p, below(3),
                          p, below(2), p, p, p);
      for (std::uint32_t i = 2 + below(length - 1); i-- > 0;) text += statement(p, 2);
      if (below(3) == 0)
        text += "  critical: skip;\n  a" + std::to_string(p) + " = 2;\n";
      else
        text += "  critical: skip;\n";
      text += "}\n";
    }
    return text + property();
  }

 private:
  std::uint32_t below(std::uint32_t limit) { return random_() % limit; }
  std::string shared(std::uint32_t p) { return fmt::format("{}{}", below(2) == 0 ? "X" : "Y", p); }
  std::string local(std::uint32_t p) { return fmt::format("{}{}", below(2) == 0 ? "a" : "b", p); }
  std::string condition(std::uint32_t p) {
    static const std::vector<std::string> kOperators = {"==", "!=", "<", ">="};
    return below(6) == 0 ? "*" : fmt::format("{} {} {}", local(p), kOperators[below(4)], below(3));
  }

  std::string remote(std::uint32_t p) {
    const std::uint32_t target = below(8) == 0 ? p : (p + 1 + below(processes_ - 1)) % processes_;
    const std::string there = shared(target);
    std::string text;
    switch (below(7)) {
      case 0:
        text = fmt::format("{} = rga({}, {}, {});", shared(p), there, target, shared(p));
        break;
      case 1:
        text = fmt::format("{} = cas({}, {}, {}, {});", shared(p), there, target, shared(p), shared(p));
        break;
      case 2:
      case 3:
      case 4:
        text = fmt::format("put({}, {}, {});", there, target, shared(p));
        break;
      default:
        text = fmt::format("{} = get({}, {});", shared(p), there, target);
    }
    if (below(3) == 0) text += fmt::format(" flush({});", target);
    return "  " + text + "\n";
  }

  std::string statement(std::uint32_t p, std::uint32_t depth) {
    switch (below(depth == 0 ? 7 : 9)) {
      case 0:
        return fmt::format("  load {} = {};\n", local(p), shared(p));
      case 1:
        return fmt::format("  store {} = {};\n", shared(p), below(2) == 0 ? local(p) : std::to_string(below(4)));
      case 2:
        return below(3) == 0 ? fmt::format("  {} = choose(0, {});\n", local(p), 1 + below(3))
                             : fmt::format("  {} = {} {} 1;\n", local(p), local(p), below(2) == 0 ? "-" : "*");
      case 7:
        return fmt::format("  if ({}) {{\n{}  }} else {{\n{}  }}\n", condition(p), statement(p, depth - 1),
                           statement(p, depth - 1));
      case 8:
        // Ends after some turns, or at once: nothing else writes to n.
        return fmt::format("  n{} = {};\n  while (n{} > 0) {{\n  n{} = n{} - 1;\n{}{}  }}\n", p, below(3), p, p, p,
                           statement(p, 0), below(3) == 0 ? "  if (*) break;\n" : "");
      default:
        return remote(p);
    }
  }

  std::string property() {
    std::string text;
    if (below(4) == 0) text += "assert always (!(at(0, critical) && at(1, critical)) || X0 != 1);\n";
    if (below(6) == 0) text += fmt::format("assert always (Y{} <= 2);\n", below(processes_));
    return text + fmt::format("assert final (!(a0 == {} && a1 == {}) {} X1 != {});\n", below(3), below(3),
                              below(3) == 0 ? "&&" : "||", below(3));
  }

  boost::random::mt19937 random_;
  std::uint32_t processes_ = 2;
};

}  // namespace

std::string random_program(std::uint32_t seed) { return Writer(seed).program(); }

}  // namespace loco::test
