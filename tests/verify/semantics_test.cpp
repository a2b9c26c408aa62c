// The exact semantics, step by step: what each kind of step does, when flushes wait, and what networks keep in order.
#include "verify/semantics.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/verify/programs.hpp"

namespace {

using namespace loco::verify;
using loco::test::parsed;

/// A run taken by hand.
class Hand {
 public:
  explicit Hand(const Program& program, Network network = Network::kUnordered)
      : program_(program), semantics_(program, all_flushes(program), network), state_(semantics_.initial()) {}

  /// The only step that this process has.
  Hand& cpu(std::uint32_t process) {
    std::vector<Step> own = semantics_.steps(state_);
    own.erase(std::remove_if(own.begin(), own.end(),
                             [&](const Step& s) { return s.kind != Step::Kind::kCpu || s.process != process; }),
              own.end());
    REQUIRE(own.size() == 1);
    state_ = semantics_.after(state_, own.front());
    return *this;
  }
  Hand& nic(std::uint32_t operation) {
    const Step step{Step::Kind::kNic, 0, 0, 0, operation};
    REQUIRE_FALSE(semantics_.obstacle(state_, step));
    state_ = semantics_.after(state_, step);
    return *this;
  }
  [[nodiscard]] bool waits(std::uint32_t operation) const {
    return semantics_.obstacle(state_, {Step::Kind::kNic, 0, 0, 0, operation}).has_value();
  }
  [[nodiscard]] bool stands(std::uint32_t process) const {
    const auto steps = semantics_.steps(state_);
    return std::none_of(steps.begin(), steps.end(),
                        [&](const Step& s) { return s.kind == Step::Kind::kCpu && s.process == process; });
  }
  [[nodiscard]] Integer shared(const std::string& name) const {
    for (std::size_t i = 0; i < program_.shared.size(); ++i) {
      if (program_.shared[i].name == name) return state_.shared[i];
    }
    return -1;
  }
  [[nodiscard]] Integer local(const std::string& name) const {
    for (std::size_t i = 0; i < program_.locals.size(); ++i) {
      if (program_.locals[i].name == name) return state_.locals[i];
    }
    return -1;
  }
  [[nodiscard]] std::size_t pending() const { return state_.pending.size(); }
  [[nodiscard]] bool broken() const { return semantics_.broken_in(state_).has_value(); }

 private:
  const Program& program_;
  Semantics semantics_;
  State state_;
};

Program one(const std::string& code) {
  return parsed("process 1 { shared X = 1, V = 5, O = 0; local u; " + code +
                " }\nprocess 2 { shared Y = 7, Z = 8; }\nassert always (1);\n");
}

}  // namespace

TEST_CASE("a put reads late and writes later") {
  const Program program = one("put(Y, 2, X); store X = 2; store X = 3;");
  Hand hand(program);
  hand.cpu(0).cpu(0).nic(0).cpu(0);
  CHECK(hand.shared("Y") == 7);
  hand.nic(0);
  CHECK(hand.shared("Y") == 2);
  CHECK(hand.pending() == 0);
}

TEST_CASE("a get reads remotely and writes later; its local write keeps a flush waiting") {
  const Program program = one("O = get(Y, 2); flush(2); load u = O;");
  Hand hand(program);
  hand.cpu(0);
  CHECK(hand.stands(0));
  hand.nic(0);
  CHECK(hand.shared("O") == 0);
  CHECK(hand.stands(0));
  hand.nic(0);
  CHECK(hand.shared("O") == 7);
  hand.cpu(0).cpu(0);
  CHECK(hand.local("u") == 7);
}

TEST_CASE("rga adds what it read, in one step, and writes the old value later") {
  const Program program = one("O = rga(Y, 2, X); store X = 100;");
  Hand hand(program);
  hand.cpu(0).nic(0).cpu(0).nic(0);
  CHECK(hand.shared("Y") == 8);
  CHECK(hand.shared("O") == 0);
  CHECK(hand.nic(0).shared("O") == 7);
}

