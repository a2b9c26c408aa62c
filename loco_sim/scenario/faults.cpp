// Descriptions of the deliberate faults.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "loco_sim/scenario/scenario.hpp"

namespace loco::scenario {

namespace {

struct FaultDoc {
  std::string_view name;
  std::string_view doc;
};

constexpr std::array kFaultDocs = {
    FaultDoc{"posted_passes_posted", "posted PCIe writes of one ordering domain commit in any order"},
    FaultDoc{"read_does_not_flush", "a PCIe read passes posted writes issued before it"},
    FaultDoc{"completion_before_data", "a completion queue entry does not stay behind the data it announces"},
    FaultDoc{"doorbell_before_stores", "a doorbell passes the thread's earlier stores"},
    FaultDoc{"payload_reads_reorder", "payload reads of one queue pair take effect in any order"},
    FaultDoc{"fence_ignored", "the fence flag of a work request is not honoured"},
    FaultDoc{"responder_reorders", "requests of one queue pair are executed in any order"},
    FaultDoc{"early_write_completion", "a write completes before its payload has been read"},
    FaultDoc{"atomic_replayed", "an atomic whose request comes again, its answer being lost, is executed again"},
    FaultDoc{"barrier_without_fence", "barriers do not fence: the first bug of the LOCO paper's Appendix D"},
    FaultDoc{
        "guards_read_forward",
        "guards of mixed-size variables are read in the order in which they are written: the second bug of Appendix D"},
    FaultDoc{"ring_without_wait",
             "a ring buffer overwrites its head before the NIC has read it for the message before"},
    FaultDoc{"lock_released_before_data",
             "a LOCO lock is let go first, and what was written under it is fenced behind that"},
    FaultDoc{"lock_without_home_fence",
             "letting go of a LOCO lock does not fence its home, though the turn may be told to another node"},
    FaultDoc{"lock_by_get_and_put", "tickets of LOCO locks are drawn by a get and a put in place of an atomic"},
    FaultDoc{"lock_by_home_cas",
             "the CPUs of a LOCO lock's home draw its tickets by their own compare-and-swap, others by the NIC's"},
};

}  // namespace

std::string fault_description(const std::string& name) {
  const auto* const doc =
      std::find_if(kFaultDocs.begin(), kFaultDocs.end(), [&](const FaultDoc& d) { return d.name == name; });
  if (doc == kFaultDocs.end()) throw std::out_of_range("no fault " + name);
  return std::string(doc->doc);
}

}  // namespace loco::scenario
