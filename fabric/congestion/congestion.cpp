#include "fabric/congestion/congestion.hpp"

namespace loco::fabric {

Congestion::Congestion(const CongestionSettings& settings, const CongestionPath& path) {
  const CongestionOptions& o = settings.others;
  switch (settings.algorithm) {
    case CongestionAlgorithm::none:
      break;
    case CongestionAlgorithm::dcqcn:
      kind_ = Dcqcn(path.line, settings.dcqcn);
      break;
    case CongestionAlgorithm::hpcc:
      kind_ = Hpcc(path);
      break;
    case CongestionAlgorithm::timely:
      kind_ = Timely(path, o.timely);
      break;
    case CongestionAlgorithm::swift:
      kind_ = Swift(path, o.swift);
      break;
    case CongestionAlgorithm::nscc:
      kind_ = Nscc(path, o.nscc);
      break;
  }
}

void Congestion::on_sent(sim::SimTime now, sim::Bytes wire, const CongestionSettings& settings) {
  if (auto* dcqcn = as<Dcqcn>()) dcqcn->on_bytes(now, wire, settings.dcqcn);
}

void Congestion::on_ack(sim::SimTime now, const Feedback& feedback, const CongestionSettings& settings) {
  const CongestionOptions& o = settings.others;
  if (auto* hpcc = as<Hpcc>()) hpcc->on_ack(now, feedback, o.hpcc);
  if (auto* timely = as<Timely>()) timely->on_ack(now, feedback, o.timely);
  if (auto* swift = as<Swift>()) swift->on_ack(now, feedback, o.swift);
  if (auto* nscc = as<Nscc>()) nscc->on_ack(now, feedback, o.nscc);
}

void Congestion::on_cnp(sim::SimTime now, const CongestionSettings& settings) {
  if (auto* dcqcn = as<Dcqcn>()) dcqcn->on_cnp(now, settings.dcqcn);
}

void Congestion::on_loss(sim::SimTime now, const Loss& loss, const CongestionSettings& settings) {
  if (auto* swift = as<Swift>()) swift->on_loss(now, settings.others.swift);
  if (auto* nscc = as<Nscc>()) nscc->on_loss(now, loss, settings.others.nscc);
}

void Congestion::on_timeout(sim::SimTime now, const CongestionSettings& settings) {
  if (auto* swift = as<Swift>()) swift->on_timeout(now, settings.others.swift);
}

sim::BitsPerSecond Congestion::rate() const {
  if (const auto* dcqcn = as<Dcqcn>()) return dcqcn->rate();
  if (const auto* hpcc = as<Hpcc>()) return hpcc->rate();
  if (const auto* timely = as<Timely>()) return timely->rate();
  if (const auto* swift = as<Swift>()) return swift->rate();
  return {};
}

std::uint64_t Congestion::window() const {
  if (const auto* hpcc = as<Hpcc>()) return hpcc->window();
  if (const auto* swift = as<Swift>()) return swift->window();
  if (const auto* nscc = as<Nscc>()) return nscc->window();
  return kNoWindow;
}

bool Congestion::may_send(std::uint64_t in_flight, std::uint64_t bytes) const {
  if (in_flight == 0) return true;
  const std::uint64_t most = window();
  return most == kNoWindow || in_flight + bytes <= most;
}

}  // namespace loco::fabric
