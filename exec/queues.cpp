// Posting, polling, registering: from the protocol's records to the machine's.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>

#include "exec/conductor.hpp"
#include "exec/keys.hpp"

namespace loco::exec {

namespace {

constexpr std::array kOperations = {nic::Opcode::rdma_write,        nic::Opcode::rdma_read, nic::Opcode::compare_swap,
                                    nic::Opcode::fetch_add,         nic::Opcode::send,      nic::Opcode::recv,
                                    nic::Opcode::recv_rdma_with_imm};
static_assert(static_cast<std::size_t>(Operation::recv_with_imm) + 1 == kOperations.size());

std::uint32_t operation_of(nic::Opcode opcode) {
  return static_cast<std::uint32_t>(std::ranges::find(kOperations, opcode) - kOperations.begin());
}

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

template <typename T>
T record_at(const char* at) {
  T record;
  std::memcpy(&record, at, sizeof(record));
  return record;
}

}  // namespace

// --- memory ----------------------------------------------------------------------------------------------------------

void Conductor::register_memory(ProgramThread& thread) {
  Channel& c = *thread.channel;
  Program& program = thread.program;
  for (std::uint64_t i = 0; i < c.arguments[4]; ++i)
    program.memory.add(record_at<PageRun>(c.data + i * sizeof(PageRun)));
  const auto rights = static_cast<std::uint32_t>(c.arguments[2]);
  std::uint8_t access = 0;
  if ((rights & kLocalWriteRight) != 0) access |= nic::kLocalWrite;
  if ((rights & kRemoteWriteRight) != 0) access |= nic::kRemoteWrite;
  if ((rights & kRemoteReadRight) != 0) access |= nic::kRemoteRead;
  if ((rights & kRemoteAtomicRight) != 0) access |= nic::kRemoteAtomic;
  const nic::MemoryRegion region =
      system_.register_memory(program.host, nic::kForeignMemory + c.arguments[0], c.arguments[1], access,
                              {.relaxed_ordering = (rights & kRelaxedRight) != 0});
  regions_.resize(region.lkey >> 8U);
  regions_.push_back({.host = program.host, .io_offset = c.arguments[3]});
  c.replies[0] = region.lkey;
}

/// An address in a request to a region, where the machine has it.
nic::Address Conductor::machine_address(std::uint32_t key, std::uint64_t address) const {
  const std::size_t index = key >> 8U;
  return nic::kForeignMemory + address - (index < regions_.size() ? regions_[index].io_offset : 0);
}

// --- posting ---------------------------------------------------------------------------------------------------------

void Conductor::replay_posts(ProgramThread& thread) {
  Channel& c = *thread.channel;
  const std::int64_t begin = system_.now().ps;
  const std::int64_t ahead = c.ahead_ps;
  std::vector<char>& posts = thread.posts;
  posts.assign(c.posts, c.posts + c.posts_bytes);
  c.posts_bytes = 0;
  for (std::size_t at = 0; at < posts.size();) {
    const auto header = record_at<PostHeader>(posts.data() + at);
    at += sizeof(header);
    compute({begin + header.ahead_ps - system_.now().ps});
    room_in_store_buffer();
    const int error = header.post == Post::send ? post_sends(thread, header, posts.data() + at)
                                                : post_receives(thread, header, posts.data() + at);
    if (error != 0)
      remember(result_.unsupported, fmt::format("host {}: a request was refused after ibv_post_* had taken it ({})",
                                                thread.program.host, std::strerror(error)));
    at += header.bytes;
  }
  compute({begin + ahead - system_.now().ps});
}

void Conductor::room_in_store_buffer() {
  while (cpu_->store_buffer_full()) {
    cpu_->resume_when_room();
    pool_.suspend();
  }
}

/// The elements' bytes are put together in host memory, once, now: the machine's requests have one element.
void Conductor::gather(Program& program, const SendRecord& record, const Element* elements, nic::Wqe& wqe) {
  std::vector<std::byte> all;
  for (std::uint32_t i = 0; i < record.elements; ++i) {
    const std::size_t from = all.size();
    all.resize(from + elements[i].length);
    program.memory.read(machine_address(elements[i].key, elements[i].address), std::span(all).subspan(from));
  }
  wqe.length = static_cast<std::uint32_t>(all.size());
  if (program.bounce_used + all.size() + 64 > kBounceBytes) program.bounce_used = 0;
  wqe.local = program.bounce + program.bounce_used;
  wqe.lkey = program.bounce_key;
  program.bounce_used += (all.size() + 63) / 64 * 64;
  if (!all.empty()) system_.write_memory(program.host, wqe.local, all);
  remember(result_.approximations,
           fmt::format("host {}: lists of elements are read when they are posted", program.host));
}

/// `inline_at`: where in the program's part of host memory the payload of a request that carries it goes.
nic::Wqe Conductor::request_of(Program& program, const SendRecord& r, const char* more, std::uint64_t inline_at) {
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
  if (wqe.opcode != nic::Opcode::send) wqe.remote = machine_address(r.remote_key, r.remote);
  if (r.is_inline) {
    wqe.length = r.inline_bytes;
    wqe.local = program.inline_slot + inline_at;
    if (r.inline_bytes != 0)
      system_.write_memory(program.host, wqe.local, std::as_bytes(std::span(more, r.inline_bytes)));
    return wqe;
  }
  std::array<Element, kElementsMax> elements;
  std::memcpy(elements.data(), more, r.elements * sizeof(Element));
  if (r.elements == 1) {
    wqe.lkey = elements[0].key;
    wqe.local = machine_address(elements[0].key, elements[0].address);
    wqe.length = elements[0].length;
  } else if (r.elements > 1) {
    gather(program, r, elements.data(), wqe);
  }
  if (is_atomic(wqe.opcode)) wqe.length = 8;
  return wqe;
}

int Conductor::post_sends(ProgramThread& thread, const PostHeader& header, const char* records) {
  std::vector<nic::Wqe> wqes;
  wqes.reserve(header.count);
  std::uint64_t inline_bytes = 0;
  const char* at = records;
  for (std::uint32_t i = 0; i < header.count; ++i) {
    const auto record = record_at<SendRecord>(at);
    at += sizeof(record);
    wqes.push_back(request_of(thread.program, record, at, inline_bytes));
    if (record.is_inline) inline_bytes += padded(record.inline_bytes);
    at += record.is_inline ? padded(record.inline_bytes) : record.elements * sizeof(Element);
  }
  const nic::PostResult result = cpu_->post_send(header.queue, wqes);
  if (result == nic::PostResult::ok) return 0;
  return result == nic::PostResult::queue_full ? ENOMEM : EINVAL;
}

int Conductor::post_receives(ProgramThread& thread, const PostHeader& header, const char* records) {
  std::vector<nic::RecvWqe> wqes;
  wqes.reserve(header.count);
  const char* at = records;
  for (std::uint32_t i = 0; i < header.count; ++i) {
    const auto record = record_at<ReceiveRecord>(at);
    at += sizeof(record);
    nic::RecvWqe wqe{.wr_id = record.wr_id};
    if (record.elements >= 1) {
      const auto element = record_at<Element>(at);
      wqe.lkey = element.key;
      wqe.address = machine_address(element.key, element.address);
      wqe.length = element.length;
    }
    if (record.elements > 1)
      remember(result_.unsupported, fmt::format("host {}: a receive request of {} elements (the first is used)",
                                                thread.program.host, record.elements));
    at += record.elements * sizeof(Element);
    wqes.push_back(wqe);
  }
  const nic::PostResult result =
      header.post == Post::receive ? cpu_->post_recv(header.queue, wqes) : cpu_->post_srq_recv(header.queue, wqes);
  if (result == nic::PostResult::ok) return 0;
  return result == nic::PostResult::queue_full ? ENOMEM : EINVAL;
}

// --- queue pairs -----------------------------------------------------------------------------------------------------

void Conductor::create_qp(ProgramThread& thread) {
  Channel& c = *thread.channel;
  constexpr std::array kTypes = {nic::QpType::rc, nic::QpType::uc, nic::QpType::ud};
  const auto number = [&c](std::size_t i) { return static_cast<std::uint32_t>(c.arguments[i]); };
  const nic::QpId qp = system_.create_qp(thread.program.host, {.type = kTypes.at(c.arguments[0]),
                                                               .send_cq = number(1),
                                                               .recv_cq = number(2),
                                                               .send_entries = number(3),
                                                               .recv_entries = number(4),
                                                               .srq = number(5),
                                                               .thread = thread.id});
  thread.program.queue_pairs.push_back(qp);
  shares_receives_.resize(qp + 1);
  shares_receives_[qp] = number(5) != kNoQueue;
  c.replies[0] = qp;
}

void Conductor::modify_qp(ProgramThread& thread) {
  Channel& c = *thread.channel;
  const auto change = record_at<QpChange>(c.data);
  const auto qp = static_cast<nic::QpId>(c.arguments[0]);
  const auto to = static_cast<nic::QpState>(c.arguments[1]);
  const nic::QpState from = system_.qp_state(qp);
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
  c.replies[0] = taken ? 0 : EINVAL;
  const bool alive = from != nic::QpState::reset && from != nic::QpState::error;
  if (taken && alive && to == nic::QpState::error && shares_receives_[qp])
    tell(thread.program, AsyncEvent::last_wqe, qp);
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
      static_cast<void>(cpu_->poll_cq(other, {}));  // it is looked at
      news = news || !cpu_->cq_empty(other);
    }
    if (!news) {
      thread.waits_for = fmt::format("a completion of completion queue {}", cq);
      if (c.arguments[3] != 0) cpu_->watch(kIoKey);
      if (thread.program.written_to) cpu_->watch(kMemoryKey);
      pause(thread, hosts::poll_cost(profile(), 0) * static_cast<std::int64_t>(watched));
      count = cpu_->poll_cq(cq, room);
      // Something else is new, which the program looks at between its polls: those of the turn before are behind it.
      if (count == 0) thread.polls_paid = watched;
    }
  }
  cpu_->forget_watched();
  if (count != 0) {
    thread.polls_paid = 0;
    compute(hosts::poll_cost(profile(), count));
  } else if (thread.polls_paid != 0) {
    --thread.polls_paid;
  } else {
    compute(hosts::poll_cost(profile(), 0));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const nic::Cqe& e = found[i];
    const Completion completion{.wr_id = e.wr_id,
                                .status = static_cast<std::uint32_t>(e.status),
                                .operation = operation_of(e.opcode),
                                .length = e.length,
                                .imm = e.imm,
                                .qp = e.qp,
                                .source_qp = e.source_qp,
                                .place = e.wqe,
                                .with_imm = e.with_imm};
    std::memcpy(c.data + i * sizeof(completion), &completion, sizeof(completion));
  }
  c.replies[0] = static_cast<std::int64_t>(count);
  c.replies[1] = static_cast<std::int64_t>(system_.cq_size(cq));
}

/// A thread has read the same value twice without a call in between: it goes on when a NIC has written there.
void Conductor::wait_memory(ProgramThread& thread) {
  Channel& c = *thread.channel;
  const nic::Address word = (nic::kForeignMemory + c.arguments[0]) / 8 * 8;
  if (!thread.program.memory.contains(word, 8)) return compute(profile().cpu_load);
  remember(result_.spins,
           fmt::format("host {}: on {:#x} at {:#x}", thread.program.host, c.arguments[0], c.arguments[1]));
  thread.waits_for = fmt::format("a write to {:#x}", c.arguments[0]);
  cpu_->forget_watched();
  static_cast<void>(cpu_->load(word));
  pause(thread, profile().cpu_load);
}

}  // namespace loco::exec
