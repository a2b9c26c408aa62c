#include "loco_sim/baselines/message_port.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "hosts/costs.hpp"
#include "loco_sim/loco/errors.hpp"
#include "loco_sim/transport/virtual_transport.hpp"

namespace loco::baselines {

namespace {
void require_success(const nic::System& system, const nic::Cqe& cqe) {
  if (cqe.status == nic::Status::success) return;
  throw failure(system.qp_node(cqe.qp), "a message", system.qp_peer_node(cqe.qp), cqe.status);
}
}  // namespace

MessagePort::MessagePort(MessageNetwork& network, PortId id)
    : network_(network),
      transport_(*network.cluster_.nodes.at(network.node_of(id))),
      id_(id),
      buffer_bytes_(network.options().words_max * kWord),
      send_cq_(network.cluster_.system.create_cq(transport_.my_node(), 1U << 16U)),
      recv_cq_(network.cluster_.system.create_cq(transport_.my_node(), network.options().receives)),
      receive_queue_(network.cluster_.system.create_srq(transport_.my_node(), network.options().receives)),
      receives_(transport_.allocate(network.options().receives * buffer_bytes_)),
      sends_(transport_.allocate((kSends + 1) * buffer_bytes_)),
      words_(network.options().words_max) {
  for (std::uint32_t i = kSends; i > 0; --i) free_.push_back(i - 1);
  for (std::uint32_t i = 0; i < network.options().receives; ++i)
    network.cluster_.system.post_srq_recv(receive_queue_, {.wr_id = i,
                                                           .address = receive_buffer(i),
                                                           .length = static_cast<std::uint32_t>(buffer_bytes_),
                                                           .lkey = receives_.rkey});
}

void MessagePort::open() {
  static_cast<void>(network_.cluster_.threads.current());
  thread_ = network_.cluster_.threads.current_id();
  open_ = true;
  for (const auto& [peer, connection] : connections_) network_.cluster_.system.set_qp_thread(connection.qp, thread_);
}

nic::Cpu& MessagePort::cpu() { return network_.cluster_.threads.cpu(); }

const nic::HardwareProfile& MessagePort::profile() const {
  return network_.cluster_.system.profile(transport_.my_node());
}

void MessagePort::charge(std::int64_t ps) { network_.cluster_.threads.current().time.advance(sim::Duration{ps}); }

void MessagePort::charge_looks(std::size_t count) {
  charge((profile().cpu_load * static_cast<std::int64_t>(count)).ps);
}

void MessagePort::charge_swaps(std::size_t count) {
  charge((profile().cpu_atomic * static_cast<std::int64_t>(count)).ps);
}

void MessagePort::send(PortId to, std::span<const std::uint64_t> words) {
  const std::uint64_t bytes = words.size_bytes();
  if (bytes > buffer_bytes_)
    throw std::invalid_argument("a message of " + std::to_string(bytes) + " bytes: expected at most " +
                                std::to_string(buffer_bytes_));
  nic::System& system = network_.cluster_.system;
  const bool inlined = network_.options().inlined && bytes <= profile().nic_inline_max.count;
  while (!inlined && free_.empty()) reap();
  const std::uint32_t buffer = inlined ? kSends : free_.back();
  if (!inlined) free_.pop_back();
  Connection& connection = network_.connection(*this, to);
  while (system.send_queue_room(connection.qp) == 0) reap();
  transport_.store_bytes(send_buffer(buffer), std::as_bytes(words));
  hosts::Thread& thread = network_.cluster_.threads.current();
  thread.build();
  thread.change(hosts::Access::change);
  // The CPU copies inline payload into the work request and so reads it from memory; verbs libraries have a barrier
  // there.
  if (inlined) thread.time.drain();
  thread.time.make_room();
  const bool signaled = !inlined || ++connection.unsignaled == kSignalEvery;
  if (signaled) connection.unsignaled = 0;
  nic::Wqe wqe{.wr_id = buffer,
               .opcode = nic::Opcode::send,
               .signaled = signaled,
               .inline_data = inlined,
               .length = static_cast<std::uint32_t>(bytes),
               .lkey = sends_.rkey,
               .local = send_buffer(buffer)};
  if (hosts::Recorder* const recorder = network_.cluster_.recorder.get())
    wqe.op = recorder->begin_message(thread_, connection.qp, system.seq(), transport_.now_ps());
  if (thread.ring(connection.qp, std::span(&wqe, 1)) != nic::PostResult::ok)
    throw std::logic_error("a message was refused");
}

void MessagePort::reap() {
  std::array<nic::Cqe, kPollMax> cqes;
  hosts::Thread& thread = network_.cluster_.threads.current();
  thread.look(hosts::Access::look, hosts::Look::What::completions, send_cq_);
  const std::size_t taken = cpu().poll_cq(send_cq_, cqes);
  for (const nic::Cqe& cqe : std::span(cqes).first(taken)) {
    require_success(network_.cluster_.system, cqe);
    if (cqe.wr_id < kSends) free_.push_back(static_cast<std::uint32_t>(cqe.wr_id));
  }
  thread.time.after_whole_poll(taken);
  if (taken == 0) transport_.pause();
}

std::size_t MessagePort::take(std::span<Arrival> out) {
  std::array<nic::Cqe, kPollMax> cqes;
  hosts::Thread& thread = network_.cluster_.threads.current();
  thread.look(hosts::Access::look, hosts::Look::What::completions, recv_cq_);
  const std::size_t taken = cpu().poll_cq(recv_cq_, std::span(cqes).first(out.size()));
  for (std::size_t i = 0; i < taken; ++i) {
    require_success(network_.cluster_.system, cqes[i]);
    out[i] = {.from = peers_.at(cqes[i].qp),
              .buffer = static_cast<std::uint32_t>(cqes[i].wr_id),
              .words = cqes[i].length / static_cast<std::uint32_t>(kWord)};
  }
  // A peer that has stopped will send nothing, which failed sends to it show. Libraries have one completion queue for
  // both, so checking costs nothing.
  while (taken == 0 && cpu().cq_failed(send_cq_)) reap();
  thread.time.after_whole_poll(taken);
  return taken;
}

void MessagePort::read(const Arrival& arrival) {
  transport_.load_bytes(receive_buffer(arrival.buffer), std::as_writable_bytes(std::span(words_).first(arrival.words)));
}

void MessagePort::give_back(std::span<const Arrival> arrivals) {
  std::array<nic::RecvWqe, kPollMax> wqes;
  for (std::size_t i = 0; i < arrivals.size(); ++i)
    wqes[i] = {.wr_id = arrivals[i].buffer,
               .address = receive_buffer(arrivals[i].buffer),
               .length = static_cast<std::uint32_t>(buffer_bytes_),
               .lkey = receives_.rkey};
  hosts::Thread& thread = network_.cluster_.threads.current();
  const auto posted = std::span(wqes).first(arrivals.size());
  if (thread.post_srq_recv(receive_queue_, posted, hosts::refill_cost(profile(), posted.size())) != nic::PostResult::ok)
    throw std::logic_error("a receive was refused");
}

// --- all ports -------------------------------------------------------------------------------------------------------

MessageNetwork::MessageNetwork(ClusterContext& cluster, MessageOptions options) : cluster_(cluster), options_(options) {
  const std::uint32_t count = cluster.config.nodes * options.ports_per_node;
  for (PortId id = 0; id < count; ++id) ports_.push_back(std::make_unique<MessagePort>(*this, id));
}

MessagePort::Connection& MessageNetwork::connection(MessagePort& from, PortId to) {
  const auto found = from.connections_.find(to);
  if (found != from.connections_.end()) return found->second;
  MessagePort& peer = port(to);
  if (!from.open_) throw std::logic_error("port " + std::to_string(from.id_) + " is not open");
  const auto create = [this](MessagePort& port) {
    return cluster_.system.create_qp(port.transport_.my_node(), {.send_cq = port.send_cq_,
                                                                 .recv_cq = port.recv_cq_,
                                                                 .send_entries = MessagePort::kSends,
                                                                 .srq = port.receive_queue_,
                                                                 .thread = port.thread_});
  };
  const nic::QpId mine = create(from);
  const nic::QpId theirs = create(peer);
  cluster_.system.connect(mine, theirs);
  from.peers_.emplace(mine, to);
  peer.peers_.emplace(theirs, from.id_);
  peer.connections_.try_emplace(from.id_, MessagePort::Connection{.qp = theirs});
  return from.connections_.insert_or_assign(to, MessagePort::Connection{.qp = mine}).first->second;
}

}  // namespace loco::baselines
