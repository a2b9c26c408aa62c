#include "loco_sim/libibverbs/verbs_transport.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "loco_sim/loco/errors.hpp"

namespace loco::libibverbs {

namespace {

constexpr int kCompletionEntries = 1 << 16;
/// First token of the network test, for node 0.
constexpr std::uint64_t kFirstWordTokens = 64;

/// Messages between transports.
enum class Wire : std::uint8_t { end, first_word };

Status status_of(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS:
      return Status::success;
    case IBV_WC_LOC_LEN_ERR:
      return Status::loc_len_err;
    case IBV_WC_LOC_PROT_ERR:
      return Status::loc_prot_err;
    case IBV_WC_WR_FLUSH_ERR:
      return Status::wr_flush_err;
    case IBV_WC_REM_INV_REQ_ERR:
      return Status::rem_inv_req_err;
    case IBV_WC_REM_ACCESS_ERR:
      return Status::rem_access_err;
    case IBV_WC_RETRY_EXC_ERR:
      return Status::retry_exc_err;
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return Status::rnr_retry_exc_err;
    default:
      return Status::rem_op_err;
  }
}

template <typename T>
std::string bytes_of(Wire kind, const T& value) {
  std::string body(1 + sizeof(value), static_cast<char>(kind));
  std::memcpy(body.data() + 1, &value, sizeof(value));
  return body;
}

}  // namespace

VerbsTransport::VerbsTransport(process::Options options, const DeviceOptions& device)
    : ProcessTransport(std::move(options), "verbs"),
      device_(device),
      cq_(device_.create_cq(kCompletionEntries)),
      ends_(device_, *cq_, my_node(), num_nodes(), this->options().send_queue_entries,
            [this](NodeId to, const std::string& body) {
              mesh().send(to, process::Kind::wire, static_cast<char>(Wire::end) + body);
            }),
      first_words_(num_nodes()) {
  start();
  try {
    try_network();
  } catch (...) {
    stop();
    ends_.clear();
    throw;
  }
}

VerbsTransport::~VerbsTransport() {
  stop();
  ends_.clear();
}

VerbsTransport::Registered VerbsTransport::register_memory(void* memory, std::uint64_t size) {
  MemoryRegion region = device_.register_memory(memory, size);
  const Registered keys{.local_key = region->lkey, .remote_key = region->rkey};
  const std::lock_guard lock(regions_mutex_);
  regions_.push_back(std::move(region));
  return keys;
}

void VerbsTransport::on_wire(NodeId from, const std::string& body) {
  if (body.empty()) return;
  if (static_cast<Wire>(body[0]) == Wire::end) return ends_.on_wire(from, body.substr(1));
  Region region;
  if (body.size() != 1 + sizeof(region)) return;
  std::memcpy(&region, body.data() + 1, sizeof(region));
  const std::lock_guard lock(first_words_mutex_);
  first_words_[from] = region;
}

void VerbsTransport::on_lost(NodeId node) {
  ends_.on_lost(node);
  say_ended(node);
}

void VerbsTransport::say_ended(NodeId node) {
  fail({.thread = 0, .peer = node}, {.token = kEndedToken}, Status::retry_exc_err);
}

void VerbsTransport::try_network() {
  const Region words = allocate(std::uint64_t{2} * num_nodes() * kWord);
  for (NodeId n = 0; n < num_nodes(); ++n)
    if (n != my_node()) mesh().send(n, process::Kind::wire, bytes_of(Wire::first_word, words));
  mesh().meet();  // messages sent before it have arrived
  const Address mine_at = words.base + std::uint64_t{num_nodes()} * kWord;
  store(mine_at, my_node() + 1);
  for (NodeId n = 0; n < num_nodes(); ++n) {
    if (n == my_node() || mesh().lost(n)) continue;
    Region there;
    {
      const std::lock_guard lock(first_words_mutex_);
      there = first_words_[n];
    }
    put(mine_at, there, my_node() * kWord, kWord, {.token = kFirstWordTokens + n});
    Completion done;
    while (poll({&done, 1}) == 0 || done.token != kFirstWordTokens + n) pause();
    if (done.status != Status::success)
      throw setup_error(node_name(n) + " answers over TCP, but not over " + device_.name() + ": " +
                        std::string(rdma::text(done.status)));
  }
  mesh().meet();
  for (NodeId n = 0; n < num_nodes(); ++n)
    if (n != my_node() && mesh().lost(n)) say_ended(n);  // again, because it may have been polled above
  for (NodeId n = 0; n < num_nodes(); ++n)
    if (n != my_node() && !mesh().lost(n) && load(words.base + n * kWord) != n + 1)
      throw setup_error("the first word of " + node_name(n) + " has not arrived over " + device_.name());
}

std::string VerbsTransport::lacks(Capability what) const {
  const ibv_atomic_cap cap = device_.attributes().atomic_cap;
  if (what == Capability::atomics)
    return cap == IBV_ATOMIC_NONE ? "device " + device_.name() + " has no remote atomics" : "";
  if (what == Capability::atomics_with_cpu && cap == IBV_ATOMIC_GLOB) return "";
  return Transport::lacks(what);
}

VerbsTransport::PerThread& VerbsTransport::mine() {
  std::unique_ptr<PerThread>& place = per_thread_[my_thread()];
  if (!place) {
    place = std::make_unique<PerThread>();
    place->bell = device_.create_cq(1);
  }
  return *place;
}

void VerbsTransport::idle() {
  ibv_wc none;
  ibv_poll_cq(mine().bell.get(), 1, &none);
}

// --- posting ---------------------------------------------------------------------------------------------------------

