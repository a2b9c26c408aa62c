// The ways through a program's threads, values first: every read returns every value that it might. For the oracle of
// reference.hpp; shares only the parser with the engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/litmus/language/program.hpp"

namespace loco::model::litmus::test {

struct Event {
  int thread = 0;
  const Instruction* i = nullptr;
  Value result = 0;
};

struct Sub {
  int event = 0;
  Stamp stamp = Stamp::aMF;
  std::string core;  // coreRMA: r w er ew erw flush
  int node = kNone;  // of a family stamp
  int cell = kNone;  // location * 1000 + index of the node
  bool r = false, w = false;
  Value read = 0, written = 0;
};

struct Trace {  // of one thread
  std::vector<Event> events;
  std::vector<Sub> subs;
  std::vector<Value> registers;
};

struct Traces {
  std::vector<std::vector<Trace>> by_thread;
  std::uint64_t work = 0;
  bool gave_up = false;  ///< more than `limit` steps
};

[[nodiscard]] Traces unfold(const Program& p, const std::string& model, std::uint64_t limit);

/// The number of a location's copy: location * 1000 + node for a shared one.
[[nodiscard]] int cell_of(const Program& p, int location, int node);

}  // namespace loco::model::litmus::test
