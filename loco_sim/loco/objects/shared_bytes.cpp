#include "loco_sim/loco/objects/shared_bytes.hpp"

#include "loco_sim/loco/operations/networked_node.hpp"

namespace loco {

shared_bytes::shared_bytes(within where, std::string_view name, std::uint64_t size, std::optional<expect_num> expected,
                           std::string terms)
    : channel(where, name, or_all(expected, where.num_nodes())), shared_region(*this, full_name(), "val", size) {
  set_terms(std::move(terms));
  join();
}

}  // namespace loco
