#include "loco_sim/libfabric/fabric_transport.hpp"

#include <algorithm>
#include <cstring>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <sched.h>
#include <stdexcept>
#include <time.h>

#include "loco_sim/loco/errors.hpp"

namespace loco::libfabric {

using process::word;
using process::Word;

namespace {

/// Messages between transports: the address of the answering endpoint; a registration; an atomic to execute, and its
/// old value.
enum class Wire : char { name, region, atomic, answer };

struct AtomicMessage {
  std::uint64_t number = 0;
  Address address = 0;
  std::uint64_t operand = 0;
  std::uint64_t compare = 0;  ///< of a compare-and-swap
  bool swaps = false;
};
struct AnswerMessage {
  std::uint64_t number = 0;
  std::uint64_t old = 0;
  Status status = Status::success;
};

template <typename T>
std::string bytes_of(Wire kind, const T& message) {
  std::string body(1 + sizeof(message), static_cast<char>(kind));
  std::memcpy(body.data() + 1, &message, sizeof(message));
  return body;
}
/// Returns false if the message has another size.
template <typename T>
bool take(const std::string& body, T& message) {
  if (body.size() != 1 + sizeof(message)) return false;
  std::memcpy(&message, body.data() + 1, sizeof(message));
  return true;
}

struct RegionMessage {
  std::uint64_t number = 0;  ///< of the registration on its node, from 1
  std::uint64_t key = 0;
  Address base = 0;
};

Status status_of(int error) {
  switch (error) {
    case FI_EACCES:
    case FI_EPERM:
    case FI_ENOKEY:
    case FI_EINVAL:
      return Status::rem_access_err;
    case FI_ECANCELED:
      return Status::wr_flush_err;
    case FI_ETOOSMALL:
    case FI_EMSGSIZE:
      return Status::loc_len_err;
    default:
      return Status::retry_exc_err;  // of a software provider that can no longer reach the peer
  }
}

/// Providers resend what has not been acknowledged only during their calls.
constexpr std::int64_t kTimersEveryNs = 2'000'000;
constexpr int kRestMs = 4;

std::int64_t clock_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

bool is_readable(int descriptor) {
  pollfd look{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&look, 1, 0) > 0;
}

std::string address_of(const process::Options& options) { return options.hosts[options.node].name; }

}  // namespace

FabricTransport::FabricTransport(process::Options options, const std::string& provider)
    : ProcessTransport(options, "libfabric " + provider),
      fabric_(provider, address_of(options)),
      answers_(fabric_.create_endpoint()),
      orders_(fabric_.promises()),
      operations_([this](std::size_t count) {
        const Region piece = allocate(count * sizeof(Record));
        return reinterpret_cast<Record*>(piece.base);  // NOLINT(performance-no-int-to-ptr): an address is a pointer
      }),
      remotes_(num_nodes()),
      names_(num_nodes()),
      addresses_(num_nodes(), FI_ADDR_UNSPEC),
      changes_(num_nodes()) {
  start();
  try {
    meet_the_others();
  } catch (...) {
    stop();
    throw;
  }
}

FabricTransport::~FabricTransport() { stop(); }

void FabricTransport::meet_the_others() {
  names_[my_node()] = Fabric::name_of(*answers_);
  const std::string name(names_[my_node()].data(), names_[my_node()].size());
  for (NodeId n = 0; n < num_nodes(); ++n)
    if (n != my_node()) mesh().send(n, process::Kind::wire, static_cast<char>(Wire::name) + name);
  mesh().meet();
  for (NodeId n = 0; n < num_nodes(); ++n) {
    if (names_[n].empty()) throw setup_error(node_name(n) + " ended before it said where its endpoint is");
    addresses_[n] = fabric_.insert(names_[n]);
  }
  mesh().meet();
}

FabricTransport::PerThread& FabricTransport::mine() {
  std::unique_ptr<PerThread>& place = per_thread_[my_thread()];
  if (!place) {
    place = std::make_unique<PerThread>();
    const std::lock_guard lock(provider_mutex_);
    place->endpoint = fabric_.create_endpoint();
    for (NodeId n = 0; n < num_nodes(); ++n) place->under_way.push_back(std::make_unique<UnderWay>());
  }
  return *place;
}

FabricTransport::Registered FabricTransport::register_memory(void* memory, std::uint64_t size) {
  const std::lock_guard lock(regions_mutex_);
  const std::uint64_t number = regions_.size() + 1;
  Owned<fid_mr> region = fabric_.register_memory(memory, size, number);
  const RegionMessage message{.number = number,
                              .key = fi_mr_key(region.get()),
                              .base = fabric_.addresses_are_virtual() ? 0 : reinterpret_cast<Address>(memory)};
  const std::string body = bytes_of(Wire::region, message);
  on_wire(my_node(), body);
  for (NodeId n = 0; n < num_nodes(); ++n)
    if (n != my_node()) mesh().send(n, process::Kind::wire, body);
  const Registered keys{.remote_key = static_cast<std::uint32_t>(number), .handle = fi_mr_desc(region.get())};
  regions_.push_back(std::move(region));
  return keys;
}

void FabricTransport::on_wire(NodeId from, const std::string& body) {
  if (body.empty()) return;
  if (static_cast<Wire>(body[0]) == Wire::name) {
    names_[from].assign(body.begin() + 1, body.end());  // read after a meeting
    return;
  }
  if (static_cast<Wire>(body[0]) == Wire::atomic) return do_atomic_for(from, body);
  if (static_cast<Wire>(body[0]) == Wire::answer) return take_answer(body);
  RegionMessage message;
  if (!take(body, message)) return;
  const std::unique_lock lock(remotes_mutex_);
  std::vector<Remote>& known = remotes_[from];
  if (known.size() <= message.number) known.resize(message.number + 1);
  known[message.number] = {message.key, message.base};
}

std::string FabricTransport::lacks(Capability what) const {
  const std::string who = "provider " + fabric_.provider();
  if (what == Capability::atomics && !fabric_.has_atomics() && !(fabric_.progress_is_manual() && fabric_.can_deliver()))
    return who + " has no fetch-and-add and compare-and-swap of 64 bits";
  if ((what == Capability::ordered_puts || what == Capability::reads_push_puts) && orders_.waits_for_puts() &&
      !fabric_.can_deliver())
    return who + " does not order " + orders_.missing() + " (msg_order), and cannot say when a put is in memory " +
           "(FI_DELIVERY_COMPLETE)";
  return Transport::lacks(what);
}

// --- posting ---------------------------------------------------------------------------------------------------------

FabricTransport::Target FabricTransport::target(const Region& remote, std::uint64_t offset) const {
  const std::shared_lock lock(remotes_mutex_);
  const std::vector<Remote>& known = remotes_[remote.node];
  if (remote.rkey >= known.size()) throw std::logic_error("a region that its node has not told of");
  const Remote& registration = known[remote.rkey];
  return {addresses_[remote.node], remote.base + offset - registration.base, registration.key, remote.base + offset};
}

void FabricTransport::wait_for_order(PerThread& thread, const Request& r) {
  UnderWay& earlier = *thread.under_way[r.remote.node];
  const Access next = access_of(r.operation);
  const auto in_the_way = [&] {
    if (earlier.gets != 0 && (r.fence || orders_.must_wait(Access::get, 0, next, r.size))) return true;
    if (earlier.atomics != 0 && (r.fence || orders_.must_wait(Access::atomic, kWord, next, r.size))) return true;
    return earlier.puts != 0 && orders_.must_wait(Access::put, earlier.largest_put, next, r.size);
  };
  while (in_the_way()) wait();
  if (r.operation == Operation::put)
    earlier.largest_put = earlier.puts == 0 ? r.size : std::max<std::uint64_t>(earlier.largest_put, r.size);
}

void FabricTransport::post(const Request& r) {
  if (done_here(r)) return;
  PerThread& thread = mine();
  const NodeId node = r.remote.node;
  UnderWay& under_way = *thread.under_way[node];
  const auto gone = [&] { return mesh().lost(node) || r.remote.connection < changes_[node].ended; };
  const auto failed_at_once = [&] {
    return Completion{r.tag.token, mesh().lost(node) ? Status::retry_exc_err : Status::wr_flush_err, node, r.operation,
                      r.remote.connection};
  };
  wait_for_order(thread, r);
  while (under_way.all() >= options().send_queue_entries) wait();
  if (gone()) return tell(failed_at_once());
  const Target to = target(r.remote, r.offset);
  Record& record = operations_.begin({.operand = r.operand,
                                      .compare = r.compare,
                                      .token = r.tag.token,
                                      .under_way = &under_way,
                                      .peer = node,
                                      .connection = r.remote.connection,
                                      .operation = r.operation,
                                      .told = r.tag.tell == Tell::always});
  const auto try_to_give = [&] {
    const std::lock_guard lock(provider_mutex_);
    return give(r, *thread.endpoint, to, record);
  };
  std::int64_t error = try_to_give();
  while (error == -FI_EAGAIN && !gone()) {
    ring();  // the provider may have made progress before it refused
    wait();
    error = try_to_give();
  }
  if (error == 0) {
    if (mesh().lost(node)) give_up(node);  // it may have died before this one could be given up
    return;
  }
  finish(record, error == -FI_EAGAIN ? failed_at_once().status : status_of(static_cast<int>(-error)));
}

bool FabricTransport::done_here(const Request& r) {
  if (r.remote.node != my_node() || !fabric_.progress_is_manual()) return false;
  {
    const std::lock_guard lock(provider_mutex_);
    for (std::uint64_t i = 0; i < r.size; i += kWord) {
      const Word here = word(r.local + i), there = word(r.remote.base + r.offset + i);
      if (r.operation == Operation::put) there.store(here.load());
      if (r.operation == Operation::get) here.store(there.load());
      if (r.operation == Operation::fetch_add) here.store(there.fetch_add(r.operand));
      if (r.operation != Operation::compare_swap) continue;
      std::uint64_t old = r.compare;
      there.compare_exchange_strong(old, r.operand);
      here.store(old);
    }
  }
  if (r.tag.tell == Tell::always)
    tell({r.tag.token, Status::success, r.remote.node, r.operation, r.remote.connection});
  else
    ring();  // another thread may wait for what was written
  return true;
}

std::int64_t FabricTransport::give(const Request& r, fid_ep& endpoint, const Target& to, Record& record) {
  if (access_of(r.operation) == Access::atomic) return give_atomic(r, endpoint, to, record);
  void* descriptor = registered(r.local).handle;
  void* const here = reinterpret_cast<void*>(r.local);  // NOLINT(performance-no-int-to-ptr)
  if (r.operation == Operation::get)
    return fi_read(&endpoint, here, r.size, descriptor, to.node, to.address, to.key, &record.context);
  const iovec source{here, r.size};
  const fi_rma_iov target{to.address, r.size, to.key};
  const fi_msg_rma message{.msg_iov = &source,
                           .desc = &descriptor,
                           .iov_count = 1,
                           .addr = to.node,
                           .rma_iov = &target,
                           .rma_iov_count = 1,
                           .context = &record.context,
                           .data = 0};
  return fi_writemsg(&endpoint, &message,
                     FI_COMPLETION | (orders_.waits_for_puts() ? FI_DELIVERY_COMPLETE : FI_TRANSMIT_COMPLETE));
}

std::int64_t FabricTransport::give_atomic(const Request& r, fid_ep& endpoint, const Target& to, Record& record) {
  if (!fabric_.has_atomics()) return ask_for_atomic(to, record, r.remote.node, r.local);
  void* const descriptor = registered(reinterpret_cast<Address>(&record)).handle;
  void* const here = reinterpret_cast<void*>(r.local);  // NOLINT(performance-no-int-to-ptr)
  void* const handle = registered(r.local).handle;
  if (r.operation == Operation::fetch_add)
    return fi_fetch_atomic(&endpoint, &record.operand, 1, descriptor, here, handle, to.node, to.address, to.key,
                           FI_UINT64, FI_SUM, &record.context);
  return fi_compare_atomic(&endpoint, &record.operand, 1, descriptor, &record.compare, descriptor, here, handle,
                           to.node, to.address, to.key, FI_UINT64, FI_CSWAP, &record.context);
}

std::int64_t FabricTransport::ask_for_atomic(const Target& to, Record& record, NodeId node, Address local) {
  record.local = local;
  AtomicMessage message{.address = to.there,
                        .operand = record.operand,
                        .compare = record.compare,
                        .swaps = record.operation == Operation::compare_swap};
  {
    const std::lock_guard lock(asked_mutex_);
    message.number = ++asked_count_;
    asked_.emplace(message.number, &record);
  }
  mesh().send(node, process::Kind::wire, bytes_of(Wire::atomic, message));
  return 0;
}

void FabricTransport::do_atomic_for(NodeId from, const std::string& body) {
  AtomicMessage message;
  if (!take(body, message)) return;
  AnswerMessage answer{.number = message.number, .old = message.compare};
  if (!is_registered(message.address, kWord)) {
    answer.status = Status::rem_access_err;
  } else {
    const std::lock_guard lock(provider_mutex_);
    Word here = word(message.address);
    if (message.swaps)
      here.compare_exchange_strong(answer.old, message.operand);
    else
      answer.old = here.fetch_add(message.operand);
  }
  ring();
  mesh().send(from, process::Kind::wire, bytes_of(Wire::answer, answer));
}

void FabricTransport::take_answer(const std::string& body) {
  AnswerMessage answer;
  if (!take(body, answer)) return;
  Record* record = nullptr;
  {
    const std::lock_guard lock(asked_mutex_);
    const auto asked = asked_.extract(answer.number);
    if (asked.empty()) return;
    record = asked.mapped();
  }
  if (answer.status == Status::success) word(record->local).store(answer.old);
  finish(*record, answer.status);
  ring();  // its thread may wait before it posts the next
}

// --- completions -----------------------------------------------------------------------------------------------------

void FabricTransport::finish(Record& record, Status status) {
  const Completion completion{record.token, status, record.peer, record.operation, record.connection};
  UnderWay& under_way = *record.under_way;
  const bool told = record.told;
  if (!operations_.end(record)) return;  // already reported as failed
  under_way.answered_last =
      status == Status::success && (completion.operation != Operation::put || orders_.waits_for_puts());
  under_way.of(completion.operation).fetch_sub(1);
  if (told || status != Status::success) tell(completion);
}

bool FabricTransport::take_finished() {
  std::array<fi_cq_entry, 16> found;
  const ssize_t count = fi_cq_read(&fabric_.cq(), found.data(), found.size());
  if (count == -FI_EAVAIL) return take_failed();
  for (ssize_t i = 0; i < count; ++i)
    finish(*static_cast<Record*>(found[static_cast<std::size_t>(i)].op_context), Status::success);
  return count > 0;
}

bool FabricTransport::take_failed() {
  fi_cq_err_entry failed{};
  if (fi_cq_readerr(&fabric_.cq(), &failed, 0) != 1) return false;
  if (failed.op_context != nullptr) finish(*static_cast<Record*>(failed.op_context), status_of(failed.err));
  return true;
}

/// With a descriptor, the provider has work only after it was readable, or if one of its timers may be due. So resting
/// threads are rung whenever memory may have changed.
bool FabricTransport::progress() {
  const int descriptor = fabric_.descriptor();
  bool news = false;
  {
    const std::lock_guard lock(provider_mutex_);
    if (descriptor < 0) return take_finished();
    news = owes_a_turn_ || is_readable(descriptor);
    const std::int64_t now = clock_ns();
    if (!news && now - progressed_at_ < kTimersEveryNs) return false;
    progressed_at_ = now;
    while (take_finished()) news = true;
    owes_a_turn_ = !fabric_.rearm();
  }
  if (news) ring();
  return news;
}

void FabricTransport::idle() {
  if (!progress() && fabric_.descriptor() < 0) ::sched_yield();
}

void FabricTransport::wait() {
  polls();
  progress();
  pause();
}

void FabricTransport::rest(int bell, bool polls) {
  if (fabric_.descriptor() < 0) {
    if (!polls) idle();
    return;
  }
  std::array<pollfd, 2> looks = {
      {{.fd = bell, .events = POLLIN, .revents = 0}, {.fd = fabric_.descriptor(), .events = POLLIN, .revents = 0}}};
  if (::poll(looks.data(), looks.size(), owes_a_turn_ ? 0 : kRestMs) == 0 || looks[1].revents != 0) progress();
}

std::size_t FabricTransport::look(std::span<Completion> out) {
  const bool news = progress();
  const std::size_t taken = take_told(out);
  if (taken == 0 && !news && fabric_.descriptor() < 0) ::sched_yield();
  return taken;
}

bool FabricTransport::settled(std::uint32_t thread, NodeId node) {
  if (!thread_ended(thread)) return false;
  const PerThread* const one = per_thread_[thread].get();
  return one == nullptr || (one->under_way[node]->all() == 0 && one->under_way[node]->answered_last);
}

void FabricTransport::give_up(NodeId node) {
  for (const Completion& failed : operations_.give_up(node, Status::retry_exc_err)) tell(failed);
}

void FabricTransport::on_lost(NodeId node) {
  give_up(node);
  tell({.token = kEndedToken, .status = Status::retry_exc_err, .peer = node});
}

// --- connections: libfabric has none; what has ended is told so here -------------------------------------------------

void FabricTransport::disconnect(NodeId node) { changes_[node].ended = changes_[node].present + 1; }
bool FabricTransport::disconnected(NodeId node) { return !operations_.any(node); }
void FabricTransport::connect(NodeId node, std::uint32_t number) {
  changes_[node].present = number;
  changes_[node].ended = number;
}

}  // namespace loco::libfabric
