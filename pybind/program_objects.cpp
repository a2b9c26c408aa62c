#include "pybind/program_objects.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <stdexcept>

#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/objects/atomic_var.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/objects/shared_queue.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/objects/var_array.hpp"
#include "loco_sim/loco/store/kvstore.hpp"

namespace loco::python {

namespace {

using Value = std::optional<std::uint64_t>;

[[noreturn]] void refuse() { throw std::invalid_argument("this object has no such call"); }

NodeId node_of(std::uint64_t number) { return static_cast<NodeId>(number); }

/// The calls that variables and elements of state tables have; `pull` says from where.
template <class Part, class Pull>
Value call_part(manager& mgr, Part& part, ObjectCall what, std::uint64_t a, const Pull& pull) {
  ack_key key(mgr);
  switch (what) {
    case ObjectCall::load:
      return part.load();
    case ObjectCall::write:
      part.store(a);
      return std::nullopt;
    case ObjectCall::push:
      part.push(node_of(a), key);
      break;
    case ObjectCall::broadcast:
      part.push_broadcast(key);
      break;
    case ObjectCall::pull:
      pull(key);
      key.wait();
      return part.load();
    default:
      refuse();
  }
  key.wait();
  return std::nullopt;
}

Value call_owned(manager& mgr, owned_part<std::uint64_t>& part, ObjectCall what, std::uint64_t a) {
  return call_part(mgr, part, what, a, [&](ack_key& key) { part.pull(key); });
}

class Var final : public ProgramObject {
 public:
  Var(manager& mgr, const std::string& name) : mgr_(mgr), var_(mgr, name) {}
  Value call(ObjectCall what, std::uint64_t a, std::uint64_t) override {
    return call_part(mgr_, var_, what, a, [&](ack_key& key) { var_.pull(node_of(a), key); });
  }

 private:
  manager& mgr_;
  var<std::uint64_t> var_;
};

class OwnedVar final : public ProgramObject {
 public:
  OwnedVar(manager& mgr, const std::string& name, NodeId owner) : mgr_(mgr), var_(mgr, name, owner) {}
  Value call(ObjectCall what, std::uint64_t a, std::uint64_t) override { return call_owned(mgr_, var_, what, a); }

 private:
  manager& mgr_;
  owned_var<std::uint64_t> var_;
};

/// An element a node.
class StateTable final : public ProgramObject {
 public:
  StateTable(manager& mgr, const std::string& name) : mgr_(mgr), owners_(mgr.num_nodes()), table_(mgr, name, all()) {}
  Value call(ObjectCall what, std::uint64_t a, std::uint64_t) override {
    const bool names_element = what == ObjectCall::load || what == ObjectCall::pull;
    return call_owned(mgr_, table_[names_element ? a : mgr_.my_node()], what, a);
  }

 private:
  std::span<const NodeId> all() {
    std::iota(owners_.begin(), owners_.end(), NodeId{0});
    return owners_;
  }

  manager& mgr_;
  std::vector<NodeId> owners_;
  var_array<std::uint64_t> table_;
};

class AtomicVar final : public ProgramObject {
 public:
  AtomicVar(manager& mgr, const std::string& name, NodeId home, std::uint64_t initial)
      : var_(mgr, name, home, initial) {}
  Value call(ObjectCall what, std::uint64_t a, std::uint64_t b) override {
    switch (what) {
      case ObjectCall::load:
        return var_.load();
      case ObjectCall::write:
        var_.store(a);
        return std::nullopt;
      case ObjectCall::add:
        return var_.fetch_add(a);
      case ObjectCall::exchange:
        return var_.exchange(a);
      case ObjectCall::compare_exchange:
        var_.compare_exchange(a, b);
        return a;
      default:
        refuse();
    }
  }

 private:
  atomic_var<std::uint64_t> var_;
};

class Ring final : public ProgramObject {
 public:
  Ring(manager& mgr, const std::string& name, NodeId writer, ring_options options)
      : ring_(mgr, name, writer, std::move(options)) {}
  Value call(ObjectCall what, std::uint64_t a, std::uint64_t) override {
    const auto text = std::as_bytes(std::span(&a, 1));
    switch (what) {
      case ObjectCall::send:
        ring_.send(text);
        return std::nullopt;
      case ObjectCall::try_send:
        return ring_.try_send(text) ? 1 : 0;
      case ObjectCall::receive:
        return word(ring_.receive());
      case ObjectCall::try_receive: {
        const std::optional<ring_buffer::Message> message = ring_.try_receive();
        return message ? Value(word(*message)) : std::nullopt;
      }
      default:
        refuse();
    }
  }

