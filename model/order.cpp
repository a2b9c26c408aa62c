#include "model/order.hpp"

namespace loco::model {

Order::Order(const TraceIndex& index, bool materialise) : index_(&index), materialise_(materialise) {
  points_ = first_extra();
}

PointId Order::new_extra(const Extra& extra) {
  extras_.push_back(extra);
  return points_++;
}

Point Order::synthesise(CallId call, Stamp stamp, std::uint32_t peer, Seq when) {
  const std::uint64_t unfinished = (std::uint64_t{1} << 63) | (2 * index_->call(call).begin + 1);
  Point p{when == kNever ? unfinished : 2 * when + 2, kNoPoint, true};
  if (materialise_) p.id = new_extra({call, stamp, peer});
  return p;
}

Point Order::join(const Point& a, const Point& b) {
  if (!a.exists) return b;
  if (!b.exists) return a;
  Point chain{std::max(a.position, b.position), kNoPoint, true};
  if (materialise_) {
    chain.id = new_extra({});
    add(a, chain, Rule::ppo);
    add(b, chain, Rule::ppo);
  }
  return chain;
}

}  // namespace loco::model
