#include "rig.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <stdexcept>
#include <utility>

#include "nic_model/profile_options.hpp"
#include "yaml/node.hpp"

namespace loco::test {

sim::SimTime Recorder::finished(nic::Stamp stamp) const {
  for (const nic::Subevent& s : subevents) {
    if (s.stamp != stamp) continue;
    if (s.finished) return s.at;
    for (const nic::SubeventFinish& f : finishes) {
      if (f.id == s.id) return f.at;
    }
  }
  return sim::SimTime::max();
}

Rig::Rig(const nic::HardwareProfile& profile, fabric::Topology topology, std::uint64_t size, std::uint8_t remote_access)
    : system({.profile = profile, .topology = topology, .nodes = 2, .witness = true}) {
  local = system.register_memory(0, system.allocate(0, size), size);
  remote = system.register_memory(1, system.allocate(1, size), size, remote_access);
  cq = system.create_cq(0, 1024);
  qp = system.create_qp(0, cq, 256, 0);
  passive = system.create_qp(1, system.create_cq(1, 1), 1);
  system.connect(qp, passive);
}

nic::Wqe Rig::write(std::uint64_t from, std::uint64_t to, std::uint32_t length) const {
  return {.opcode = nic::Opcode::rdma_write,
          .length = length,
          .lkey = local.lkey,
          .rkey = remote.rkey,
          .local = local.base + from,
          .remote = remote.base + to};
}

nic::Wqe Rig::read(std::uint64_t into, std::uint64_t from, std::uint32_t length) const {
  nic::Wqe wqe = write(into, from, length);
  wqe.opcode = nic::Opcode::rdma_read;
  return wqe;
}

nic::Wqe Rig::fetch_add(std::uint64_t into, std::uint64_t at, std::uint64_t add) const {
  nic::Wqe wqe = write(into, at);
  wqe.opcode = nic::Opcode::fetch_add;
  wqe.compare_add = add;
  return wqe;
}

nic::Wqe Rig::compare_swap(std::uint64_t into, std::uint64_t at, std::uint64_t expected, std::uint64_t desired) const {
  nic::Wqe wqe = write(into, at);
  wqe.opcode = nic::Opcode::compare_swap;
  wqe.compare_add = expected;
  wqe.swap = desired;
  return wqe;
}

void Rig::loop_back() {
  qp = system.create_qp(0, cq, 16, 0);
  system.connect(qp, system.create_qp(0, cq, 1));
}

nic::Wqe Rig::to_self(nic::Wqe wqe, std::uint64_t offset) const {
  wqe.rkey = local.rkey;
  wqe.remote = local.base + offset;
  return wqe;
}

void Rig::post(std::vector<nic::Wqe> wqes) {
  system.create_thread(0);
  scripts.steps.emplace_back([this, posted = std::move(wqes)](nic::Cpu& cpu) {
    if (cpu.post_send(qp, posted) != nic::PostResult::ok) throw std::logic_error("not posted");
    cpu.stop();
  });
}

std::vector<nic::Cqe> Rig::post_and_run(const std::vector<nic::Wqe>& wqes, bool linked) {
  system.create_thread(0, system.now());
  std::size_t next = 0;
  scripts.steps.emplace_back([&, linked](nic::Cpu& cpu) {
    const std::size_t count = linked ? wqes.size() : 1;
    if (next < wqes.size()) {
      if (cpu.post_send(qp, {wqes.data() + next, count}) != nic::PostResult::ok) throw std::logic_error("not posted");
      next += count;
    }
    if (next < wqes.size()) return cpu.resume_when_drained();
    cpu.stop();
  });
  recorder.cqes.clear();
  run();
  std::vector<nic::Cqe> cqes;
  for (const Recorder::Completed& c : recorder.cqes) cqes.push_back(c.cqe);
  return cqes;
}

std::vector<std::uint8_t> pattern(std::size_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> out(size);
  for (auto& b : out) b = static_cast<std::uint8_t>(random());
  return out;
}

std::vector<nic::Status> statuses(const std::vector<nic::Cqe>& cqes) {
  std::vector<nic::Status> out;
  for (const nic::Cqe& c : cqes) out.push_back(c.status);
  return out;
}

nic::Wqe towards(const nic::MemoryRegion& region, nic::Wqe wqe) {
  wqe.rkey = region.rkey;
  wqe.remote = region.base;
  return wqe;
}

nic::HardwareProfile plain() {
  nic::HardwareProfile p;
  p.nic_word_order = nic::WordOrder::ascending;
  p.pcie_mps = 256_B;
  p.pcie_read_completion = 256_B;
  p.pcie_upstream = 31_ns;
  p.pcie_downstream = 37_ns;
  p.pcie_read_access = 90_ns;
  p.pcie_write_commit = 85_ns;
  p.pcie_ordering_domain = nic::OrderingDomain::nic;
  p.nic_wqe_start = 53_ns;
  p.nic_transmit = 59_ns;
  p.nic_receive = 61_ns;
  p.nic_inline_max = 64_B;
  p.link_ideal = false;
  p.link_delay = 73_ns;
  return p;
}

void Rig::run() {
  nic::Context context{scripts, &recorder};
  while (system.step(context)) {
  }
}

void Rig::run_random(std::uint64_t seed, nic::Observer* observer, const std::function<void()>& look) {
  nic::Context context{scripts, observer};
  std::uint64_t random = seed + 1;
  while (!system.idle()) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    system.step(context, (random >> 33U) % system.pending_events());
    if (look) look();
  }
}

