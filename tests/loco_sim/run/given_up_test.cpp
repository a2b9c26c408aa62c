// What a NIC gives up of the models' promises: the table of docs/queue-pairs.md, "Out-of-order placement".
#include "loco_sim/run/given_up.hpp"

#include <string>

#include "tests/catch.hpp"

using namespace loco;

TEST_CASE("each placement gives up the cells that the page says, and no others") {
  const auto cells = [](nic::Placement placement) {
    nic::HardwareProfile p;
    p.nic_placement = placement;
    std::string all;
    for (const GivenUp& g : given_up(p)) all += std::string(g.cell) + " ";
    return all;
  };
  const auto of = [](const nic::TransportOptions& transport) {
    nic::HardwareProfile p;
    p.transport = transport;
    std::string all;
    for (const GivenUp& g : given_up(p)) all += std::string(g.cell) + " ";
    return all;
  };
  using nic::TransportKind;
  using nic::UetMode;
  CHECK(of({.kind = TransportKind::srd}) == "G7 H9 I9 G8 G9 G11 ");
  CHECK(of({.kind = TransportKind::uet}) == "G7 H9 I9 G8 G9 G11 ");
  CHECK(of({.kind = TransportKind::uet, .mode = UetMode::rudi}) == "G7 H9 I9 G8 G9 G11 ");
  CHECK(of({.kind = TransportKind::uet, .mode = UetMode::rod}).empty());
  CHECK(cells(nic::Placement::in_order).empty());
  CHECK(cells(nic::Placement::serial).empty());
  CHECK(cells(nic::Placement::out_of_order) == "G7 H9 I9 ");
  CHECK(cells(nic::Placement::unordered) == "G7 H9 I9 G8 G9 G11 ");
  CHECK(cells(nic::Placement::reads_overtake) == "H9 I9 G8 G9 G11 ");
}
