#include "verify/constants.hpp"

#include <optional>

namespace loco::verify {

namespace {

/// All are taken for constant until something that is not their initial value may be written to them.
class Search {
 public:
  Search(const Program& program, Constants& result) : program_(program), result_(result) {}

  void run() {
    for (more_ = true; more_;) {
      more_ = false;
      for (const RemoteStatement& r : program_.remotes) remote(r);
      for (const Process& p : program_.processes) {
        for (const Edge& e : p.edges) edge(e.action);
      }
    }
  }

 private:
  using Known = std::optional<Integer>;

  [[nodiscard]] Known shared(std::uint32_t v) const {
    return result_.shared[v] ? Known(program_.shared[v].initial) : std::nullopt;
  }

  void to_shared(std::uint32_t v, const Known& value) {
    if (!result_.shared[v] || (value && *value == program_.shared[v].initial)) return;
    result_.shared[v] = false;
    more_ = true;
  }

  void to_local(std::uint32_t l, const Known& value) {
    if (!result_.locals[l] || (value && *value == program_.locals[l].initial)) return;
    result_.locals[l] = false;
    more_ = true;
  }

  void remote(const RemoteStatement& r) {
    if (r.result) to_shared(*r.result, shared(r.remote));
    if (r.kind == RemoteKind::kPut) to_shared(r.remote, shared(*r.operand));
    if (r.kind == RemoteKind::kRga && shared(*r.operand) != Known(0)) to_shared(r.remote, std::nullopt);
    if (r.kind == RemoteKind::kCas) to_shared(r.remote, shared(*r.swap));
  }

  void edge(const Action& action) {
    if (action.kind == ActionKind::kStore) to_shared(action.shared, value(*action.expression));
    if (action.kind == ActionKind::kAssign) to_local(action.local, value(*action.expression));
    if (action.kind == ActionKind::kLoad) to_local(action.local, shared(action.shared));
    for (const Integer& choice : action.choices) to_local(action.local, choice);
  }

  [[nodiscard]] Known value(const Expression& expression) const {
    bool known = true;
    const Integer result = evaluate(expression, [&](const ExpressionNode& node) {
      known = known && result_.locals[node.index];
      return program_.locals[node.index].initial;
    });
    return known ? Known(result) : std::nullopt;
  }

  const Program& program_;
  Constants& result_;
  bool more_ = false;
};

}  // namespace

Constants::Constants(const Program& program)
    : shared(program.shared.size(), true), locals(program.locals.size(), true) {
  Search(program, *this).run();
}

}  // namespace loco::verify