void Rig::fill(nic::NodeId node, std::uint64_t offset, const std::vector<std::uint8_t>& content) {
  system.write_memory(node, (node == 0 ? local : remote).base + offset, std::as_bytes(std::span(content)));
}

std::vector<std::uint8_t> Rig::bytes(nic::NodeId node, std::uint64_t offset, std::size_t size) const {
  std::vector<std::uint8_t> out(size);
  system.read_memory(node, (node == 0 ? local : remote).base + offset, std::as_writable_bytes(std::span(out)));
  return out;
}

namespace {
std::int64_t in_base_unit(const options::Option& field, const std::string& text) {
  if (field.type == options::Type::boolean) return text == "true" ? 1 : 0;
  if (field.type == options::Type::choice) {
    return std::find(field.choices.begin(), field.choices.end(), text) - field.choices.begin();
  }
  static const std::map<std::string, double> kUnits = {
      {"", 1},          {"ps", 1},  {"ns", 1e3},   {"us", 1e6},
      {"ms", 1e9},      {"B", 1},   {"KiB", 1024}, {"MiB", 1024 * 1024},
      {"GiB", 1 << 30}, {"bps", 1}, {"Gbps", 1e9}};
  std::size_t end = 0;
  const double number = std::stod(text, &end);
  return std::llround(number * kUnits.at(text.substr(end)));
}
}  // namespace

nic::HardwareProfile profile_file(const std::string& name) {
  using yaml::Node;
  const Node document = yaml::load_document(std::string(LOCO_SIM_HARDWARE_DIR) + "/" + name + ".yaml");
  const Node* base = document.find("base");
  nic::HardwareProfile profile;
  if (base != nullptr) profile = profile_file(base->text);
  for (const options::Option& field : nic::profile_options()) {
    const auto dot = field.key.find('.');
    const Node* group = document.find(field.key.substr(0, dot));
    const Node* value = group == nullptr ? nullptr : group->find(field.key.substr(dot + 1));
    const bool by_width = field.key == "pcie.rate" && profile.pcie_generation != 0;
    if (value == nullptr || value->kind == Node::Kind::null) {
      if (base != nullptr || by_width) continue;
      throw std::invalid_argument(name + ".yaml does not set " + std::string(field.key));
    }
    nic::set_value(profile, field, in_base_unit(field, value->text));
  }
  return profile;
}

nic::HardwareProfile real() { return profile_file("cx5-roce-25g"); }

}  // namespace loco::test