TEST_CASE("cas reads operand, then swap, and writes the swap only where the operand was") {
  const Program hit = one("store X = 7; O = cas(Y, 2, X, V); store V = 6; store X = 9;");
  Hand first(hit);
  first.cpu(0).cpu(0).nic(0).cpu(0).cpu(0).nic(0).nic(0);
  CHECK(first.shared("Y") == 6);
  CHECK(first.nic(0).shared("O") == 7);

  const Program miss = one("O = cas(Y, 2, X, V);");
  Hand second(miss);
  second.cpu(0).nic(0).nic(0).nic(0);
  CHECK(second.shared("Y") == 7);
  CHECK(second.nic(0).shared("O") == 7);
}

TEST_CASE("a flush waits for its own process's operations to its target only") {
  const Program program = parsed(R"(
process 1 { shared X = 1, L = 0; put(Y, 2, X); put(L, 1, X); flush(3); flush(2); flush(1); }
process 2 { shared Y = 0; }
process 3 { shared X3 = 1; put(Y, 2, X3); }
assert always (1);)");
  Hand hand(program);
  hand.cpu(0).cpu(0).cpu(2).cpu(0);
  CHECK(hand.stands(0));
  hand.nic(0).nic(0).cpu(0);
  CHECK(hand.stands(0));
  hand.nic(1).nic(1).cpu(0);
  CHECK(hand.shared("L") == 1);
}

TEST_CASE("instances of one statement are pending with values of their own") {
  const Program program = one("again: put(Y, 2, X); store X = 2; goto again;");
  Hand hand(program);
  hand.cpu(0).nic(0).cpu(0).cpu(0).cpu(0).nic(1);
  hand.nic(1);
  CHECK(hand.shared("Y") == 2);
  hand.nic(0);
  CHECK(hand.shared("Y") == 1);
}

TEST_CASE("networks keep targets' parts in order") {
  const Program puts = one("put(Y, 2, X); put(Z, 2, X); O = get(Y, 2); V = get(Z, 2);");
  const auto issued = [&](Network network) {
    Hand hand(puts, network);
    hand.cpu(0).cpu(0).cpu(0).cpu(0).nic(0).nic(1);  // both puts have read
    return hand;
  };
  const auto waits = [&](Network network) {
    const Hand hand = issued(network);
    return std::vector<bool>{hand.waits(0), hand.waits(1), hand.waits(2), hand.waits(3)};
  };
  CHECK(waits(Network::kUnordered) == std::vector<bool>{false, false, false, false});
  CHECK(waits(Network::kVerbs) == std::vector<bool>{false, true, false, true});
  CHECK(waits(Network::kInOrder) == std::vector<bool>{false, true, true, true});
  Hand hand = issued(Network::kInOrder);
  hand.nic(0).nic(1).nic(2);
  CHECK_FALSE(hand.waits(3));  // a get is out of the way once it has read
}

TEST_CASE("loopbacks and other targets are in no order") {
  const Program program = parsed(R"(
process 1 { shared X = 1, A = 0, B = 0; put(A, 1, X); put(B, 1, X); put(Y, 2, X); put(W, 3, X); }
process 2 { shared Y = 0; }
process 3 { shared W = 0; }
assert always (1);)");
  Hand hand(program, Network::kInOrder);
  hand.cpu(0).cpu(0).cpu(0).cpu(0).nic(0).nic(1).nic(2).nic(3);
  for (std::uint32_t operation = 0; operation < 4; ++operation) CHECK_FALSE(hand.waits(operation));
}

TEST_CASE("under sc a remote statement is one step") {
  const Program program = one("put(Y, 2, X); O = rga(Y, 2, V); O = cas(Y, 2, O, X); flush(2);");
  Hand hand(program, Network::kSc);
  hand.cpu(0);
  CHECK(hand.shared("Y") == 1);
  hand.cpu(0);
  CHECK(hand.shared("Y") == 6);
  CHECK(hand.shared("O") == 1);
  hand.cpu(0);
  CHECK(hand.shared("Y") == 6);
  CHECK(hand.shared("O") == 6);
  CHECK(hand.pending() == 0);
  hand.cpu(0);
}

TEST_CASE("final is checked while operations are pending, always at once") {
  const Program program = parsed(R"(
process 1 { shared X = 1; put(Y, 2, X); }
process 2 { shared Y = 0; }
assert final (Y == 1);)");
  Hand hand(program);
  CHECK_FALSE(hand.broken());  // process 1 has not ended
  hand.cpu(0);
  CHECK(hand.broken());
  CHECK_FALSE(hand.nic(0).nic(0).broken());
}