 private:
  static std::uint64_t word(const ring_buffer::Message& message) {
    std::uint64_t value = 0;
    std::memcpy(&value, message.data(), std::min(message.size(), sizeof value));
    return value;
  }

  ring_buffer ring_;
};

class Queue final : public ProgramObject {
 public:
  Queue(manager& mgr, const std::string& name, std::uint64_t capacity, NodeId home)
      : queue_(mgr, name, capacity, home) {}
  Value call(ObjectCall what, std::uint64_t a, std::uint64_t) override {
    switch (what) {
      case ObjectCall::enqueue:
        queue_.push(a);
        return std::nullopt;
      case ObjectCall::try_enqueue:
        return queue_.try_push(a) ? 1 : 0;
      case ObjectCall::dequeue:
        return queue_.next();
      case ObjectCall::try_dequeue:
        return queue_.try_pop();
      case ObjectCall::close:
        queue_.close();
        return std::nullopt;
      default:
        refuse();
    }
  }

 private:
  shared_queue<std::uint64_t> queue_;
};

class Mutex final : public ProgramObject {
 public:
  Mutex(manager& mgr, const std::string& name, NodeId home, std::uint32_t hand_overs_max)
      : mutex_(mgr, name, home, {.hand_overs_max = hand_overs_max}) {}
  Value call(ObjectCall what, std::uint64_t a, std::uint64_t) override {
    switch (what) {
      case ObjectCall::lock:
        mutex_.lock();
        return std::nullopt;
      case ObjectCall::try_lock:
        return mutex_.try_lock() ? 1 : 0;
      case ObjectCall::try_lock_for:
        return mutex_.try_lock_for(run_clock::duration(static_cast<std::int64_t>(a))) ? 1 : 0;
      case ObjectCall::unlock:
        mutex_.unlock();
        return std::nullopt;
      default:
        refuse();
    }
  }

 private:
  mutex mutex_;
};

class Store final : public ProgramObject {
 public:
  Store(manager& mgr, const std::string& name, std::uint64_t slots) : store_(mgr, name, {.slots_per_node = slots}) {}
  Value call(ObjectCall what, std::uint64_t a, std::uint64_t b) override {
    switch (what) {
      case ObjectCall::lookup:
        return store_.lookup(a);
      case ObjectCall::insert:
        return store_.insert(a, b) ? 1 : 0;
      case ObjectCall::update:
        return store_.update(a, b) ? 1 : 0;
      case ObjectCall::erase:
        return store_.erase(a) ? 1 : 0;
      default:
        refuse();
    }
  }

 private:
  kvstore store_;
};

}  // namespace

std::unique_ptr<ProgramObject> make_object(manager& mgr, const ObjectDeclaration& of,
                                           const std::vector<NodeId>& users) {
  const auto number = [&of](std::size_t i) { return of.numbers.at(i); };
  switch (of.kind) {
    case ObjectKind::var:
      return std::make_unique<Var>(mgr, of.name);
    case ObjectKind::owned_var:
      return std::make_unique<OwnedVar>(mgr, of.name, node_of(number(0)));
    case ObjectKind::atomic_var:
      return std::make_unique<AtomicVar>(mgr, of.name, node_of(number(0)), number(1));
    case ObjectKind::sst:
      return std::make_unique<StateTable>(mgr, of.name);
    case ObjectKind::ring: {
      const NodeId writer = node_of(number(0));
      ring_options options{.bytes = number(1), .threads_per_node = static_cast<std::uint32_t>(number(2))};
      std::ranges::copy_if(users, std::back_inserter(options.readers), [&](NodeId n) { return n != writer; });
      return std::make_unique<Ring>(mgr, of.name, writer, std::move(options));
    }
    case ObjectKind::queue:
      return std::make_unique<Queue>(mgr, of.name, number(0), node_of(number(1)));
    case ObjectKind::mutex:
      return std::make_unique<Mutex>(mgr, of.name, node_of(number(0)), static_cast<std::uint32_t>(number(1)));
    case ObjectKind::store:
      return std::make_unique<Store>(mgr, of.name, number(0));
  }
  throw std::invalid_argument("no such kind of object");
}

}  // namespace loco::python
