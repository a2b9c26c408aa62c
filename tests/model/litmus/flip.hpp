// Which litmus tests notice a change of one cell of the stamp order (LOCO paper, Fig. 10).
#pragma once

#include <string>
#include <vector>

#include "model/litmus/language/program.hpp"
#include "model/stamps.hpp"

namespace loco::model::litmus::test {

struct Flip {
  std::string cell;  ///< `B1`
  Cell from, to;
  std::vector<std::string> noticed_by;  ///< tests whose verdict is no longer ok
};

/// Every other value of every cell: yes <-> no, and same_node to either. Only `cells` if it is not empty.
[[nodiscard]] std::vector<Flip> flip_all(const std::vector<Program>& programs);

[[nodiscard]] std::string describe(const Flip& flip);

}  // namespace loco::model::litmus::test
