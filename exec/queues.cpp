// Posting and polling: translates the protocol's records to the machine's.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <stdexcept>

#include "exec/conductor.hpp"
#include "exec/keys.hpp"
#include "exec/records.hpp"

namespace loco::exec {

namespace {

// bind and invalidate become writes of no bytes, whose completions report that they are done
constexpr std::array kOperations = {nic::Opcode::rdma_write,         nic::Opcode::rdma_read,  nic::Opcode::compare_swap,
                                    nic::Opcode::fetch_add,          nic::Opcode::send,       nic::Opcode::recv,
                                    nic::Opcode::recv_rdma_with_imm, nic::Opcode::rdma_write, nic::Opcode::rdma_write};
static_assert(static_cast<std::size_t>(Operation::invalidate) + 1 == kOperations.size());

std::uint32_t operation_of(nic::Opcode opcode) {
  return static_cast<std::uint32_t>(std::ranges::find(kOperations, opcode) - kOperations.begin());
}

/// Identifies the queue of a post among a program's.
std::uint64_t list_key(Post post, std::uint32_t queue) { return static_cast<std::uint64_t>(post) << 32U | queue; }

}  // namespace

// --- posting ---------------------------------------------------------------------------------------------------------

void Conductor::replay_posts(ProgramThread& thread) {
  Channel& c = *thread.channel;
  const std::int64_t begin = now().ps;
  const std::int64_t ahead = c.ahead_ps;
  std::vector<char>& posts = thread.posts;
  posts.assign(c.posts, c.posts + c.posts_bytes);
  c.posts_bytes = 0;
  for (std::size_t at = 0; at < posts.size();) {
    const auto header = record_at<PostHeader>(posts.data() + at);
    at += sizeof(header);
    compute({begin + header.ahead_ps - now().ps});
    room_in_store_buffer();
    const int error = header.post == Post::send ? post_sends(thread, header, posts.data() + at)
                                                : post_receives(thread, header, posts.data() + at);
    if (error != 0)
      remember(result_.unsupported, fmt::format("host {}: a request was refused after ibv_post_* had taken it ({})",
                                                thread.program.host, std::strerror(error)));
    at += header.bytes;
  }
  compute({begin + ahead - now().ps});
}

void Conductor::room_in_store_buffer() {
  while (cpu_->store_buffer_full()) {
    cpu_->resume_when_room();
    pool_.suspend();
  }
}

/// Where the NIC finds or puts the data of a request's elements; several elements need a list. The length is that of
/// all.
nic::Piece Conductor::place(Program& program, QueueLists& lists, const char* elements, std::uint64_t count) {
  const std::uint64_t number = lists.posted++;
  constexpr std::uint64_t kPlacesMax = 2 * kQueueEntriesMax;  // including those in progress
  while (!lists.lists.empty() && lists.lists.front().first + kPlacesMax < number) {
    processes_[program.host]->drop_list(lists.lists.front().second);
    lists.lists.pop_front();
  }
  std::vector<nic::Piece> pieces;
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto element = record_at<Element>(elements + i * sizeof(Element));
    if (element.length == 0) continue;
    pieces.push_back({machine_address(element.key, element.address), element.length, element.key});
    bytes += element.length;
  }
  if (pieces.empty()) return {};
  if (pieces.size() == 1) return pieces[0];
  const std::uint32_t key = pieces[0].key;
  const nic::Address list = processes_[program.host]->add_list(program.host, std::move(pieces));
  lists.lists.emplace_back(number, list);
  return {list, std::min<std::uint64_t>(bytes, std::numeric_limits<std::uint32_t>::max()), key};
}

