#include "model/order.hpp"

namespace loco::model {

Order::Order(const TraceIndex& index, bool materialise) : index_(&index), materialise_(materialise) {
  points_ = first_extra();
}

Order Order::materialised(const TraceIndex& index, const Order& counted) {
  Order order(index, true);
  order.edges_.reserve(counted.edge_count_);
  order.rules_.reserve(counted.edge_count_);
  order.extras_.reserve(counted.points_ - order.points_);
  return order;
}

Point Order::synthesise(CallId call, Stamp stamp, std::uint32_t peer, Seq when) {
  const std::uint64_t unfinished = kPending | (2 * index_->call(call).begin + 1);
  Point p{when == kNever ? unfinished : 2 * when + 2, kNoPoint, true};
  p.id = new_extra({call, stamp, peer, p.position});
  return p;
}

Point Order::join(const Point& a, const Point& b) {
  if (!a.exists) return b;
  if (!b.exists) return a;
  const Point chain{std::max(a.position, b.position), new_extra({0, Stamp::aCR, 0, std::uint64_t{a.id} << 32 | b.id}),
                    true};
  add(a, chain, Rule::ppo);
  add(b, chain, Rule::ppo);
  return chain;
}

}  // namespace loco::model
