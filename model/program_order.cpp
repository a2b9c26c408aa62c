#include "model/program_order.hpp"

namespace loco::model {
namespace {

constexpr RowClass row_class(Stamp s) {
  switch (s) {
    case Stamp::aCW:
      return RowClass::cpu_write;
    case Stamp::aNLR:
    case Stamp::aRF:
      return RowClass::nlr_fence;
    case Stamp::aNRW:
      return RowClass::nrw;
    case Stamp::aNRR:
      return RowClass::nrr;
    case Stamp::aNLW:
      return RowClass::nlw;
    case Stamp::aNAR:
      return RowClass::nar;
    default:
      return RowClass::always;
  }
}

constexpr std::array<Stamp, kRowClasses> kRepresentative = {Stamp::aCR,  Stamp::aCW,  Stamp::aNLR, Stamp::aNRW,
                                                            Stamp::aNRR, Stamp::aNLW, Stamp::aNAR};

constexpr bool has_family(RowClass c) { return c >= RowClass::nlr_fence; }

constexpr bool rows_agree() {
  for (std::size_t s = 0; s < kStamps; ++s)
    if (kStampOrder.cells[s] != kStampOrder.cells[static_cast<std::size_t>(
                                    kRepresentative[static_cast<std::size_t>(row_class(static_cast<Stamp>(s)))])])
      return false;
  return true;
}
static_assert(rows_agree(), "stamps of one class have equal rows");

using Mask = std::uint8_t;

}  // namespace

constexpr ProgramOrder::Masks ProgramOrder::make_masks() {
  Masks m;
  for (std::size_t col = 0; col < kStamps; ++col)
    for (std::size_t c = 0; c < kRowClasses; ++c) {
      const auto later = static_cast<Stamp>(col);
      if (kStampOrder.ordered(kRepresentative[c], later, true)) m.finish[col] |= static_cast<Mask>(1U << c);
      // Between an instant and an instant the finish edge says it already.
      const bool said = is_instant(kRepresentative[c]) && is_instant(later);
      if (issue_ordered(kRepresentative[c], later, true) && !said) m.start[col] |= static_cast<Mask>(1U << c);
    }
  return m;
}

/// A class whose later subevents are always after the earlier ones replaces their chain.
ProgramOrder::ProgramOrder(Order& order, std::uint32_t nodes, std::span<const StampPair> without)
    : order_(&order), masks_(make_masks()), slot_(nodes, 0) {
  replaces_.fill(true);
  replaces_[static_cast<std::size_t>(RowClass::nrr)] = false;
  for (const StampPair& cell : without) {
    const auto row = static_cast<std::size_t>(row_class(cell.earlier));
    const auto kept = static_cast<Mask>(~(1U << row));
    masks_.finish[static_cast<std::size_t>(cell.later)] &= kept;
    masks_.start[static_cast<std::size_t>(cell.later)] &= kept;
    if (row_class(cell.later) == row_class(cell.earlier)) replaces_[row] = false;
  }
}

void ProgramOrder::begin_thread() {
  thread_ = {};
  for (const std::uint32_t node : used_) slot_[node] = 0;
  used_.clear();
  peers_.clear();
}

ProgramOrder::Level& ProgramOrder::peer(std::uint32_t node) {
  if (slot_[node] == 0) {
    peers_.emplace_back();
    slot_[node] = static_cast<std::uint32_t>(peers_.size());
    used_.push_back(node);
  }
  return peers_[slot_[node] - 1];
}

void ProgramOrder::enter(Event& event, bool issue) {
  for (Node& y : event.nodes) {
    const auto column = static_cast<std::size_t>(y.stamp);
    const Level* at = is_family(y.stamp) ? &peer(y.peer) : nullptr;
    const Mask finish = masks_.finish[column];
    const Mask start = issue ? masks_.start[column] : Mask{0};
    const bool instant = is_instant(y.stamp);
    for (std::size_t c = 0; c < kRowClasses; ++c) {
      const bool family = has_family(static_cast<RowClass>(c));
      if (family && at == nullptr) continue;
      const Level& level = family ? *at : thread_;
      if ((finish >> c & 1U) != 0) order_->edge(level.finish[c], y.finish, Rule::ppo);
      if ((start >> c & 1U) == 0) continue;
      if (instant) {
        order_->edge(level.start[c], y.finish, Rule::ippo);
      } else {
        order_->edge_to_start(level.start[c], y.start, Rule::ippo);
      }
    }
  }
}

void ProgramOrder::leave(const Event& event, bool issue) {
  // Subevents of one event are not ordered among themselves: gather those of a class, then let them replace the chain.
  for (const Node& x : event.nodes) {
    const RowClass rows = row_class(x.stamp);
    const auto c = static_cast<std::size_t>(rows);
    Level& level = has_family(rows) ? peer(x.peer) : thread_;
    level.added_finish[c] = order_->join(level.added_finish[c], x.finish);
    if (issue) level.added_start[c] = order_->join(level.added_start[c], x.start);
  }
  settle(thread_);
  for (const Node& x : event.nodes)
    if (has_family(row_class(x.stamp))) settle(peer(x.peer));
}

void ProgramOrder::settle(Level& level) {
  for (std::size_t c = 0; c < kRowClasses; ++c) {
    const bool replaces = replaces_[c];
    const auto move = [&](Point& added, Point& chain) {
      if (!added.exists) return;
      chain = replaces ? added : order_->join(chain, added);
      added = {};
    };
    move(level.added_finish[c], level.finish[c]);
    move(level.added_start[c], level.start[c]);
  }
}

}  // namespace loco::model
