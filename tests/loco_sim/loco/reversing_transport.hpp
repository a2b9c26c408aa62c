// Hands the words of short puts and gets over one by one, in front of another transport: the models keep no order among
// the words of one operation, so nothing that is built on a Transport may need one.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loco_sim/loco/transport.hpp"

namespace loco::test {

enum class WordOrder : std::uint8_t {
  whole,       ///< as ever
  last_first,  ///< all operations
  some,        ///< each as it comes: whole, last word first, or in a drawn order
};

class ReversingTransport final : public Transport {
 public:
  static constexpr std::uint64_t kMost = 256;  ///< bytes; longer operations stay whole

  ReversingTransport(Transport& behind, WordOrder words, std::uint64_t seed)
      : t_(behind), words_(words), state_(seed | 1U) {}

  [[nodiscard]] NodeId my_node() const override { return t_.my_node(); }
  [[nodiscard]] std::uint32_t num_nodes() const override { return t_.num_nodes(); }
  [[nodiscard]] std::uint32_t my_thread() const override { return t_.my_thread(); }
  void spawn(std::string name, std::function<void()> body, bool service) override {
    t_.spawn(std::move(name), std::move(body), service);
  }
  [[nodiscard]] std::int64_t now_ps() const override { return t_.now_ps(); }
  void compute(std::int64_t ps) override { t_.compute(ps); }
  void pause() override { t_.pause(); }
  void set_waits_for(std::function<std::string()> what) override { t_.set_waits_for(std::move(what)); }
  void wake_all() override { t_.wake_all(); }

  Region allocate(std::uint64_t size) override { return t_.allocate(size); }
  Region allocate_on_device(std::uint64_t size) override { return t_.allocate_on_device(size); }
  void clear(Address base, std::uint64_t size) override { t_.clear(base, size); }
  [[nodiscard]] bool stored(Address base, std::uint64_t size) override { return t_.stored(base, size); }
  std::uint64_t load(Address address) override { return t_.load(address); }
  void store(Address address, std::uint64_t value) override { t_.store(address, value); }
  void load_bytes(Address address, std::span<std::byte> out) override { t_.load_bytes(address, out); }
  void store_bytes(Address address, std::span<const std::byte> in) override { t_.store_bytes(address, in); }
  [[nodiscard]] std::uint64_t* direct(Address address, std::uint64_t size) override { return t_.direct(address, size); }
  std::uint64_t compare_swap_local(Address address, std::uint64_t expected, std::uint64_t desired) override {
    return t_.compare_swap_local(address, expected, desired);
  }
  void memory_fence() override { t_.memory_fence(); }

  Flag make_flag(std::uint64_t initial) override { return t_.make_flag(initial); }
  void release_flag(Flag flag) override { t_.release_flag(flag); }
  std::uint64_t flag_load(Flag flag) override { return t_.flag_load(flag); }
  std::uint64_t flag_peek(Flag flag) override { return t_.flag_peek(flag); }
  std::uint64_t flag_fetch_or(Flag flag, std::uint64_t bits) override { return t_.flag_fetch_or(flag, bits); }
  std::uint64_t flag_fetch_and(Flag flag, std::uint64_t bits) override { return t_.flag_fetch_and(flag, bits); }
  std::uint64_t flag_fetch_add(Flag flag, std::uint64_t value) override { return t_.flag_fetch_add(flag, value); }
  bool flag_compare_exchange(Flag flag, std::uint64_t expected, std::uint64_t desired) override {
    return t_.flag_compare_exchange(flag, expected, desired);
  }
  std::uint64_t flag_add_early(Flag flag, std::uint64_t value) override { return t_.flag_add_early(flag, value); }

