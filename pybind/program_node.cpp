#include "pybind/program_node.hpp"

#include <algorithm>
#include <stdexcept>

namespace loco::python {

namespace {

bool holds(Comparison comparison, std::uint64_t seen, std::uint64_t value) {
  switch (comparison) {
    case Comparison::equal:
      return seen == value;
    case Comparison::different:
      return seen != value;
    case Comparison::at_least:
      return seen >= value;
    case Comparison::at_most:
      return seen <= value;
  }
  return true;
}

}  // namespace

ProgramNode::ProgramNode(Transport& transport, std::uint64_t memory_bytes,
                         const std::vector<BarrierDeclaration>& barriers, const std::vector<ObjectDeclaration>& objects,
                         const std::vector<NodeId>& users)
    : transport_(transport), manager_(transport), memory_(manager_, memory_bytes) {
  for (const BarrierDeclaration& b : barriers) {
    barriers_.push_back(nullptr);
    if (std::ranges::find(b.participants, transport.my_node()) == b.participants.end()) continue;
    barriers_.back() = std::make_unique<barrier>(
        manager_, b.name, barrier_options{.threads_per_node = b.threads_per_node, .participants = b.participants});
  }
  for (const ObjectDeclaration& o : objects) objects_.push_back(make_object(manager_, o, users));
  if (!objects.empty()) end_ = std::make_unique<barrier>(manager_, "end_of_the_program");
  manager_.wait_for_ready();
}

void ProgramNode::finish() {
  if (end_) end_->waiting();
}

ProgramThread::ProgramThread(ProgramNode& node)
    : node_(node),
      transport_(node.transport_),
      words_(node.manager_.memory().allocate(kOperationsMax * sizeof(std::uint64_t)).base),
      operations_(kOperationsMax) {}

Address ProgramThread::word_of(const InFlight& operation) const {
  return words_ + operation.handle % kOperationsMax * sizeof(std::uint64_t);
}

ProgramThread::InFlight& ProgramThread::begin(bool has_value) {
  std::unique_ptr<InFlight>& place = operations_[next_handle_ % kOperationsMax];
  if (!place) place = std::make_unique<InFlight>(node_.manager_);
  if (place->known == Known::nothing) learn(*place);
  if (place->known == Known::failed) place->key.forget();
  place->handle = next_handle_++;
  place->known = Known::nothing;
  place->has_value = has_value;
  return *place;
}

void ProgramThread::learn(InFlight& operation) {
  operation.known = Known::failed;  // unless the wait returns
  operation.key.wait();
  operation.known = Known::complete;
}

std::optional<std::uint64_t> ProgramThread::finish(InFlight& operation) {
  if (operation.known != Known::complete) learn(operation);  // a failed operation has no value
  if (!operation.has_value) return std::nullopt;
  return transport_.load(word_of(operation));
}

std::optional<std::uint64_t> ProgramThread::finish_if(bool wanted, InFlight& operation) {
  if (!wanted) return operation.handle;
  const std::optional<std::uint64_t> value = finish(operation);
  return value ? value : operation.handle;
}

std::uint64_t ProgramThread::wait_until(Address address, std::uint64_t comparison, std::uint64_t value) {
  while (true) {
    const std::uint64_t seen = transport_.load(address);
    if (holds(static_cast<Comparison>(comparison), seen, value)) return seen;
    transport_.pause();
  }
}

std::optional<std::uint64_t> ProgramThread::perform_remote(const Request& r) {
  const auto& a = r.arguments;
  if (a[0] >= transport_.num_nodes())
    throw std::out_of_range("node: expected 0 to " + std::to_string(transport_.num_nodes() - 1) + ", found " +
                            std::to_string(static_cast<std::int64_t>(a[0])));
  const Region remote = node_.memory_.at(static_cast<NodeId>(a[0]));
  manager& mgr = node_.manager_;
  const Address local = node_.memory_.local_base();
  switch (r.operation) {
    case Operation::put_value: {
      InFlight& o = begin(false);
      transport_.store(word_of(o), a[2]);
      mgr.put(word_of(o), remote, a[1], sizeof(std::uint64_t), &o.key);
      return finish_if(a[3] != 0, o);
    }
    case Operation::put: {
      InFlight& o = begin(false);
      mgr.put(local + a[3], remote, a[1], a[2], &o.key);
      return finish_if(a[4] != 0, o);
    }
    case Operation::get_value: {
      InFlight& o = begin(true);
      mgr.get(word_of(o), remote, a[1], sizeof(std::uint64_t), &o.key);
      return finish_if(a[2] != 0, o);
    }
    case Operation::get: {
      InFlight& o = begin(false);
      mgr.get(local + a[3], remote, a[1], a[2], &o.key);
      return finish_if(a[4] != 0, o);
    }
    case Operation::fetch_add: {
      InFlight& o = begin(true);
      mgr.fetch_add(word_of(o), remote, a[1], a[2], &o.key);
      return finish_if(a[3] != 0, o);
    }
    case Operation::compare_swap: {
      InFlight& o = begin(true);
      mgr.compare_swap(word_of(o), remote, a[1], a[2], a[3], &o.key);
      return finish_if(a[4] != 0, o);
    }
    default:
      transport_.remote_fence(static_cast<NodeId>(a[0]));
      return std::nullopt;
  }
}

std::optional<std::uint64_t> ProgramThread::perform(const Request& r) {
  const auto& a = r.arguments;
  const Address local = node_.memory_.local_base();
  switch (r.operation) {
    case Operation::now:
      return static_cast<std::uint64_t>(transport_.now_ps());
    case Operation::compute:
      transport_.compute(static_cast<std::int64_t>(a[0]));
      return std::nullopt;
    case Operation::load:
      return transport_.load(local + a[0]);
    case Operation::store:
      transport_.store(local + a[0], a[1]);
      return std::nullopt;
    case Operation::cas:
      return transport_.compare_swap_local(local + a[0], a[1], a[2]);
    case Operation::fence:
      transport_.memory_fence();
      return std::nullopt;
    case Operation::wait: {
      InFlight* o = operations_[a[0] % kOperationsMax].get();
      if (o == nullptr || o->handle != a[0])
        throw std::out_of_range("wait: expected one of the thread's last " + std::to_string(kOperationsMax) +
                                " operations, found number " + std::to_string(a[0]));
      return finish(*o);
    }
    case Operation::wait_until:
      return wait_until(local + a[0], a[1], a[2]);
    case Operation::barrier: {
      const auto& b = node_.barriers_.at(a[0]);
      if (b == nullptr) throw std::invalid_argument("barrier: this node does not take part in it");
      b->waiting();
      return std::nullopt;
    }
    case Operation::object:
      return call(node_.objects_.at(a[0]), static_cast<ObjectCall>(a[1]), a[2], a[3]);
    default:
      return perform_remote(r);
  }
}

}  // namespace loco::python
