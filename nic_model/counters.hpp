// Counters of what has happened so far, with their names in reports.
#pragma once

#include <array>
#include <cstdint>

namespace loco::nic {

struct Counters {
  std::uint64_t events = 0;
  std::uint64_t packets_sent = 0;
  std::uint64_t wire_bytes_sent = 0;
  std::uint64_t tlps_up = 0;
  std::uint64_t tlps_down = 0;
  std::uint64_t pcie_bytes_up = 0;
  std::uint64_t pcie_bytes_down = 0;
  std::uint64_t doorbells = 0;
  std::uint64_t work_requests = 0;
  std::uint64_t completions = 0;
  std::uint64_t packets_lost = 0;     ///< by the network
  std::uint64_t retransmissions = 0;  ///< number of times that a requester went back
  std::uint64_t timeouts = 0;
  std::uint64_t rnr_naks = 0;
  std::uint64_t out_of_buffer = 0;   ///< messages of unreliable queue pairs that found no receive
  std::uint64_t rx_discards = 0;     ///< packets that found a NIC's receive buffer full (mlx5: rx_discards_phy)
  std::uint64_t tx_pauses = 0;       ///< times a NIC paused its link (mlx5: tx_pause_ctrl_phy)
  std::uint64_t cache_misses = 0;    ///< of NICs' caches of contexts, translations and read states
  std::uint64_t reads_squashed = 0;  ///< with pcie.read_ordering: speculative

  bool operator==(const Counters&) const = default;
};

struct NamedCounter {
  const char* name;
  std::uint64_t Counters::*member;
};

inline constexpr std::array kCounters = {
    NamedCounter{"events", &Counters::events},
    NamedCounter{"packets_sent", &Counters::packets_sent},
    NamedCounter{"wire_bytes_sent", &Counters::wire_bytes_sent},
    NamedCounter{"tlps_up", &Counters::tlps_up},
    NamedCounter{"tlps_down", &Counters::tlps_down},
    NamedCounter{"pcie_bytes_up", &Counters::pcie_bytes_up},
    NamedCounter{"pcie_bytes_down", &Counters::pcie_bytes_down},
    NamedCounter{"doorbells", &Counters::doorbells},
    NamedCounter{"work_requests", &Counters::work_requests},
    NamedCounter{"completions", &Counters::completions},
    NamedCounter{"packets_lost", &Counters::packets_lost},
    NamedCounter{"retransmissions", &Counters::retransmissions},
    NamedCounter{"timeouts", &Counters::timeouts},
    NamedCounter{"rnr_naks", &Counters::rnr_naks},
    NamedCounter{"out_of_buffer", &Counters::out_of_buffer},
    NamedCounter{"rx_discards", &Counters::rx_discards},
    NamedCounter{"tx_pauses", &Counters::tx_pauses},
    NamedCounter{"cache_misses", &Counters::cache_misses},
    NamedCounter{"reads_squashed", &Counters::reads_squashed},
};
static_assert(kCounters.size() * sizeof(std::uint64_t) == sizeof(Counters), "each counter has a name");

}  // namespace loco::nic
