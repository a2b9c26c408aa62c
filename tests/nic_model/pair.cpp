#include "pair.hpp"

namespace loco::test {

nic::HardwareProfile impatient(std::uint32_t retries) {
  nic::HardwareProfile profile = real();
  profile.nic_ack_timeout = kTimeout;
  profile.nic_retry_count = retries;
  return profile;
}

nic::HardwareProfile fast_timeout() {
  nic::HardwareProfile profile = real();
  profile.nic_ack_timeout = nic::timeout_of_code(4);
  return profile;
}

PairOptions lossy(std::uint32_t per_million) {
  PairOptions options;
  options.network.options.loss = per_million;
  return options;
}

PairOptions unconnected(std::uint32_t loss, nic::QpType type) {
  PairOptions options;
  options.type = type;
  options.connected = false;
  options.network.options.loss = loss;
  return options;
}

void bring_up(nic::System& system, nic::QpId qp, const nic::QpAttributes& attributes) {
  for (const nic::QpState to : {nic::QpState::init, nic::QpState::rtr, nic::QpState::rts}) {
    REQUIRE(system.modify_qp(qp, to, attributes) == nic::ModifyResult::ok);
  }
}

nic::Wqe numbered(nic::Wqe wqe, std::uint64_t id) {
  wqe.wr_id = id;
  return wqe;
}

void check_gave_up(sim::SimTime at, std::uint32_t retries) {
  const sim::SimTime least = sim::SimTime{} + kTimeout * (std::int64_t{retries} + 1);
  CHECK(at > least);
  CHECK(at < least + 5_us * (std::int64_t{retries} + 1));
}

PairOptions unequal_paths(fabric::Routing routing, std::uint64_t seed) {
  fabric::topology::Custom graph{.hosts = 2, .switches = 6, .edges = {{0, 2}, {1, 3}}};
  for (std::uint32_t middle = 4; middle < 8; ++middle) {
    graph.edges.push_back({2, middle});
    graph.edges.push_back({middle, 3, {}, 1_us * (middle - 4) + 50_ns});
  }
  PairOptions options;
  options.topology = fabric::Topology::shaped;
  options.network.shape = graph;
  options.network.options.routing = routing;
  options.network.seed = seed;
  return options;
}

Pair::Pair(const nic::HardwareProfile& profile, const PairOptions& o)
    : system({.profile = profile,
              .topology = o.topology,
              .network = o.network,
              .nodes = 2,
              .timers = o.timers,
              .witness = true}) {
  for (nic::NodeId node = 0; node < 2; ++node) {
    region[node] = system.register_memory(node, system.allocate(node, o.size), o.size);
    cq[node] = system.create_cq(node, 4096);
    qp[node] = system.create_qp(
        node, {.type = o.type, .send_cq = cq[node], .send_entries = 1024, .recv_entries = o.recv_entries});
  }
  if (!o.connected) return;
  if (o.type == nic::QpType::ud) {
    for (const nic::QpId q : qp) system.activate(q, 17);
  } else {
    system.connect(qp[0], qp[1]);
  }
}

nic::Wqe Pair::write(std::uint64_t from, std::uint64_t to, std::uint32_t length) const {
  return {.opcode = nic::Opcode::rdma_write,
          .length = length,
          .lkey = region[0].lkey,
          .rkey = region[1].rkey,
          .local = region[0].base + from,
          .remote = region[1].base + to};
}

nic::Wqe Pair::read(std::uint64_t into, std::uint64_t from, std::uint32_t length) const {
  nic::Wqe wqe = write(into, from, length);
  wqe.opcode = nic::Opcode::rdma_read;
  return wqe;
}

nic::Wqe Pair::fetch_add(std::uint64_t into, std::uint64_t at, std::uint64_t add) const {
  nic::Wqe wqe = write(into, at);
  wqe.opcode = nic::Opcode::fetch_add;
  wqe.compare_add = add;
  return wqe;
}

nic::Wqe Pair::send(std::uint64_t from, std::uint32_t length) const {
  nic::Wqe wqe = write(from, 0, length);
  wqe.opcode = nic::Opcode::send;
  return wqe;
}

bool Pair::receive(std::uint64_t wr_id, std::uint64_t into, std::uint32_t length) {
  return system.post_recv(qp[1],
                          {.wr_id = wr_id, .address = region[1].base + into, .length = length, .lkey = region[1].lkey});
}

void Pair::script(nic::NodeId node, std::function<void(nic::Cpu&)> step, sim::SimTime start) {
  system.create_thread(node, std::max(start, system.now()));
  scripts.steps.push_back(std::move(step));
}

void Pair::post(const std::vector<nic::Wqe>& wqes, nic::QpId on) {
  script(0, [wqes, to = on == nic::kNone ? qp[0] : on](nic::Cpu& cpu) {
    if (cpu.post_send(to, wqes) != nic::PostResult::ok) throw std::logic_error("not posted");
    cpu.stop();
  });
}

bool Pair::step() {
  nic::Context context{scripts, &recorder};
  return system.step(context);
}

void Pair::run() {
  while (step()) {
  }
}

void Pair::run_random(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  nic::Context context{scripts, &recorder};
  while (!system.idle()) system.step(context, random() % system.pending_events());
}

void Pair::bring_up(nic::QpAttributes attributes) {
  for (const std::size_t i : {0U, 1U}) {
    attributes.dest_qp = qp[1 - i];
    test::bring_up(system, qp[i], attributes);
  }
}

void Pair::reset() {
  for (const nic::QpId id : qp) REQUIRE(system.modify_qp(id, nic::QpState::reset) == nic::ModifyResult::ok);
}

std::vector<nic::Cqe> Pair::completions(nic::NodeId node) const {
  std::vector<nic::Cqe> out;
  for (const Recorder::Completed& c : recorder.cqes) {
    if (system.qp_node(c.cqe.qp) == node) out.push_back(c.cqe);
  }
  return out;
}

std::vector<nic::Status> Pair::statuses(nic::NodeId node) const {
  std::vector<nic::Status> out;
  for (const nic::Cqe& c : completions(node)) out.push_back(c.status);
  return out;
}

std::vector<std::uint8_t> Pair::fill(nic::NodeId node, std::uint64_t offset, std::size_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> content(size);
  for (std::uint8_t& b : content) b = static_cast<std::uint8_t>(random());
  system.write_memory(node, region[node].base + offset, std::as_bytes(std::span(content)));
  return content;
}

std::vector<std::uint8_t> Pair::bytes(nic::NodeId node, std::uint64_t offset, std::size_t size) const {
  std::vector<std::uint8_t> out(size);
  system.read_memory(node, region[node].base + offset, std::as_writable_bytes(std::span(out)));
  return out;
}

}  // namespace loco::test
