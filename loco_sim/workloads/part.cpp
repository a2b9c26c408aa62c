#include "loco_sim/workloads/part.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "loco_sim/transport/virtual_transport.hpp"
#include "nic_model/delivery/transports.hpp"

namespace loco::workloads {

namespace {
constexpr unsigned kNumberShift = 56;
constexpr std::uint64_t kTokenMask = (std::uint64_t{1} << kNumberShift) - 1;
}  // namespace

std::size_t MeetingPoint::poll(Transport& node, std::uint32_t number, std::span<Completion> out) {
  std::array<Completion, 16> taken;
  std::vector<std::deque<Completion>>& boxes = boxes_[node.my_node()];
  const std::size_t n = node.poll(taken);
  bool others = false;
  for (Completion& completion : std::span(taken).first(n)) {
    const auto whose = static_cast<std::uint32_t>(completion.token >> kNumberShift);
    completion.token &= kTokenMask;
    boxes[whose].push_back(completion);
    others = others || whose != number;
  }
  if (others) node.wake_all();
  std::deque<Completion>& own = boxes[number];
  const std::size_t given = std::min(out.size(), own.size());
  std::copy_n(own.begin(), given, out.begin());
  own.erase(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(given));
  return given;
}

void MeetingPoint::on_placed(std::uint64_t work_id, std::uint32_t bytes, sim::SimTime at) {
  if (MessageFollower* const follower = follower_of(work_id)) follower->on_placed(own_id(work_id), bytes, at);
}

void MeetingPoint::on_request_packet(std::uint64_t work_id, nic::PacketStep step, const fabric::Packet& packet) {
  if (MessageFollower* const follower = follower_of(work_id))
    follower->on_request_packet(own_id(work_id), step, packet);
}

WorkloadHosts::WorkloadHosts(SimulatedCluster& cluster, Part part, MeetingPoint* meeting)
    : cluster_(cluster), part_(std::move(part)), meeting_(meeting), service_(cluster.context().service(part_.service)) {
  for (const auto& node : cluster.context().nodes) first_threads_.push_back(node->threads());
}

void WorkloadHosts::spawn(std::uint32_t rank, const std::string& name, SimulatedCluster::Program program) {
  if (part_.start_ps == 0) return spawn_now(node(rank), name, std::move(program));
  spawn_now(node(rank), name, [start = part_.start_ps, program = std::move(program)](Transport& thread) {
    if (start > thread.now_ps()) thread.compute(start - thread.now_ps());
    program(thread);
  });
}

OperationTag WorkloadHosts::tag(OperationTag own) const {
  own.service = service_;
  if (meeting_ == nullptr) return own;
  own.token |= std::uint64_t{part_.number} << kNumberShift;
  if (own.work_id != 0) own.work_id = (own.work_id - 1) * part_.parts + part_.number + 1;
  return own;
}

void WorkloadHosts::connect_ahead(std::uint32_t rank, std::uint32_t thread, std::uint32_t to) {
  if (!cluster_.config().network.share.ranked) return;
  const NodeId from = node(rank);
  cluster_.context().nodes[from]->connect_ahead(first_thread(from) + thread, node(to), service_);
}

nic::DeliveryPolicy WorkloadHosts::delivery() const {
  const ClusterConfig& config = cluster_.config();
  const std::uint8_t own = part_.service.transport;
  return nic::reliable_policy(
      own == 0 ? config.profile : nic::with_transport(config.profile, config.transports.at(own - std::size_t{1})));
}

void WorkloadHosts::follow(MessageFollower* follower) {
  if (meeting_ == nullptr) return cluster_.follow(follower);
  meeting_->follow(part_.number, follower);
  cluster_.follow(meeting_);
}

}  // namespace loco::workloads
