#include "loco_sim/loco/objects/shared_bytes.hpp"

#include "loco_sim/loco/operations/networked_node.hpp"

namespace loco {

shared_bytes::shared_bytes(networked_node& mgr, std::string_view name, std::uint64_t size, std::string terms)
    : shared_bytes(mgr, name, size, expect_num{mgr.num_nodes() - 1}, std::move(terms)) {}

shared_bytes::shared_bytes(networked_node& mgr, std::string_view name, std::uint64_t size, expect_num expected,
                           std::string terms)
    : channel(mgr, name, expected), shared_region(*this, full_name(), "val", size) {
  start(std::move(terms));
}

shared_bytes::shared_bytes(channel& parent, std::string_view name, std::uint64_t size, expect_num expected,
                           std::string terms)
    : channel(parent, name, expected), shared_region(*this, full_name(), "val", size) {
  start(std::move(terms));
}

void shared_bytes::start(std::string terms) {
  set_terms(std::move(terms));
  join();
}

}  // namespace loco