/// `inline_at` is where an inline payload goes, in the program's part of host memory.
nic::Wqe Conductor::request_of(Program& program, QueueLists& lists, const SendRecord& r, const char* more,
                               std::uint64_t inline_at) {
  nic::Wqe wqe{.wr_id = r.wr_id,
               .opcode = kOperations.at(r.operation),
               .signaled = r.signaled,
               .fence = r.fence,
               .inline_data = r.is_inline,
               .with_imm = r.with_imm,
               .length = 0,
               .rkey = r.remote_key,
               .imm = r.imm,
               .compare_add = r.compare_add,
               .swap = r.swap,
               .remote_qkey = r.remote_qkey,
               .remote_qp = r.remote_qp};
  if (r.operation == static_cast<std::uint32_t>(Operation::bind)) {
    bind(program, r, record_at<Element>(more));
    return {.wr_id = r.wr_id, .signaled = r.signaled, .fence = r.fence, .length = 0};
  }
  if (r.operation == static_cast<std::uint32_t>(Operation::invalidate)) {
    invalidate(program.host, r.remote_key);
    return {.wr_id = r.wr_id, .signaled = r.signaled, .fence = r.fence, .length = 0};
  }
  if (wqe.opcode != nic::Opcode::send) wqe.remote = machine_address(r.remote_key, r.remote);
  if (r.is_inline) {
    wqe.length = r.inline_bytes;
    wqe.local = program.inline_slot + inline_at;
    if (r.inline_bytes != 0)
      system_.write_memory(program.host, wqe.local, std::as_bytes(std::span(more, r.inline_bytes)));
    return wqe;
  }
  const nic::Piece local = place(program, lists, more, r.elements);
  wqe.lkey = local.key;
  wqe.local = local.address;
  wqe.length = static_cast<std::uint32_t>(local.bytes);
  if (is_atomic(wqe.opcode)) wqe.length = 8;
  return wqe;
}

int Conductor::post_sends(ProgramThread& thread, const PostHeader& header, const char* records) {
  std::vector<nic::Wqe> wqes;
  wqes.reserve(header.count);
  std::uint64_t inline_bytes = 0;
  std::vector<std::pair<SendRecord, std::size_t>> copies;  ///< with their places among the requests
  QueueLists& lists = thread.program.lists[list_key(header.post, header.queue)];
  const char* at = records;
  for (std::uint32_t i = 0; i < header.count; ++i) {
    const auto record = record_at<SendRecord>(at);
    at += sizeof(record);
    if (record.invalidates) invalidations_.emplace(system_.queue_pair(header.queue).peer, record.imm);
    wqes.push_back(request_of(thread.program, lists, record, at, inline_bytes));
    if (record.remote_qp == kToGroup) {
      wqes.back().remote_qp = first_receiver(header.queue, record);
      copies.emplace_back(record, wqes.size() - 1);
    }
    if (record.is_inline) inline_bytes += padded(record.inline_bytes);
    at += record.is_inline ? padded(record.inline_bytes) : record.elements * sizeof(Element);
  }
  if (leaps_) leaps_->name(header.queue, wqes);
  if (tracing_) tracing_->begin_requests({thread.id, thread.program.process, header.caller}, wqes);
  const nic::PostResult result = cpu_->post_send(header.queue, wqes);
  if (result == nic::PostResult::ok) {
    if (tracing_) tracing_->posted(header.queue, wqes);
    for (const auto& [record, index] : copies) send_copies(header.queue, record, wqes[index]);
    return 0;
  }
  return result == nic::PostResult::queue_full ? ENOMEM : EINVAL;
}

int Conductor::post_receives(ProgramThread& thread, const PostHeader& header, const char* records) {
  std::vector<nic::RecvWqe> wqes;
  wqes.reserve(header.count);
  QueueLists& lists = thread.program.lists[list_key(header.post, header.queue)];
  const char* at = records;
  for (std::uint32_t i = 0; i < header.count; ++i) {
    const auto record = record_at<ReceiveRecord>(at);
    at += sizeof(record);
    const nic::Piece to = place(thread.program, lists, at, record.elements);
    at += record.elements * sizeof(Element);
    wqes.push_back({record.wr_id, to.address, static_cast<std::uint32_t>(to.bytes), to.key});
  }
  const nic::PostResult result =
      header.post == Post::receive ? cpu_->post_recv(header.queue, wqes) : cpu_->post_srq_recv(header.queue, wqes);
  if (result == nic::PostResult::ok) {
    if (!tracing_) return 0;
    const bool own = header.post == Post::receive;
    tracing_->posted_receives({thread.id, thread.program.process, header.caller},
                              own ? system_.queue_pair(header.queue).receives : header.queue, wqes);
    return 0;
  }
  return result == nic::PostResult::queue_full ? ENOMEM : EINVAL;
}