  [[nodiscard]] std::string lacks(Capability what) const override {
    return what == Capability::ascending_words ? "words are handed over one by one" : t_.lacks(what);
  }
  void put(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, OperationTag tag) override {
    word_by_word(size, tag, [&](std::uint64_t at, std::uint64_t bytes, OperationTag of_part) {
      t_.put(local + at, remote, offset + at, bytes, of_part);
    });
  }
  void get(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size, OperationTag tag) override {
    word_by_word(size, tag, [&](std::uint64_t at, std::uint64_t bytes, OperationTag of_part) {
      t_.get(local + at, remote, offset + at, bytes, of_part);
    });
  }
  void fetch_add(Address local, const Region& remote, std::uint64_t offset, std::uint64_t add,
                 OperationTag tag) override {
    t_.fetch_add(local, remote, offset, add, tag);
  }
  void compare_swap(Address local, const Region& remote, std::uint64_t offset, std::uint64_t expected,
                    std::uint64_t desired, OperationTag tag) override {
    t_.compare_swap(local, remote, offset, expected, desired, tag);
  }
  void remote_fence(NodeId node) override { t_.remote_fence(node); }
  [[nodiscard]] bool settled(std::uint32_t thread, NodeId node) override { return t_.settled(thread, node); }
  std::size_t poll(std::span<Completion> out) override { return t_.poll(out); }

  void disconnect(NodeId node) override { t_.disconnect(node); }
  [[nodiscard]] bool disconnected(NodeId node) override { return t_.disconnected(node); }
  void connect(NodeId node, std::uint32_t number) override { t_.connect(node, number); }
  void send_control(NodeId to, std::string body) override { t_.send_control(to, std::move(body)); }
  std::optional<ControlMessage> receive_control() override { return t_.receive_control(); }
  std::optional<ControlMessage> take_control() override { return t_.take_control(); }
  [[nodiscard]] std::int64_t keep_alive_ps() const override { return t_.keep_alive_ps(); }
  [[nodiscard]] bool another_may_stop() const override { return t_.another_may_stop(); }
  [[nodiscard]] bool may_give_up_peers() const override { return t_.may_give_up_peers(); }
  [[nodiscard]] bool completions_lost() override { return t_.completions_lost(); }
  [[nodiscard]] std::int64_t retries_ps() const override { return t_.retries_ps(); }
  void begin_call(const CallInfo& call) override { t_.begin_call(call); }
  void end_call(std::uint64_t result, std::uint32_t lane) override { t_.end_call(result, lane); }
  void abandon_call(std::uint32_t lane) override { t_.abandon_call(lane); }
  void note_waited(std::uint64_t work_id) override { t_.note_waited(work_id); }
  void object_begins(std::string_view name) override { t_.object_begins(name); }
  void object_ends(std::string_view name) override { t_.object_ends(name); }

 private:
  /// Threads of a node draw as they come, in a simulator in one order: a function of the seed.
  std::uint64_t draw() { return (state_ = state_ * 6364136223846793005U + 1442695040888963407U) >> 33U; }

  /// Each word an operation, all but the last one completed with the one behind it.
  template <typename Post>
  void word_by_word(std::uint64_t size, OperationTag tag, Post post) {
    const bool whole = size <= kWord || size > kMost || size % kWord != 0;
    const std::uint64_t kind = words_ == WordOrder::some ? draw() % 3 : 1;
    if (whole || words_ == WordOrder::whole || kind == 0) return post(0, size, tag);
    std::vector<std::uint64_t> order;
    for (std::uint64_t at = size; at != 0; at -= kWord) order.push_back(at - kWord);
    if (kind == 2)
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draw() % i]);
    for (const std::uint64_t at : order) {
      const bool last = at == order.back();
      post(at, kWord, {tag.token, tag.work_id, last ? tag.tell : Tell::with_next});
    }
  }

  Transport& t_;
  WordOrder words_;
  std::uint64_t state_;
};

/// A program with such a transport in front of each node's. Service threads use them to the end: it outlives the
/// cluster.
class WordByWord {
 public:
  WordByWord(std::function<void(Transport&)> program, WordOrder words, std::uint64_t seed)
      : program_(std::move(program)), words_(words), seed_(seed) {}

  void operator()(Transport& node) {
    if (words_ == WordOrder::whole) return program_(node);
    Transport* reversing = nullptr;
    {
      const std::lock_guard guard(mutex_);
      reversing = &made_.emplace_back(node, words_, seed_ * 1024 + node.my_node());
    }
    program_(*reversing);
  }

 private:
  std::function<void(Transport&)> program_;
  WordOrder words_;
  std::uint64_t seed_;
  std::mutex mutex_;
  std::deque<ReversingTransport> made_;
};

}  // namespace loco::test
