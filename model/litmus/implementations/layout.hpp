// Where the locations and objects of a program live when LOCO's libraries are implemented over rdmawait: words on
// nodes.
#pragma once

#include <vector>

#include "model/litmus/implementations/implementations.hpp"
#include "model/litmus/language/program.hpp"

namespace loco::model::litmus {

/// Where the parts of the source program's locations and objects live in the translated one.
struct Layout {
  /// Word locations of a location: index 0 for a word; by node for a shared one; cells in order for a tuple.
  std::vector<std::vector<int>> words;
  std::vector<int> fence;                  // by node position: the dummy that a global fence reads
  std::vector<std::vector<int>> counters;  // by barrier: participant x node -> word
  struct Ring {
    std::vector<int> cells;  // cell x node
    std::vector<int> head;   // by node
    std::vector<int> tails;  // reader x node
    int work_id = kNone;
    int submits = 0;  // calls in the program
  };
  std::vector<Ring> rings;
};

/// Adds the words to `out`, and the work identifiers of ring buffers.
[[nodiscard]] Layout lay_out(const Program& source, const Implementation& how, Program& out);

/// Of a tuple's elements; injective for small ones.
[[nodiscard]] Value tuple_hash(const std::vector<Value>& elements);

}  // namespace loco::model::litmus
