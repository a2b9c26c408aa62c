// Programs that use their own network memory through spans, for every transport.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "examples/counter.hpp"
#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/memory/local_span.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/shared_bytes.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"

namespace loco::test {

inline void require_span(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

/// Each node writes a row into its own copy of a variable, half of it by another thread, and puts it to the next node.
inline void span_rows(Transport& node) {
  manager mgr(node);
  owned_var<std::array<std::uint64_t, 4>> first(mgr, "first", 0);
  shared_bytes row(mgr, "row", 64);
  counter visitors(mgr, "visitors");
  barrier bar(mgr, "bar");
  mgr.wait_for_ready();
  const local_words words = row.words();
  const Flag ended = node.make_flag();
  node.spawn("second", [&, words] {
    for (std::size_t i = 4; i < 8; ++i) words[i] = 10 * node.my_node() + i;
    node.memory_fence();
    node.flag_fetch_add(ended, 1);
  });
  for (std::size_t i = 0; i < 4; ++i) words[i] = 10 * node.my_node() + i;
  while (node.flag_load(ended) == 0) node.pause();
  std::uint64_t expected = 0;
  for (const std::uint64_t word : words)
    require_span(word == 10 * node.my_node() + expected++, "a word as it was written");
  mem_ref copy(mgr, 64);
  for (std::size_t i = 0; i < words.size(); ++i) copy.words()[i] = words[i];
  bar.waiting();  // all have read the words that others overwrite now
  const NodeId next = (node.my_node() + 1) % node.num_nodes();
  mgr.put(copy.address(), row.copy(next), 0, 64);
  if (node.my_node() == 0) {
    first.own_words()[3] = 4;
    first.push_broadcast();
  } else {
    try {
      first.own_words()[3] = 5;
      require_span(false, "an owned variable is written by another node");
    } catch (const ownership_error&) {
      require_span(first.words().size() == 4, "everybody may read");
    }
  }
  visitors.add(2);
  bar.waiting();
  const std::uint64_t before = (node.my_node() + node.num_nodes() - 1) % node.num_nodes();
  for (std::size_t i = 0; i < 8; ++i) require_span(words[i] == 10 * before + i, "what the node before has put");
  require_span(first.words()[3] == 4 && first.load()[3] == 4, "what the owner has written");
  require_span(visitors.value() == 2 * node.num_nodes(), "what all have added");
  bar.waiting();
}

using Seen = std::pair<std::uint64_t, std::uint64_t>;

/// Store buffering (SB): two threads of a node write a word each, and read the other's.
inline Seen store_buffering(Transport& node, manager& mgr, bool fence) {
  mem_ref block(mgr, 128);
  const local_words words = block.words();
  Seen seen;
  const Flag ended = node.make_flag();
  const auto write_and_read = [&](std::size_t mine, std::size_t other) {
    words[mine] = 1;
    if (fence) node.memory_fence();
    return words.load_acquire(other);
  };
  node.spawn("second", [&] {
    seen.second = write_and_read(8, 0);
    node.flag_fetch_add(ended, 1);
  });
  seen.first = write_and_read(0, 8);
  while (node.flag_load(ended) == 0) node.pause();
  return seen;
}

}  // namespace loco::test
