// Statements of model verbs on a simulated core (docs/verbs-model.md).

#include "loco_sim/explore/interpreter.hpp"
#include "loco_sim/explore/recording.hpp"

namespace loco::explore {

using namespace model::litmus;

bool Interpreter::verb(const Instruction& i) {
  const Post& post = at(machine_.program_.verbs.posts, i.object);
  if (post.kind == PostKind::poll) return poll_queue(i, post);
  if (post.kind == PostKind::fence) {
    state_->fences |= 1U << static_cast<unsigned>(post.queue_pair);
    return true;
  }
  if (cpu_->store_buffer_full()) {
    cpu_->resume_when_room();
    return false;
  }
  return post.kind == PostKind::receive ? post_receive(i, post) : post_request(i, post);
}

bool Interpreter::post_receive(const Instruction& i, const Post& post) {
  const Machine::Place& buffer = machine_.place(post.buffer);
  const std::uint32_t header = machine_.queues_.header_bytes(post.receive_queue);
  const nic::RecvWqe wqe{.wr_id = static_cast<std::uint64_t>(i.object),
                         .address = buffer.address - header,
                         .length = 8 + header,
                         .lkey = buffer.key};
  if (machine_.queues_.post_receive(*cpu_, post.receive_queue, wqe) != nic::PostResult::ok) {
    cpu_->pause({});  // the queue is full, and the program cannot make room
    return false;
  }
  if (recording_ != nullptr)
    hosts::posted_receive(recording_->caller(*cpu_, i), machine_.queues_.receive_queue(post.receive_queue), wqe);
  return true;
}

bool Interpreter::post_request(const Instruction& i, const Post& post) {
  nic::Wqe wqe = request_of(post, i.object);
  const nic::QpId queue_pair = machine_.queues_.queue_pair(post.queue_pair);
  if (recording_ != nullptr) hosts::begin_request(recording_->caller(*cpu_, i), wqe);
  const nic::PostResult result = cpu_->post_send(queue_pair, {&wqe, 1});
  if (result == nic::PostResult::queue_full) {
    cpu_->pause({});  // until some thread has polled
    return false;
  }
  if (result != nic::PostResult::ok) throw std::logic_error("a work request of a litmus test is refused");
  returns(wqe.op);
  if (recording_ != nullptr) recording_->posted(wqe.op, queue_pair, wqe);
  state_->fences &= ~(1U << static_cast<unsigned>(post.queue_pair));
  return true;
}

/// Completions identify the post by wr_id, and immediate data of 32 bits does so as well.
nic::Wqe Interpreter::request_of(const Post& post, int index) const {
  nic::Wqe wqe{.wr_id = static_cast<std::uint64_t>(index),
               .signaled = post.signaled,
               .fence = post.fence || (state_->fences & 1U << static_cast<unsigned>(post.queue_pair)) != 0,
               .inline_data = post.is_inline,
               .with_imm = post.kind == PostKind::write_imm || post.kind == PostKind::send_imm,
               .length = static_cast<std::uint32_t>(8 * post.words.size()),
               .imm = static_cast<std::uint32_t>(index)};
  const auto first = [&](int Post::Word::*side) {
    int found = kNone;
    for (const Post::Word& w : post.words)
      if (w.*side != kNone && (found == kNone || machine_.place(w.*side).address < machine_.place(found).address))
        found = w.*side;
    return found;
  };
  if (const int local = first(&Post::Word::local); local != kNone) {
    wqe.local = machine_.place(local).address;
    wqe.lkey = machine_.place(local).key;
  }
  if (const int remote = first(&Post::Word::remote); remote != kNone) {
    wqe.remote = machine_.place(remote).address;
    wqe.rkey = machine_.place(remote).key;
  }
  const QueuePair& queue_pair = at(machine_.program_.verbs.queue_pairs, post.queue_pair);
  if (queue_pair.type == Transport::ud) wqe.remote_qp = machine_.queues_.queue_pair(queue_pair.peer);
  const auto operand = [this](int expr) { return expr == kNone ? 0 : static_cast<std::uint64_t>(evaluate(expr)); };
  wqe.compare_add = operand(post.operand);
  wqe.swap = operand(post.operand2);
  switch (post.kind) {
    case PostKind::write:
    case PostKind::write_imm:
      wqe.opcode = nic::Opcode::rdma_write;
      break;
    case PostKind::send:
    case PostKind::send_imm:
      wqe.opcode = nic::Opcode::send;
      break;
    case PostKind::read:
      wqe.opcode = nic::Opcode::rdma_read;
      break;
    case PostKind::cas:
      wqe.opcode = nic::Opcode::compare_swap;
      break;
    default:
      wqe.opcode = nic::Opcode::fetch_add;
  }
  return wqe;
}

bool Interpreter::poll_queue(const Instruction& i, const Post& post) {
  nic::Cqe cqe;
  const nic::CqId queue = machine_.queues_.completion_queue(post.completion_queue);
  if (cpu_->poll_cq(queue, {&cqe, 1}) == 0) {
    cpu_->pause({});
    return false;
  }
  if (cqe.status != nic::Status::success) throw std::logic_error("an operation of a litmus test has failed");
  const auto& posts = machine_.program_.verbs.posts;
  const int name = posts[cqe.wr_id].name;
  set(post.target, name == kNone ? kNoName : kFirstName + name);
  set(post.target2, cqe.with_imm ? posts[cqe.imm].immediate : 0);
  if (recording_ != nullptr) hosts::took_completion(recording_->caller(*cpu_, i), *cpu_, queue, cqe);
  cpu_->forget_watched();
  return true;
}

}  // namespace loco::explore
