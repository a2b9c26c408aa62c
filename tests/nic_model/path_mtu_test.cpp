// Two ends of a connection with different path MTUs, which a program gets that asks its own port only (reported of
// Mooncake's transfer engine and of NCCL: remote invalid request, local length error).
//
// IBTA volume 1, 9.7.4.1: a responder refuses a packet that is longer than its path MTU, or that is not the last of its
// message and shorter: NAK, invalid request. A requester does not take such a packet of READ data. So exactly those
// messages pass whose packets are the same with both MTUs: those of one packet.
#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::ModifyResult;
using nic::QpState;
using nic::Status;

namespace {

nic::HardwareProfile wide() {
  nic::HardwareProfile p = real();
  p.link_mtu = {4096};
  return p;
}

/// Node 0 posts with one path MTU, node 1 has the other.
struct Ends : Pair {
  Ends(std::uint32_t mine, std::uint32_t theirs, nic::QpType type = nic::QpType::rc,
       const nic::HardwareProfile& profile = wide())
      : Pair(profile, unconnected(0, type)) {
    for (const std::size_t end : {0U, 1U}) {
      nic::QpAttributes attributes{.dest_qp = qp[1 - end], .path_mtu = end == 0 ? mine : theirs};
      attributes.timeout = profile.nic_ack_timeout;
      test::bring_up(system, qp[end], attributes);
    }
  }
};

enum class Verb { write, send, read };

Status outcome(Ends& ends, Verb op, std::uint32_t length) {
  const auto expected = ends.fill(op == Verb::read ? 1 : 0, 0, length, length);
  if (op == Verb::send) ends.receive(1, 8192, 8192);
  ends.post({op == Verb::write  ? ends.write(0, 8192, length)
             : op == Verb::read ? ends.read(8192, 0, length)
                                : ends.send(0, length)});
  ends.run();
  const std::vector<Status> statuses = ends.statuses(0);
  REQUIRE(statuses.size() == 1);
  const bool arrived = ends.bytes(op == Verb::read ? 0 : 1, 8192, length) == expected;
  CHECK(arrived == (statuses[0] == Status::success));
  const QpState left = statuses[0] == Status::success ? QpState::rts : QpState::error;
  CHECK(ends.system.qp_state(ends.qp[0]) == left);
  return statuses[0];
}

}  // namespace

TEST_CASE("ends of different path MTUs: what is one packet for both passes, the rest is refused") {
  for (const auto& [mine, theirs] : {std::pair{1024U, 4096U}, std::pair{4096U, 1024U}, std::pair{512U, 256U}}) {
    for (const Verb op : {Verb::write, Verb::send, Verb::read}) {
      for (const std::uint32_t length : {1U, 256U, 257U, 1024U, 1025U, 2048U, 4096U, 4097U, 8192U}) {
        INFO(mine << " and " << theirs << ", operation " << static_cast<int>(op) << ", " << length << " bytes");
        Ends ends(mine, theirs);
        const Status refused = op == Verb::read ? Status::loc_len_err : Status::rem_inv_req_err;
        CHECK(outcome(ends, op, length) == (length <= std::min(mine, theirs) ? Status::success : refused));
      }
    }
  }
}

TEST_CASE("both ends of a small path MTU: as many packets as it takes, the data as it was") {
  for (const Verb op : {Verb::write, Verb::send, Verb::read}) {
    Ends ends(256, 256);
    CHECK(outcome(ends, op, 5000) == Status::success);
    CHECK(ends.system.counters().packets_sent == 20 + 1);  // 5000 bytes in packets of 256, and an ACK or a request
  }
}

TEST_CASE("unreliable connections drop what does not fit, and tell nobody") {
  Ends ends(4096, 1024, nic::QpType::uc);
  const auto data = ends.fill(0, 0, 8192, 1);
  ends.post({ends.write(0, 16384, 4096), ends.write(0, 32768, 1024)});
  ends.run();
  CHECK(ends.statuses(0) == std::vector{Status::success, Status::success});
  CHECK(ends.bytes(1, 16384, 4096) == std::vector<std::uint8_t>(4096));
  CHECK(ends.bytes(1, 32768, 1024) == std::vector<std::uint8_t>(data.begin(), data.begin() + 1024));
}

TEST_CASE("out of order, a packet that does not fit is refused in its turn") {
  nic::HardwareProfile p = wide();
  p.nic_placement = nic::Placement::out_of_order;
  Ends ends(4096, 1024, nic::QpType::rc, p);
  CHECK(outcome(ends, Verb::write, 8192) == Status::rem_inv_req_err);
}

TEST_CASE("a path MTU is one that verbs have and the port carries") {
  const auto result = [](std::uint64_t port, std::uint32_t mtu) {
    nic::HardwareProfile p = real();
    p.link_mtu = {port};
    Pair pair(p, unconnected());
    REQUIRE(pair.system.modify_qp(pair.qp[0], QpState::init) == ModifyResult::ok);
    return pair.system.modify_qp(pair.qp[0], QpState::rtr, {.dest_qp = pair.qp[1], .path_mtu = mtu});
  };
  for (const std::uint32_t mtu : {0U, 256U, 512U, 1024U, 2048U, 4096U}) CHECK(result(4096, mtu) == ModifyResult::ok);
  for (const std::uint32_t mtu : {1U, 128U, 1000U, 8192U}) CHECK(result(4096, mtu) == ModifyResult::invalid_attribute);
  CHECK(result(1024, 2048) == ModifyResult::invalid_attribute);
  CHECK(result(1504, 1504) == ModifyResult::ok);  // a what-if of the link
  CHECK(result(16384, 8192) == ModifyResult::invalid_attribute);
}
