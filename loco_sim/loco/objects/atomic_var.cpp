#include "loco_sim/loco/objects/atomic_var.hpp"

#include "loco_sim/loco/operations/networked_node.hpp"

namespace loco {

atomic_word::atomic_word(within where, std::string_view name, NodeId home, std::uint64_t initial,
                         std::optional<expect_num> expected)
    : channel(where, name, or_all(expected, where.num_nodes())), home_(home) {
  create(initial);
}

void atomic_word::create(std::uint64_t initial) {
  require_network({Capability::atomics});
  set_terms(home_text(home_) + ", initially " + std::to_string(initial));
  word_ = home_ == my_node() ? create_region("word", kWord) : expect_region(home_, "word", kWord);
  if (home_ == my_node() && initial != 0) {
    transport().store(local(word_).base, initial);
    transport().memory_fence();  // in memory before any peer connects
  }
  join();
}

void atomic_word::load(const mem_ref& old, ack_key& key) {
  here().get(old.address(), remote(word_, home_), 0, kWord, &key);
}

void atomic_word::fetch_add(const mem_ref& old, std::uint64_t add, ack_key& key) {
  here().fetch_add(old.address(), remote(word_, home_), 0, add, &key);
}

void atomic_word::compare_swap(const mem_ref& old, std::uint64_t expected, std::uint64_t desired, ack_key& key) {
  here().compare_swap(old.address(), remote(word_, home_), 0, expected, desired, &key);
}

template <typename Post>
std::uint64_t atomic_word::wait_for(Post post) {
  mem_ref old(here(), kWord);
  ack_key key(here());
  post(old, key);
  key.wait();
  return old.load();
}

std::uint64_t atomic_word::load() {
  return wait_for([this](const mem_ref& old, ack_key& key) { load(old, key); });
}

std::uint64_t atomic_word::fetch_add(std::uint64_t add) {
  return wait_for([this, add](const mem_ref& old, ack_key& key) { fetch_add(old, add, key); });
}

std::uint64_t atomic_word::compare_swap(std::uint64_t expected, std::uint64_t desired) {
  return wait_for(
      [this, expected, desired](const mem_ref& old, ack_key& key) { compare_swap(old, expected, desired, key); });
}

std::uint64_t atomic_word::exchange(std::uint64_t desired) {
  std::uint64_t expected = load();
  while (true) {
    const std::uint64_t old = compare_swap(expected, desired);
    if (old == expected) return old;
    expected = old;
  }
}

}  // namespace loco