namespace {

ibv_send_wr work_request(const Region& remote, Operation operation, std::uint64_t offset, std::uint64_t operand,
                         std::uint64_t compare) {
  const std::uint64_t at = remote.base + offset;
  ibv_send_wr out{};
  switch (operation) {
    case Operation::put:
    case Operation::get:
      out.opcode = operation == Operation::put ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
      out.wr.rdma = {.remote_addr = at, .rkey = remote.rkey};
      break;
    case Operation::fetch_add:
      out.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
      out.wr.atomic = {.remote_addr = at, .compare_add = operand, .swap = 0, .rkey = remote.rkey};
      break;
    case Operation::compare_swap:
      out.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
      out.wr.atomic = {.remote_addr = at, .compare_add = compare, .swap = operand, .rkey = remote.rkey};
      break;
  }
  return out;
}

}  // namespace

void VerbsTransport::post(const Request& r) {
  PerThread& thread = mine();
  if (!thread.list.empty() && (thread.to.node != r.remote.node || thread.to.connection != r.remote.connection))
    throw std::logic_error("a list of work requests goes on towards another node");
  if (r.size > std::numeric_limits<std::uint32_t>::max() / 2)
    throw std::runtime_error("an operation on " + std::to_string(r.size) +
                             " bytes was refused: a message has 2^31 at most");
  thread.to = r.remote;
  Listed& listed = thread.list.emplace_back();
  listed.posted = {r.tag.token, r.operation};
  listed.request = work_request(r.remote, r.operation, r.offset, r.operand, r.compare);
  if (r.size != 0)
    listed.piece = {.addr = r.local,
                    .length = static_cast<std::uint32_t>(r.size),
                    .lkey = static_cast<std::uint32_t>(registered(r.local).local_key)};
  if (r.fence) listed.request.send_flags |= IBV_SEND_FENCE;
  if (r.tag.tell != Tell::with_next || thread.list.size() == std::max(1U, options().send_queue_entries / 2))
    post_list(thread, r.tag.tell);
}

void VerbsTransport::post_list(PerThread& thread, Tell tell) {
  const EndKey key{my_thread(), thread.to.node, thread.to.connection};
  if (thread.latest == nullptr || thread.latest->key != key)
    thread.latest = &ends_.ready_end(key, [this] { check_closing(); });
  End& end = *thread.latest;
  const std::uint64_t count = thread.list.size();
  const std::uint64_t room = end.requests.size();
  while (!end.dead && end.posted - end.retired + count > room) pause();
  const std::lock_guard lock(end.posting);
  if (end.dead) {
    for (const Listed& listed : thread.list)
      fail(key, listed.posted, ends_.lost(key.peer) ? Status::retry_exc_err : Status::wr_flush_err);
    return thread.list.clear();
  }
  end.silent += static_cast<std::uint32_t>(count);
  if (tell == Tell::always || end.silent >= std::max<std::uint64_t>(1, room / 2)) {
    thread.list.back().request.send_flags |= IBV_SEND_SIGNALED;
    end.silent = 0;
  }
  std::uint64_t place = end.posted;
  ibv_send_wr* next = nullptr;
  for (std::size_t i = count; i > 0; --i) {
    Listed& listed = thread.list[i - 1];
    listed.request.wr_id = place + i - 1;
    listed.request.sg_list = &listed.piece;
    listed.request.num_sge = listed.piece.length != 0 ? 1 : 0;
    listed.request.next = next;
    next = &listed.request;
  }
  for (const Listed& listed : thread.list) end.requests[place++ % room] = listed.posted;
  end.posted.store(place);
  ibv_send_wr* refused = nullptr;
  if (const int error = ibv_post_send(end.qp.get(), &thread.list.front().request, &refused); error != 0)
    throw device_.failed("ibv_post_send", error);
  thread.list.clear();
}

void VerbsTransport::fail(const EndKey& end, const Posted& posted, Status status) {
  tell({posted.token, status, end.peer, posted.operation, end.connection});
}

// --- completions -----------------------------------------------------------------------------------------------------

bool VerbsTransport::settled(std::uint32_t thread, NodeId node) {
  return thread_ended(thread) && std::ranges::all_of(ends_.ends_of(thread, node), [](const End* end) {
           return end->posted == 0 || (end->is_free() && end->answered_last);
         });
}

Completion VerbsTransport::completion_of(const ibv_wc& wc) {
  End* const end = ends_.numbered(wc.qp_num);
  if (end == nullptr) return {.token = 0, .status = Status::success};
  if (wc.wr_id == kDrained) {
    end->retired.store(end->posted, std::memory_order_release);
    return {.token = 0, .status = Status::success};
  }
  const Posted posted = end->requests[wc.wr_id % end->requests.size()];
  Status status = status_of(wc.status);
  if (status == Status::wr_flush_err && ends_.lost(end->key.peer)) status = Status::retry_exc_err;
  end->answered_last = status == Status::success && posted.operation != Operation::put;
  end->retired.store(wc.wr_id + 1, std::memory_order_release);
  return {posted.token, status, end->key.peer, posted.operation, end->key.connection};
}

std::size_t VerbsTransport::look(std::span<Completion> out) {
  std::array<ibv_wc, 16> found;
  const std::lock_guard lock(poll_mutex_);
  const int count = ibv_poll_cq(cq_.get(), static_cast<int>(std::min(out.size(), found.size())), found.data());
  if (count < 0) throw std::runtime_error("ibv_poll_cq on " + device_.name() + " failed");
  const auto taken = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < taken; ++i) out[i] = completion_of(found.at(i));
  if (taken > 0) ring();  // a thread may wait for room in its send queue
  return taken;
}

}  // namespace loco::libibverbs