// --- queue pairs -----------------------------------------------------------------------------------------------------

void Conductor::create_qp(ProgramThread& thread) {
  Channel& c = *thread.channel;
  Program& program = thread.program;
  constexpr std::array kTypes = {nic::QpType::rc, nic::QpType::uc, nic::QpType::ud, nic::QpType::rc};
  const std::uint64_t kind = c.arguments[0] & 0xffffffffU;
  const bool xrc = kind == static_cast<std::uint64_t>(QpKind::xrc);
  const auto number = [&c](std::size_t i) { return static_cast<std::uint32_t>(c.arguments[i]); };
  const auto cq = [&](std::size_t i) {
    if (number(i) != kNoQueue) return number(i);
    if (program.no_cq == nic::kNone) program.no_cq = system_.create_cq(program.host, 1);
    return program.no_cq;
  };
  const nic::QpId qp =
      system_.create_qp(program.host, {.type = kTypes.at(kind),
                                       .send_cq = cq(1),
                                       .recv_cq = cq(2),
                                       .send_entries = number(3),
                                       .recv_entries = number(4),
                                       .srq = number(5),
                                       .domain = static_cast<std::uint16_t>(c.arguments[0] >> 32U),
                                       .xrc = xrc,
                                       .thread = thread.id,
                                       .nic = static_cast<std::uint32_t>(c.arguments[0] >> kNicBit & (kNicsMax - 1))});
  program.queue_pairs.push_back(qp);
  shares_receives_.resize(qp + 1);
  shares_receives_[qp] = number(5) != kNoQueue;
  owners_.resize(qp + 1);
  owners_[qp] = &program;
  is_xrc_.resize(qp + 1);
  is_xrc_[qp] = xrc;
  if ((c.arguments[0] & kNotToItself) != 0) not_to_itself_.insert(qp);
  if (kind == static_cast<std::uint64_t>(QpKind::ud) && !groups_.empty()) make_copier(qp);
  c.replies[0] = qp;
}

void Conductor::reset(nic::QpId qp) {
  system_.modify_qp(qp, nic::QpState::reset);
  if (tracing_) tracing_->reset(qp);
}

void Conductor::modify_qp(ProgramThread& thread) {
  Channel& c = *thread.channel;
  const auto change = record_at<QpChange>(c.data);
  const auto qp = static_cast<nic::QpId>(c.arguments[0]);
  const auto to = static_cast<nic::QpState>(c.arguments[1]);
  const nic::QpState from = system_.qp_state(qp);
  if (to == nic::QpState::reset) xrc_messages_.erase(qp);
  nic::QpAttributes a;
  if (to == nic::QpState::init) a.qkey = change.qkey;
  if (to == nic::QpState::rtr) {
    a.dest_qp = change.dest_qp;
    a.rq_psn = change.rq_psn;
    a.max_dest_rd_atomic = change.max_dest_rd_atomic;
    a.path_mtu = change.path_mtu;
    a.min_rnr_timer = {change.min_rnr_timer_ps};
    a.qkey = change.qkey;
  }
  if (to == nic::QpState::rts && from == nic::QpState::rtr) {
    a.sq_psn = change.sq_psn;
    a.max_rd_atomic = change.max_rd_atomic;
    a.timeout = {change.timeout_ps};
    a.retry_count = change.retry_count;
    a.rnr_retry = change.rnr_retry;
    a.qkey = change.qkey;
  }
  const bool taken = system_.modify_qp(qp, to, a) == nic::ModifyResult::ok;
  if (taken && to != nic::QpState::reset && to != nic::QpState::error)
    system_.set_qp_access(qp, rights_of(change.access));
  c.replies[0] = taken ? 0 : EINVAL;
  if (taken && to == nic::QpState::reset && tracing_) tracing_->reset(qp);
  const bool alive = from != nic::QpState::reset && from != nic::QpState::error;
  if (taken && alive && to == nic::QpState::error && shares_receives_[qp])
    tell(thread.program, AsyncEvent::last_wqe, qp);
}

