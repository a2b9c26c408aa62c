#include "pybind/program_objects.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <type_traits>

#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/objects/atomic_var.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/objects/shared_queue.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/objects/var_array.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/store/kvstore.hpp"

namespace loco::python {

namespace {

using Word = std::uint64_t;
using Result = std::optional<Word>;
using Numbers = std::vector<Word>;

NodeId node_of(Word number) { return static_cast<NodeId>(number); }

/// A function of no, one or two words as a call; one without a result gives none.
template <class F>
ObjectFunction as_call(F f) {
  return [f = std::move(f)](Word a, Word b) -> Result {
    const auto apply = [&] {
      if constexpr (std::is_invocable_v<const F&>)
        return f();
      else if constexpr (std::is_invocable_v<const F&, Word>)
        return f(a);
      else
        return f(a, b);
    };
    if constexpr (!std::is_void_v<decltype(apply())>) return apply();
    apply();
    return std::nullopt;
  };
}

/// The calls that variables and state tables have. `part(a)`: the copy that a call names; `own`: what it names for this
/// node's own. `pull(part, a, key)` gets it. Each call has a key, and so a work id.
template <class Part, class Pull>
ProgramObject calls_of_copies(manager& mgr, Word own, Part part, Pull pull) {
  const auto with_key = [&mgr](auto f) {
    return as_call([&mgr, f](Word a) {
      ack_key key(mgr);
      return f(a, key);
    });
  };
  const auto waited = [with_key](auto post) {
    return with_key([post](Word a, ack_key& key) {
      post(a, key);
      key.wait();
    });
  };
  return {{ObjectCall::load, with_key([=](Word a, ack_key&) { return part(a).load(); })},
          {ObjectCall::write, with_key([=](Word value, ack_key&) { part(own).store(value); })},
          {ObjectCall::push, waited([=](Word node, ack_key& key) { part(own).push(node_of(node), key); })},
          {ObjectCall::broadcast, waited([=](Word, ack_key& key) { part(own).push_broadcast(key); })},
          {ObjectCall::pull, with_key([=](Word a, ack_key& key) {
             pull(part(a), a, key);
             key.wait();
             return part(a).load();
           })}};
}

/// Owned parts are pulled from their owner.
constexpr auto kFromOwner = [](auto& part, Word, ack_key& key) { part.pull(key); };

ProgramObject make_var(manager& mgr, const std::string& name, const Numbers&, const std::vector<NodeId>&) {
  const auto made = std::make_shared<var<Word>>(mgr, name);
  return calls_of_copies(
      mgr, 0, [made](Word) -> auto& { return *made; },
      [](auto& copy, Word node, ack_key& key) { copy.pull(node_of(node), key); });
}

ProgramObject make_owned_var(manager& mgr, const std::string& name, const Numbers& n, const std::vector<NodeId>&) {
  const auto made = std::make_shared<owned_var<Word>>(mgr, name, node_of(n.at(0)));
  return calls_of_copies(
      mgr, 0, [made](Word) -> auto& { return *made; }, kFromOwner);
}

ProgramObject make_atomic_var(manager& mgr, const std::string& name, const Numbers& n, const std::vector<NodeId>&) {
  const auto made = std::make_shared<atomic_var<Word>>(mgr, name, node_of(n.at(0)), n.at(1));
  return {{ObjectCall::load, as_call([made] { return made->load(); })},
          {ObjectCall::write, as_call([made](Word value) { made->store(value); })},
          {ObjectCall::add, as_call([made](Word value) { return made->fetch_add(value); })},
          {ObjectCall::exchange, as_call([made](Word value) { return made->exchange(value); })},
          {ObjectCall::compare_exchange, as_call([made](Word expected, Word desired) {
             made->compare_exchange(expected, desired);
             return expected;
           })}};
}

/// An element a node.
ProgramObject make_state_table(manager& mgr, const std::string& name, const Numbers&, const std::vector<NodeId>&) {
  std::vector<NodeId> owners(mgr.num_nodes());
  std::iota(owners.begin(), owners.end(), NodeId{0});
  const auto made = std::make_shared<var_array<Word>>(mgr, name, owners);
  return calls_of_copies(
      mgr, mgr.my_node(), [made](Word element) -> auto& { return (*made)[element]; }, kFromOwner);
}

Word word_of(const ring_buffer::Message& message) {
  Word value = 0;
  std::memcpy(&value, message.data(), std::min(message.size(), sizeof value));
  return value;
}

ProgramObject make_ring(manager& mgr, const std::string& name, const Numbers& n, const std::vector<NodeId>& users) {
  const NodeId writer = node_of(n.at(0));
  ring_options options{.bytes = n.at(1), .threads_per_node = static_cast<std::uint32_t>(n.at(2))};
  std::ranges::copy_if(users, std::back_inserter(options.readers), [&](NodeId user) { return user != writer; });
  const auto made = std::make_shared<ring_buffer>(mgr, name, writer, std::move(options));
  return {
      {ObjectCall::send, as_call([made](Word word) { made->send(std::as_bytes(std::span(&word, 1))); })},
      {ObjectCall::try_send, as_call([made](Word word) { return made->try_send(std::as_bytes(std::span(&word, 1))); })},
      {ObjectCall::receive, as_call([made] { return word_of(made->receive()); })},
      {ObjectCall::try_receive, as_call([made] {
         const std::optional<ring_buffer::Message> message = made->try_receive();
         return message ? Result(word_of(*message)) : std::nullopt;
       })}};
}

ProgramObject make_queue(manager& mgr, const std::string& name, const Numbers& n, const std::vector<NodeId>&) {
  const auto made = std::make_shared<shared_queue<Word>>(mgr, name, n.at(0), node_of(n.at(1)));
  return {{ObjectCall::enqueue, as_call([made](Word word) { made->push(word); })},
          {ObjectCall::try_enqueue, as_call([made](Word word) { return made->try_push(word); })},
          {ObjectCall::dequeue, as_call([made] { return made->next(); })},
          {ObjectCall::try_dequeue, as_call([made] { return made->try_pop(); })},
          {ObjectCall::close, as_call([made] { made->close(); })}};
}

ProgramObject make_mutex(manager& mgr, const std::string& name, const Numbers& n, const std::vector<NodeId>&) {
  const auto made = std::make_shared<mutex>(mgr, name, node_of(n.at(0)),
                                            mutex_options{.hand_overs_max = static_cast<std::uint32_t>(n.at(1))});
  const auto time = [](Word picoseconds) { return run_clock::duration(static_cast<std::int64_t>(picoseconds)); };
  return {{ObjectCall::lock, as_call([made] { made->lock(); })},
          {ObjectCall::try_lock, as_call([made] { return made->try_lock(); })},
          {ObjectCall::try_lock_for, as_call([made, time](Word ps) { return made->try_lock_for(time(ps)); })},
          {ObjectCall::unlock, as_call([made] { made->unlock(); })}};
}

ProgramObject make_store(manager& mgr, const std::string& name, const Numbers& n, const std::vector<NodeId>&) {
  const auto made = std::make_shared<kvstore>(mgr, name, kv_options{.slots_per_node = n.at(0)});
  return {{ObjectCall::lookup, as_call([made](Word key) { return made->lookup(key); })},
          {ObjectCall::insert, as_call([made](Word key, Word value) { return made->insert(key, value); })},
          {ObjectCall::update, as_call([made](Word key, Word value) { return made->update(key, value); })},
          {ObjectCall::erase, as_call([made](Word key) { return made->erase(key); })}};
}

/// By ObjectKind.
constexpr std::array kMakers = {make_var,  make_owned_var, make_atomic_var, make_state_table,
                                make_ring, make_queue,     make_mutex,      make_store};
static_assert(kMakers.size() == kObjectNames.size());

}  // namespace

ProgramObject make_object(manager& mgr, const ObjectDeclaration& of, const std::vector<NodeId>& users) {
  return kMakers.at(static_cast<std::size_t>(of.kind))(mgr, of.name, of.numbers, users);
}

Result call(const ProgramObject& object, ObjectCall what, Word a, Word b) {
  const auto found = object.find(what);
  if (found == object.end()) throw std::invalid_argument("this object has no such call");
  return found->second(a, b);
}

}  // namespace loco::python
