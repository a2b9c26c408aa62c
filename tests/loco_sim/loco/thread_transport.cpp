#include "tests/loco_sim/loco/thread_transport.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <stdexcept>

namespace loco::test {

namespace {
struct Closing {};

struct Self {
  std::uint32_t thread = 0;
  std::uint64_t seen = 0;
  std::size_t depth = 0;
};
thread_local Self self;
}  // namespace

ThreadCluster::ThreadCluster(std::uint32_t nodes) {
  for (NodeId n = 0; n < nodes; ++n) nodes_.push_back(std::make_unique<ThreadTransport>(*this, n));
  calls_.resize(std::size_t{nodes} * 100);
}

ThreadCluster::~ThreadCluster() = default;

void ThreadCluster::changed() {
  ++version_;
  waiting_ = 0;
  wake_.notify_all();
}

void ThreadCluster::start(ThreadTransport& node, std::string, std::function<void()> body, bool service) {
  const std::lock_guard lock(mutex_);
  ++live_;
  if (!service) ++live_programs_;
  const std::uint32_t index = node.threads_++;
  threads_.emplace_back([this, index, service, body = std::move(body)] {
    self = {index, 0, 0};
    std::exception_ptr error;
    try {
      body();
    } catch (const Closing&) {
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard end(mutex_);
    if (error && !failure_) failure_ = error;
    --live_;
    if (!service && --live_programs_ == 0) closing_ = true;
    if (error) closing_ = true;
    changed();
  });
}

void ThreadCluster::run(const std::function<void(Transport&)>& program) {
  const auto count_myself = [this](std::uint32_t difference) {
    const std::lock_guard lock(mutex_);
    live_ += difference;
    changed();
  };
  count_myself(1);  // while the others are being started, those that run already are not all there is
  for (auto& node : nodes_)
    start(
        *node, "main", [&program, &node] { program(*node); }, false);
  count_myself(static_cast<std::uint32_t>(-1));
  for (std::size_t i = 0;; ++i) {
    std::thread thread;
    {
      const std::lock_guard lock(mutex_);
      if (i == threads_.size()) break;
      thread = std::move(threads_[i]);
    }
    thread.join();  // a thread that starts another one is still running then
  }
  if (failure_) std::rethrow_exception(failure_);
}

std::vector<std::string> ThreadCluster::calls(std::uint32_t thread) const {
  const std::lock_guard lock(mutex_);
  return calls_.at(thread);
}

std::uint32_t ThreadTransport::num_nodes() const { return static_cast<std::uint32_t>(cluster_.nodes_.size()); }
std::uint32_t ThreadTransport::my_thread() const { return self.thread; }

void ThreadTransport::spawn(std::string name, std::function<void()> body, bool service) {
  cluster_.start(*this, std::move(name), std::move(body), service);
}

Region ThreadTransport::allocate(std::uint64_t size) {
  const std::lock_guard lock(cluster_.mutex_);
  constexpr Address kFirst = 64;  // address 0 is never handed out
  const Address base = regions_.empty() ? kFirst : regions_.back().base + regions_.back().size;
  const Region region{
      .node = node_, .base = base, .size = size, .rkey = static_cast<std::uint32_t>(regions_.size() + 1)};
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_.emplace_back(static_cast<std::uint64_t*>(memory), Unmap{size});
  regions_.push_back(region);
  return region;
}

std::uint64_t& ThreadTransport::word(Address address) {
  const auto after = std::ranges::upper_bound(regions_, address, {}, &Region::base);
  if (after == regions_.begin()) throw std::out_of_range("no such address");
  const Region& region = *std::prev(after);
  if (address - region.base >= region.size) throw std::out_of_range("no such address");
  return memory_.at(region.rkey - 1)[(address - region.base) / 8];
}

std::uint64_t ThreadTransport::load(Address address) {
  const std::lock_guard lock(cluster_.mutex_);
  return word(address);
}

void ThreadTransport::store(Address address, std::uint64_t value) {
  const std::lock_guard lock(cluster_.mutex_);
  word(address) = value;
  cluster_.changed();
}

std::uint64_t ThreadTransport::compare_swap_local(Address address, std::uint64_t expected, std::uint64_t desired) {
  const std::lock_guard lock(cluster_.mutex_);
  const std::uint64_t old = word(address);
  if (old == expected) word(address) = desired;
  cluster_.changed();
  return old;
}

void ThreadTransport::pause() {
  std::unique_lock lock(cluster_.mutex_);
  while (cluster_.version_ == self.seen) {
    if (cluster_.closing_) throw Closing{};
    if (++cluster_.waiting_ == cluster_.live_) cluster_.stuck_ = true;
    if (cluster_.stuck_) {
      cluster_.wake_.notify_all();
      throw Stuck();
    }
    cluster_.wake_.wait(lock, [this] { return cluster_.version_ != self.seen || cluster_.stuck_; });
  }
  self.seen = cluster_.version_;
}

void ThreadTransport::wake_all() {
  const std::lock_guard lock(cluster_.mutex_);
  cluster_.changed();
}

Flag ThreadTransport::make_flag(std::uint64_t initial) {
  const std::lock_guard lock(cluster_.mutex_);
  flags_.push_back(initial);
  return static_cast<Flag>(flags_.size() - 1);
}

template <typename Update>
std::uint64_t ThreadTransport::update_flag(Flag flag, Update update) {
  const std::lock_guard lock(cluster_.mutex_);
  const std::uint64_t old = flags_.at(flag);
  flags_[flag] = update(old);
  if (flags_[flag] != old) cluster_.changed();
  return old;
}

std::uint64_t ThreadTransport::flag_load(Flag flag) {
  return update_flag(flag, [](std::uint64_t old) { return old; });
}
std::uint64_t ThreadTransport::flag_fetch_or(Flag flag, std::uint64_t bits) {
  return update_flag(flag, [bits](std::uint64_t old) { return old | bits; });
}
std::uint64_t ThreadTransport::flag_fetch_and(Flag flag, std::uint64_t bits) {
  return update_flag(flag, [bits](std::uint64_t old) { return old & bits; });
}
std::uint64_t ThreadTransport::flag_fetch_add(Flag flag, std::uint64_t value) {
  return update_flag(flag, [value](std::uint64_t old) { return old + value; });
}

bool ThreadTransport::flag_compare_exchange(Flag flag, std::uint64_t expected, std::uint64_t desired) {
  return update_flag(flag, [=](std::uint64_t old) { return old == expected ? desired : old; }) == expected;
}

template <typename Change>
void ThreadTransport::operate(Operation operation, const Region& remote, std::uint64_t offset, std::uint64_t size,
                              OperationTag tag, Change change) {
  const std::lock_guard lock(cluster_.mutex_);
  ThreadTransport& peer = *cluster_.nodes_.at(remote.node);
  Status status = Status::rem_access_err;
  for (const Region& r : peer.regions_)
    if (r.rkey == remote.rkey && remote.base + offset >= r.base && remote.base + offset + size <= r.base + r.size)
      status = Status::success;
  if (remote.connection < peer.changes_[node_].ended) status = Status::retry_exc_err;
  if (remote.connection < changes_[remote.node].ended) status = Status::wr_flush_err;
  if (status == Status::success)
    for (std::uint64_t i = 0; i < size; i += 8) change(peer.word(remote.base + offset + i), i);
  if (tag.tell == Tell::always || status != Status::success)
    completions_.push_back({tag.token, status, remote.node, operation, remote.connection});
  cluster_.changed();
}

void ThreadTransport::put(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size,
                          OperationTag tag) {
  operate(Operation::put, remote, offset, size, tag, [&](std::uint64_t& w, std::uint64_t i) { w = word(local + i); });
}

void ThreadTransport::get(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size,
                          OperationTag tag) {
  operate(Operation::get, remote, offset, size, tag, [&](std::uint64_t& w, std::uint64_t i) { word(local + i) = w; });
}

void ThreadTransport::fetch_add(Address local, const Region& remote, std::uint64_t offset, std::uint64_t add,
                                OperationTag tag) {
  operate(Operation::fetch_add, remote, offset, 8, tag, [&](std::uint64_t& w, std::uint64_t) {
    word(local) = w;
    w += add;
  });
}

void ThreadTransport::compare_swap(Address local, const Region& remote, std::uint64_t offset, std::uint64_t expected,
                                   std::uint64_t desired, OperationTag tag) {
  operate(Operation::compare_swap, remote, offset, 8, tag, [&](std::uint64_t& w, std::uint64_t) {
    word(local) = w;
    if (w == expected) w = desired;
  });
}

std::size_t ThreadTransport::poll(std::span<Completion> out) {
  const std::lock_guard lock(cluster_.mutex_);
  std::size_t taken = 0;
  for (; taken < out.size() && !completions_.empty(); ++taken) {
    out[taken] = completions_.front();
    completions_.pop_front();
  }
  return taken;
}

void ThreadTransport::disconnect(NodeId node) {
  const std::lock_guard lock(cluster_.mutex_);
  changes_[node].ended = changes_[node].present + 1;
}

void ThreadTransport::connect(NodeId node, std::uint32_t number) {
  const std::lock_guard lock(cluster_.mutex_);
  changes_[node] = {.present = number, .ended = number};
}

std::uint64_t ThreadCluster::control_messages(std::string_view prefix) const {
  std::uint64_t sum = 0;
  for (const auto& [channel, count] : control_messages_)
    if (channel.starts_with(prefix)) sum += count;
  return sum;
}

void ThreadTransport::send_control(NodeId to, std::string body) {
  const std::lock_guard lock(cluster_.mutex_);
  const std::size_t name = body.find(' ') + 1;  // behind what the message is; no name: all of it
  ++cluster_.control_messages_[body.substr(name, body.find_first_of(" \n", name) - name)];
  cluster_.nodes_.at(to)->inbox_.push_back({node_, std::move(body)});
  cluster_.changed();
}

std::optional<ControlMessage> ThreadTransport::receive_control() {
  const std::lock_guard lock(cluster_.mutex_);
  if (inbox_.empty()) return std::nullopt;
  ControlMessage message = std::move(inbox_.front());
  inbox_.pop_front();
  return message;
}

void ThreadTransport::note(const std::string& text) {
  const std::lock_guard lock(cluster_.mutex_);
  cluster_.calls_.at(node_ * 100 + self.thread).push_back(std::string(2 * self.depth, ' ') + text);
}

void ThreadTransport::begin_call(const CallInfo& call) {
  std::string text = std::string(call.library) + "." + std::string(call.method);
  if (!call.object.empty()) text += "(" + trace::element_name(call.object, call.element) + ")";
  for (const NodeId n : call.nodes) text += " " + std::to_string(n);
  note(text);
  ++self.depth;
}

void ThreadTransport::end_call(std::uint64_t, std::uint32_t) { --self.depth; }
void ThreadTransport::note_waited(std::uint64_t) { note("aWT"); }

}  // namespace loco::test