/// True if its immediate data was a key that its SEND invalidated, as on_cqe() has noted.
bool Conductor::was_invalidated(const nic::Cqe& cqe) {
  const auto found = invalidated_.find({cqe.qp, cqe.imm});
  if (!cqe.with_imm || found == invalidated_.end()) return false;
  invalidated_.erase(found);
  return true;
}

/// The shared receive queue of a receive on XRC.
std::uint32_t Conductor::receives_xrc(const nic::Cqe& cqe) {
  if (!is_receive(cqe.opcode) || cqe.qp >= is_xrc_.size() || !is_xrc_[cqe.qp]) return kNoQueue;
  std::deque<nic::SrqId>& waiting = xrc_messages_[cqe.qp];
  if (waiting.empty()) return kNoQueue;
  const nic::SrqId srq = waiting.front();
  waiting.pop_front();
  return srq;
}

// --- polling ---------------------------------------------------------------------------------------------------------

void Conductor::poll(ProgramThread& thread) {
  Channel& c = *thread.channel;
  const auto cq = static_cast<nic::CqId>(c.arguments[0]);
  std::array<nic::Cqe, kCompletionsMax> found;
  const std::span<nic::Cqe> room(found.data(), std::min<std::uint64_t>(c.arguments[1], kCompletionsMax));
  const std::uint64_t watched = c.arguments[2];
  cpu_->forget_watched();
  std::size_t count = cpu_->poll_cq(cq, room);
  if (count == 0 && watched != 0) {
    bool news = false;
    for (std::uint64_t i = 0; i < watched; ++i) {
      const auto other = record_at<std::uint32_t>(c.data + i * sizeof(std::uint32_t));
      if (other == cq) continue;
      static_cast<void>(cpu_->poll_cq(other, {}));  // adds it to the watch set
      news = news || !cpu_->cq_empty(other);
    }
    if (!news) {
      thread.waits_for = fmt::format("a completion of completion queue {}", cq);
      if (c.arguments[3] != 0) cpu_->watch(kIoKey);
      if (written_to_[thread.program.host]) cpu_->watch_memory();
      pause(thread, hosts::poll_cost(profile(thread.program.host), 0) * static_cast<std::int64_t>(watched));
      count = cpu_->poll_cq(cq, room);
      // There is other news, which the program looks at between its polls: those of the previous turn are over.
      if (count == 0) thread.polls_paid = watched;
    }
  }
  cpu_->forget_watched();
  if (tracing_) tracing_->polled({thread.id, thread.program.process}, *cpu_, cq, std::span(found).first(count));
  if (count != 0) {
    thread.polls_paid = 0;
    compute(hosts::poll_cost(profile(thread.program.host), count));
  } else if (thread.polls_paid != 0) {
    --thread.polls_paid;
  } else {
    compute(hosts::poll_cost(profile(thread.program.host), 0));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const nic::Cqe& e = found[i];
    const Completion completion{.wr_id = e.wr_id,
                                .status = static_cast<std::uint32_t>(e.status),
                                .operation = operation_of(e.opcode),
                                .length = e.length,
                                .imm = e.imm,
                                .qp = e.qp,
                                .source_qp = original_of(e.source_qp),
                                .place = e.wqe,
                                .srq = receives_xrc(e),
                                .with_imm = e.with_imm,
                                .invalidated = is_receive(e.opcode) && was_invalidated(e)};
    std::memcpy(c.data + i * sizeof(completion), &completion, sizeof(completion));
  }
  c.replies[0] = static_cast<std::int64_t>(count);
  c.replies[1] = static_cast<std::int64_t>(system_.cq_size(cq));
}

