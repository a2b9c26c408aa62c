#include "tests/loco_sim/worlds/probes.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "probe/probe.hpp"

namespace loco::test {

namespace {

// Who reaches them was measured, by running the tests named here with the same counters.
constexpr std::string_view kConnections = "queue pairs that are RESET or fail: tests/nic_model/reset_test.cpp";
constexpr std::string_view kReconnecting =
    "programs that reconnect: tests/loco_sim/loco/reconnection_test.cpp, lives_test.cpp";
constexpr std::string_view kStore =
    "a store among nodes that come and go: tests/loco_sim/loco/reconnection_runs_test.cpp";
constexpr std::string_view kLongStore = "many operations on few keys: tests/loco_sim/loco/kvstore_test.cpp";
constexpr std::string_view kLocks =
    "a node that stops with a lock, or waiting: tests/loco_sim/loco/mutex_failure_test.cpp";
constexpr std::string_view kContention = "a lock that three draw at once: tests/loco_sim/loco/mutex_test.cpp";
constexpr std::string_view kRings =
    "long runs of small rings: tests/loco_sim/loco/ring_buffer_test.cpp, failure_test.cpp";
constexpr std::string_view kObjects = "objects that go while others use them: tests/loco_sim/loco/lives_test.cpp";
constexpr std::string_view kUnreliable = "UC and UD: tests/nic_model/unreliable_test.cpp";
constexpr std::string_view kTransports = "one set-up each: test_nic_transports";
constexpr std::string_view kNic = "one set-up each: test_nic_model";
constexpr std::string_view kFabric = "networks that are fuller than these: test_fabric";
constexpr std::string_view kTorn = "values that are read while they change: tests/loco_sim/loco/mixed_size_test.cpp";
constexpr std::string_view kFew = "few networks draw it";
constexpr std::string_view kNobody = "no test of this tree is known to reach it";

constexpr auto kRare = std::to_array<Rare>({
    {"ack_word_still_in_use", kObjects},
    {"all_paths_down", kFabric},
    {"all_psns_acknowledged_at_once", kNobody},
    {"answer_of_a_past_connection", kNobody},
    {"atomic_leaves_without_operands", "nic.stale_operands, which explorations have: tests/loco_sim/explore"},
    {"atomic_of_a_past_connection", kConnections},
    {"completion_of_a_past_connection", kReconnecting},
    {"completion_queue_overruns", kTransports},
    {"completion_waits_for_device_memory", kNobody},
    {"data_that_nobody_waits_for", kNobody},
    {"datagram_finds_no_receive", kUnreliable},
    {"duplicate_comes_trimmed", kNobody},
    {"early_read_answered_again", kTransports},
    {"failure_forgotten_as_a_node_is_taken_back", kReconnecting},
    {"feedback_never_echoed", kNobody},
    {"feedback_of_a_trimmed_packet", kTransports},
    {"fence_of_a_lock_fails", kLocks},
    {"guarded_value_torn", kTorn},
    {"headers_in_a_class_of_their_own", kNobody},
    {"headers_lost_at_a_link_that_is_down", kNobody},
    {"headers_lost_with_their_link", kNobody},
    {"hpcc_answer_by_another_way", kNobody},
    {"join_answered_too_late", kObjects},
    {"join_of_a_node_given_up", kReconnecting},
    {"kv_announcement_fails", kStore},
    {"kv_announcement_waits_for_room", kStore},
    {"kv_asks_another_node", kStore},
    {"kv_change_refused", kStore},
    {"kv_lock_kept_for_ever", kStore},
    {"kv_node_expelled", kStore},
    {"kv_node_learns_that_it_is_expelled", kStore},
    {"kv_node_leaves_the_store", kStore},
    {"kv_operation_fails_under_its_lock", kStore},
    {"kv_slot_of_another_key", kLongStore},
    {"kv_store_full", kLongStore},
    {"kv_value_torn", kLongStore},
    {"last_ack_taken_for_lost", kTransports},
    {"link_fails_while_paused", kFabric},
    {"lock_acquisition_fails", kLocks},
    {"lock_handover_fails", kLocks},
    {"lock_holder_does_not_answer", kLocks},
    {"lock_name_taken_before_it_was_claimed", kContention},
    {"lock_waiter_gives_up", kLocks},
    {"lock_waiter_has_taken_its_name_back", kContention},
    {"lock_waits_for_a_node_that_may_be_lost", kLocks},
    {"memory_offered_after_departure", kObjects},
    {"memory_still_written_to", kNobody},
    {"message_begins_in_the_middle", kConnections},
    {"nak_of_a_trimmed_packet", kTransports},
    {"node_taken_back", kReconnecting},
    {"nothing_left_to_send_again", kTransports},
    {"nscc_decrease", kTransports},
    {"packet_cut_off_by_a_failure", kFabric},
    {"packet_for_a_queue_given_up", kFabric},
    {"packet_trimmed_again", kTransports},
    {"pause_not_needed_after_all", kFabric},
    {"planted_and_not_reached", "planted by the test of this list"},
    {"psns_used_up", kTransports},
    {"quiet_operation_fails", kLocks},
    {"read_data_of_another_path_mtu", kTransports},
    {"read_of_a_past_connection", kConnections},
    {"receive_of_a_message_cut_short", kUnreliable},
    {"receive_too_short", kTransports},
    {"reconnection", kReconnecting},
    {"reconnection_begins_again", kNobody},
    {"reconnection_fails", kReconnecting},
    {"reorder_window_exceeded", kTransports},
    {"request_of_another_path_mtu", kTransports},
    {"reset_drops_requests", kConnections},
    {"responder_out_of_resources", kNic},
    {"ring_buffer_full", kRings},
    {"ring_buffer_leaves_readers_out", kRings},
    {"ring_buffer_looks_for_its_writer", kRings},
    {"ring_buffer_message_wraps", kRings},
    {"send_queue_error", kUnreliable},
    {"shared_queue_reaches_its_limit", kTransports},
    {"speculative_read_squashed", kNic},
    {"storm_ends_at_a_full_host", kNobody},
    {"stray_request_of_a_past_connection", kNobody},
    {"switch_sees_a_paused_port", kFabric},
    {"timer_for_few_packets_lengthened", kNobody},
    {"too_many_headers", kNobody},
    {"trimmed_packet_in_order", kFew},
    {"unreliable_message_cut_short", kUnreliable},
    {"unreliable_message_finds_no_receive", kUnreliable},
    {"waits_for_a_unit", kNic},
    {"watchdog_drops_a_queue", kFabric},
    {"watchdog_lets_a_queue_go_on", kFabric},
    {"watchdog_restores_a_queue", kFabric},
    {"wqes_fetched_too_late", kConnections},
    {"write_waits_for_shared_link", "PCIe trees: tests/nic_model/pcie_tree_test.cpp"},
});

bool holds(std::span<const Rare> rare, std::string_view name) {
  return std::ranges::find(rare, name, &Rare::name) != rare.end();
}

}  // namespace

std::span<const Rare> rare_in_worlds() { return kRare; }

std::vector<std::string> unreached(std::span<const Rare> rare) {
  std::vector<std::string> names;
  for (const probe::Probe* p : probe::all())
    if (p->count() == 0 && !holds(rare, p->name())) names.emplace_back(p->name());
  return names;
}

std::vector<std::string> unknown(std::span<const Rare> rare) {
  const std::vector<const probe::Probe*> all = probe::all();
  std::vector<std::string> names;
  for (const Rare& r : rare)
    if (std::ranges::find(all, r.name, &probe::Probe::name) == all.end()) names.emplace_back(r.name);
  return names;
}

std::string reached_text(std::span<const Rare> rare) {
  std::string text;
  for (const probe::Probe* p : probe::all())
    text += fmt::format("{:>10} {}{}\n", p->count(), p->name(), holds(rare, p->name()) ? " (rare)" : "");
  return text;
}

}  // namespace loco::test
