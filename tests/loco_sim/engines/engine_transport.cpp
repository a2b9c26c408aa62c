#include "tests/loco_sim/engines/engine_transport.hpp"

#include <stdexcept>
#include <utility>

namespace loco::test {

namespace {
struct Closing {};

struct Self {
  std::uint32_t thread = 0;
  std::uint32_t heard = 0;  ///< of the node's bell, at the last pause
};
thread_local Self self;
}  // namespace

EngineCluster::EngineCluster(std::uint32_t nodes) {
  for (NodeId n = 0; n < nodes; ++n) nodes_.push_back(std::make_unique<EngineTransport>(*this, n, nodes));
}

EngineCluster::~EngineCluster() = default;

void EngineCluster::close() {
  closing_ = true;
  for (auto& node : nodes_) node->wake_all();
}

void EngineCluster::start(EngineTransport& node, std::function<void()> body, bool service) {
  const std::lock_guard lock(mutex_);
  const std::uint32_t index = node.threads_.load(std::memory_order_relaxed);
  if (index == EngineTransport::kThreads) throw std::length_error("too many threads");
  node.threads_.store(index + 1, std::memory_order_release);
  if (!service) ++live_programs_;
  threads_.emplace_back([this, index, service, body = std::move(body)] {
    self = {index, 0};
    std::exception_ptr error;
    try {
      body();
    } catch (const Closing&) {
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard end(mutex_);
    if (error && !failure_) failure_ = error;
    if (error || (!service && --live_programs_ == 0)) close();
  });
}

void EngineCluster::join_all() {
  for (std::size_t i = 0;; ++i) {
    std::thread thread;
    {
      const std::lock_guard lock(mutex_);
      if (i == threads_.size()) return;
      thread = std::move(threads_[i]);
    }
    thread.join();  // a thread that starts another one is still running then
  }
}

void EngineCluster::run(const std::function<void(EngineTransport&)>& program) {
  for (auto& node : nodes_) node->start_engines();
  {
    const std::lock_guard lock(mutex_);
    ++live_programs_;  // while the others are being started, those that run already are not all there is
  }
  for (auto& node : nodes_)
    start(
        *node, [&program, &node] { program(*node); }, false);
  {
    const std::lock_guard lock(mutex_);
    if (--live_programs_ == 0) close();
  }
  join_all();
  at_rest_ = true;
  for (auto& node : nodes_)
    for (std::thread& engine : node->engines_) engine.join();
  if (failure_) std::rethrow_exception(failure_);
}

EngineTransport::EngineTransport(EngineCluster& cluster, NodeId node, std::uint32_t nodes)
    : cluster_(cluster), node_(node), flags_(std::make_unique<std::array<std::atomic<std::uint64_t>, kFlags>>()) {
  for (Queue& queue : queues_) queue.towards.resize(nodes);
  for (NodeId peer = 0; peer < nodes; ++peer) paths_.emplace_back();
}

EngineTransport::~EngineTransport() = default;

std::uint32_t EngineTransport::num_nodes() const { return static_cast<std::uint32_t>(cluster_.nodes_.size()); }
std::uint32_t EngineTransport::my_thread() const { return self.thread; }

void EngineTransport::spawn(std::string, std::function<void()> body, bool service) {
  cluster_.start(*this, std::move(body), service);
}

void EngineTransport::compute(std::int64_t) {
  if (cluster_.closing_) throw Closing{};
  std::this_thread::yield();
}

void EngineTransport::pause() {
  if (cluster_.closing_) throw Closing{};
  if (bell_.rings() == self.heard) bell_.wait(self.heard);
  self.heard = bell_.rings();
}

Region EngineTransport::add_region(std::uint64_t size, bool plain) {
  const std::lock_guard lock(memory_mutex_);
  return words_.add(node_, size, plain);
}

std::uint64_t EngineTransport::load(Address address) { return words_.at(address).load(std::memory_order_acquire); }

void EngineTransport::store(Address address, std::uint64_t value) {
  words_.at(address).store(value, std::memory_order_release);
  bell_.ring();
}

std::uint64_t EngineTransport::compare_swap_local(Address address, std::uint64_t expected, std::uint64_t desired) {
  const std::uint64_t old = words_.at(address).compare_swap(expected, desired);
  bell_.ring();
  return old;
}

void EngineTransport::memory_fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }

Flag EngineTransport::make_flag(std::uint64_t initial) {
  const std::lock_guard lock(memory_mutex_);
  if (flags_made_ == kFlags) throw std::length_error("too many flags");
  (*flags_)[flags_made_] = initial;
  return flags_made_++;
}

std::atomic<std::uint64_t>& EngineTransport::flag(Flag flag) { return flags_->at(flag); }

std::uint64_t EngineTransport::flag_fetch_or(Flag flag, std::uint64_t bits) {
  const std::uint64_t old = this->flag(flag).fetch_or(bits);
  bell_.ring();
  return old;
}
std::uint64_t EngineTransport::flag_fetch_and(Flag flag, std::uint64_t bits) {
  const std::uint64_t old = this->flag(flag).fetch_and(bits);
  bell_.ring();
  return old;
}
std::uint64_t EngineTransport::flag_fetch_add(Flag flag, std::uint64_t value) {
  const std::uint64_t old = this->flag(flag).fetch_add(value);
  bell_.ring();
  return old;
}

void EngineTransport::post(Request request) {
  if (!request.fence) paths_.at(request.remote.node).posted.fetch_add(1);
  queues_.at(self.thread).posted.push(std::move(request));
  sender_bell_.ring();
}

namespace {
Region part(Region region, std::uint64_t offset, std::uint64_t size) {
  region.base += offset;
  region.size = size;
  return region;
}
}  // namespace

void EngineTransport::put(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size,
                          OperationTag tag) {
  post({.local = local, .remote = part(remote, offset, size), .size = size, .tag = tag});
}

void EngineTransport::get(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size,
                          OperationTag tag) {
  post({.operation = Operation::get, .local = local, .remote = part(remote, offset, size), .size = size, .tag = tag});
}

void EngineTransport::fetch_add(Address local, const Region& remote, std::uint64_t offset, std::uint64_t add,
                                OperationTag tag) {
  post({.operation = Operation::fetch_add,
        .local = local,
        .remote = part(remote, offset, kWord),
        .size = kWord,
        .operand = add,
        .tag = tag});
}

void EngineTransport::compare_swap(Address local, const Region& remote, std::uint64_t offset, std::uint64_t expected,
                                   std::uint64_t desired, OperationTag tag) {
  post({.operation = Operation::compare_swap,
        .local = local,
        .remote = part(remote, offset, kWord),
        .size = kWord,
        .operand = expected,
        .desired = desired,
        .tag = tag});
}

void EngineTransport::remote_fence(NodeId node) { post({.fence = true, .remote = {.node = node}}); }

std::size_t EngineTransport::poll(std::span<Completion> out) {
  const std::lock_guard lock(poll_mutex_);
  std::size_t taken = 0;
  const auto take_from = [&](Pipe<Completion>& pipe) {
    for (; taken < out.size(); ++taken) {
      const auto completion = pipe.pop();
      if (!completion) return;
      out[taken] = *completion;
    }
  };
  take_from(sent_);
  for (Path& path : paths_) take_from(path.done);
  return taken;
}

void EngineTransport::disconnect(NodeId node) {
  Path& path = paths_.at(node);
  path.ended = path.present + 1;
  // What the peer was just doing here is done, what comes next sees that the connection has ended.
  const std::lock_guard lock(cluster_.nodes_.at(node)->paths_.at(node_).placing);
}

bool EngineTransport::disconnected(NodeId node) {
  const Path& path = paths_.at(node);
  return path.finished.load() == path.posted.load();
}

void EngineTransport::connect(NodeId node, std::uint32_t number) {
  Path& path = paths_.at(node);
  path.present = number;
  path.ended = number;
}

void EngineTransport::send_control(NodeId to, std::string body) {
  EngineTransport& peer = *cluster_.nodes_.at(to);
  {
    const std::lock_guard lock(peer.inbox_mutex_);
    peer.inbox_.push_back({node_, std::move(body)});
  }
  peer.bell_.ring();
}

std::optional<ControlMessage> EngineTransport::receive_control() {
  const std::lock_guard lock(inbox_mutex_);
  if (inbox_.empty()) return std::nullopt;
  ControlMessage message = std::move(inbox_.front());
  inbox_.pop_front();
  return message;
}

// --- engines ---

void EngineTransport::start_engines() {
  engines_.emplace_back([this] { send_all(); });
  for (NodeId peer = 0; peer < num_nodes(); ++peer)
    engines_.emplace_back([this, peer] { place_all(peer, node_ * 1000 + peer); });
}

void EngineTransport::send_all() {
  while (!cluster_.at_rest_) {
    const std::uint32_t heard = sender_bell_.rings();
    bool any = false;
    for (std::uint32_t thread = 0; thread < threads_.load(std::memory_order_acquire); ++thread)
      any |= send(queues_[thread]);
    if (!any) sender_bell_.wait(heard);
  }
}

bool EngineTransport::send(Queue& queue) {
  auto request = queue.posted.pop();
  if (!request) return false;
  const NodeId to = request->remote.node;
  Towards& towards = queue.towards.at(to);
  if (request->fence) {
    towards.fenced = true;
    return true;
  }
  const bool ended = request->remote.connection < paths_.at(to).ended.load();
  const bool early = request->operation == Operation::put && !towards.fenced && !towards.told_with_next && !ended;
  towards.told_with_next =
      request->tag.tell == Tell::with_next && (towards.told_with_next || request->operation != Operation::put);
  if (early && cluster_.nodes_.at(to)->words_.has(request->remote.base, request->size, request->remote.rkey)) {
    read_source(*request);
    tell(sent_, *request, Status::success);
    request->told = true;
  }
  Path& path = paths_.at(to);
  path.sent.push(std::move(*request));
  path.bell.ring();
  return true;
}

void EngineTransport::read_source(Request& request) {
  for (std::uint64_t at = 0; at < request.size; at += kWord)
    request.words.push_back(words_.at(request.local + at).load(std::memory_order_acquire));
}

void EngineTransport::tell(Pipe<Completion>& pipe, const Request& request, Status status) {
  if (request.tag.tell == Tell::always || status != Status::success)
    pipe.push({request.tag.token, status, request.remote.node, request.operation, request.remote.connection});
  bell_.ring();
}

void EngineTransport::place_all(NodeId peer, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  Path& path = paths_.at(peer);
  while (!cluster_.at_rest_) {
    const std::uint32_t heard = path.bell.rings();
    if (auto request = path.sent.pop()) {
      {
        const std::lock_guard lock(path.placing);
        place(path, *request, draw);
      }
      path.finished.fetch_add(1);
    } else {
      path.bell.wait(heard);
    }
  }
}

/// An operation that has been told to be complete, a put whose source has been read, is one that is not told of any
/// more.
void EngineTransport::fail(Path& path, const Request& request, Status status) {
  if (!request.told) tell(path.done, request, status);
}

void EngineTransport::place(Path& path, Request& request, std::mt19937_64& draw) {
  EngineTransport& peer = *cluster_.nodes_.at(request.remote.node);
  if (request.remote.connection < path.ended.load()) return fail(path, request, Status::wr_flush_err);
  if (request.remote.connection < peer.paths_.at(node_).ended.load()) return fail(path, request, Status::retry_exc_err);
  if (!peer.words_.has(request.remote.base, request.size, request.remote.rkey))
    return tell(path.done, request, Status::rem_access_err);
  const auto remote = [&](std::uint64_t at) { return peer.words_.at(request.remote.base + at); };
  const auto land = [&](std::uint64_t at, std::uint64_t value) {
    words_.at(request.local + at).store(value, std::memory_order_release);
  };
  switch (request.operation) {
    case Operation::put: {
      if (!request.told) {
        read_source(request);
        tell(path.done, request, Status::success);
      }
      for (std::uint64_t rests = draw() % 4; rests > 0; --rests) std::this_thread::yield();
      const std::uint64_t words = request.size / kWord;
      const std::uint64_t first = words == 0 ? 0 : draw() % words;  // they are in no order
      for (std::uint64_t i = 0; i < words; ++i) {
        const std::uint64_t at = (first + i) % words;
        remote(at * kWord).store(request.words[at], std::memory_order_release);
      }
      peer.bell_.ring();
      return;
    }
    case Operation::get:
      for (std::uint64_t at = 0; at < request.size; at += kWord) land(at, remote(at).load(std::memory_order_acquire));
      break;
    case Operation::fetch_add:
      land(0, remote(0).fetch_add(request.operand));
      peer.bell_.ring();
      break;
    case Operation::compare_swap:
      land(0, remote(0).compare_swap(request.operand, request.desired));
      peer.bell_.ring();
      break;
  }
  tell(path.done, request, Status::success);
}

}  // namespace loco::test