/// A thread's loop recurs: it continues when another thread of the process has run, or a NIC has written.
void Conductor::spin(ProgramThread& thread) {
  constexpr int kSpinsMax = 100;  // pauses in a row without news
  Program& program = thread.program;
  remember(result_.spins,
           fmt::format("host {}: on another thread at {:#x}", program.host, thread.channel->arguments[0]));
  thread.waits_for = "a store of another thread";
  cpu_->forget_watched();
  cpu_->watch(kThreadsKey);
  cpu_->watch_memory();
  const std::uint64_t pauses = idle_pauses_;
  ++program.spinning;
  pause(thread, profile(thread.program.host).cpu_load);
  --program.spinning;
  const bool nothing = idle_pauses_ != pauses;
  idle_spins_ = nothing ? idle_spins_ + 1 : 0;
  if (idle_spins_ > kSpinsMax) result_.failure = deadlock();
  thread.channel->replies[0] = nothing ? 1 : 0;
}

/// A thread has read the same value twice without a call in between: it continues when a NIC has written there.
void Conductor::wait_memory(ProgramThread& thread) {
  Channel& c = *thread.channel;
  const std::uint64_t own = c.arguments[0] / 8 * 8;
  const nic::Address word = thread.program.base + own;
  if (!thread.program.memory.contains(own, 8)) return compute(profile(thread.program.host).cpu_load);
  remember(result_.spins,
           fmt::format("host {}: on {:#x} at {:#x}", thread.program.host, c.arguments[0], c.arguments[1]));
  thread.waits_for = fmt::format("a write to {:#x}", c.arguments[0]);
  cpu_->forget_watched();
  // a look at the word, and another one when it has changed: the instruction itself, where calls have one to return to
  const Tracing::Caller by{thread.id, thread.program.process, c.arguments[1] + 1};
  if (tracing_) tracing_->load(by, *cpu_, word, true);
  if (!tracing_) static_cast<void>(cpu_->load(word));
  pause(thread, profile(thread.program.host).cpu_load);
  if (tracing_) tracing_->load(by, *cpu_, word, true);
  cpu_->forget_watched();
}

/// The program tells of an access to memory that NICs reach (Options::trace): a load before it is made, a store once it
/// has been. Looking at a flag again and again takes time, and ends when a NIC has written.
void Conductor::access(ProgramThread& thread) {
  Channel& c = *thread.channel;
  const std::uint64_t from = c.arguments[0] / 8 * 8;
  const bool writes = (c.arguments[2] & kAccessWrites) != 0;
  const bool flag = (c.arguments[2] & kAccessFlag) != 0;
  ProgramMemory& memory = thread.program.memory;
  const Tracing::Caller by{thread.id, thread.program.process, c.arguments[3]};
  if (flag && !writes && memory.contains(from, 8)) {
    const std::pair look{c.arguments[0], c.arguments[3]};
    const auto now = [&] {
      std::uint64_t value = 0;
      static_cast<void>(memory.copy_from(from, std::as_writable_bytes(std::span(&value, 1))));
      return value;
    };
    if (thread.looked == look && thread.seen == now()) {
      thread.waits_for = fmt::format("a write to {:#x}", c.arguments[0]);
      cpu_->forget_watched();
      cpu_->watch_memory();
      pause(thread, profile(thread.program.host).cpu_load);
    } else {
      compute(profile(thread.program.host).cpu_load);
    }
    thread.looked = look;
    thread.seen = now();
  } else {
    thread.looked = {};
  }
  for (std::uint64_t word = from; word < c.arguments[0] + c.arguments[1]; word += 8) {
    if (!memory.contains(word, 8)) continue;
    if (writes) tracing_->stored(by, *cpu_, thread.program.base + word, flag);
    if (!writes) tracing_->load(by, *cpu_, thread.program.base + word, flag);
  }
  cpu_->forget_watched();
}

}  // namespace loco::exec
