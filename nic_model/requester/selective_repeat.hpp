// Selective repeat: decides which PSNs of a queue pair have to be sent again, and no others (nic.recovery).
//
// It follows IRN (Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018, section 3; ConnectX NICs have
// such a mode, selective_repeat in their ROCE_ACCL register; SRD: Shalev et al., "A Cloud-Optimized Transport Protocol
// for Elastic and Scalable HPC", IEEE Micro 2020). For each request after a gap, the responder reports which one has
// arrived and what is missing. A packet counts as lost when one sent later has arrived. A repeated packet counts as
// sent later, so its own loss is detected too. Answers are data of READs and results of atomics; they leave the
// responder in the order of the requests, so an answer counts as lost when the answer to a later request has arrived.
// With a tolerance, "later" means later by more than that, because networks with several paths reorder.
//
// A packet that a switch has trimmed is lost, and known to be. Sent again at once and trimmed again for ever, such
// packets' headers can take so much of a port that no data leaves it (docs/transports.md). So they back off.
//
// The loss of the last packets is not detected this way; the timer covers it (retransmit.cpp). A needless repetition is
// harmless, since responders take each PSN once. An answer that follows a repetition sooner than any answer so far
// belongs to the earlier transmission, and proves nothing about packets sent in between (as in RACK, RFC 8985, section
// 6.2). Private to nic_model/.
#pragma once

#include <array>
#include <cstdint>

#include "fabric/packet.hpp"
#include "nic_model/engine/hash.hpp"
#include "sim/ring.hpp"
#include "sim/time.hpp"

namespace loco::nic {

class SelectiveRepeat {
 public:
  /// How a PSN is answered: by an ACK, which may cover many; by data, in the order of the requests; or by the data of a
  /// READ that is executed as it arrives.
  enum class Answer : std::uint8_t { ack, in_turn, as_it_comes };

  /// A request that takes [psn, psn + count) has been sent, perhaps again.
  void sent(fabric::Psn psn, std::uint32_t count, Answer answer, sim::SimTime at, std::uint16_t entropy = 0);
  /// Everything before `una` is answered and need not be tracked.
  void forget_before(fabric::Psn una);
  void clear();

  /// The time of an answer, and by how much packets may be reordered.
  struct Seen {
    sim::SimTime now{};
    sim::Duration tolerance{};
  };
  /// Request `psn` has reached the responder, and so has everything before `missing`.
  void reached(fabric::Psn psn, fabric::Psn missing, const Seen& seen);
  /// Of this packet only the headers have come. Trimmed again, it waits, and with it whatever is to be sent again:
  /// `most` at most.
  void trimmed(fabric::Psn psn, sim::SimTime now, sim::Duration most);
  /// Takes for lost those of these packets that are not known to have arrived.
  void lose_all_of(fabric::Psn psn, std::uint32_t count);
  /// Data for `psn` has arrived.
  void answered(fabric::Psn psn);
  /// An answer to `psn` has arrived: answers to requests sent earlier are lost if they have not arrived. `as_it_comes`:
  /// this holds for data of READs only.
  void answer_seen(fabric::Psn psn, bool as_it_comes, const Seen& seen);
  /// A timeout: everything not known to have arrived is lost; with `all` everything else, too.
  void time_out(bool all);

  /// True if something is to be sent again.
  [[nodiscard]] bool pending() const { return !repeats_.empty(); }
  /// The next PSN to send again. take() returns how many from it on are lost, at most `most`, which one READ request
  /// can ask for together, and marks them as in flight. Precondition: pending().
  [[nodiscard]] fabric::Psn next() const { return repeats_.front(); }
  /// The entropy of its latest transmission.
  [[nodiscard]] std::uint16_t entropy_of(fabric::Psn psn) const { return at(psn).entropy; }
  std::uint32_t take(std::uint32_t most);
  /// From then on: what was trimmed again has waited.
  [[nodiscard]] sim::SimTime from() const { return from_; }

  /// The PSNs to be sent again, oldest first.
  [[nodiscard]] const sim::Ring<fabric::Psn>& lost() const { return repeats_; }

  void hash(Hasher& h) const;
  /// True if every PSN to be sent again is tracked and lost.
  [[nodiscard]] bool consistent() const;
  bool operator==(const SelectiveRepeat&) const = default;

 private:
  enum class Where : std::uint8_t { on_its_way, there, done, lost };

  struct Tracked {
    sim::SimTime at{};        // latest transmission
    std::uint32_t count = 1;  // number of PSNs of the request that begins here
    std::uint16_t entropy = 0;
    Where where = Where::on_its_way;
    Answer answer = Answer::ack;
    bool again = false;      // sent more than once
    std::uint8_t trims = 0;  // sendings that only the headers have come of

    bool operator==(const Tracked&) const = default;
  };

  /// A transmission of a request; rings hold them in the order of sending.
  struct Sending {
    fabric::Psn psn{};
    std::uint32_t count = 1;
    sim::SimTime at{};

    bool operator==(const Sending&) const = default;
  };

  [[nodiscard]] bool knows(fabric::Psn psn) const;
  [[nodiscard]] Tracked& at(fabric::Psn psn) { return psns_[static_cast<std::size_t>(psn.distance(base_))]; }
  [[nodiscard]] const Tracked& at(fabric::Psn psn) const {
    return psns_[static_cast<std::size_t>(psn.distance(base_))];
  }
  void is_there(fabric::Psn psn);
  void lose(fabric::Psn psn);
  [[nodiscard]] bool tells_of_others(fabric::Psn psn, sim::SimTime now);
  void lose_requests(fabric::Psn psn, sim::Duration tolerance);
  void lose_answers(sim::Ring<Sending>& asked, fabric::Psn psn, sim::Duration tolerance);
  void lose_newest();
  void drop_forgotten();

  fabric::Psn base_{};  // PSN of psns_[0]
  sim::Ring<Tracked> psns_{};
  fabric::Psn there_{};                        // everything before it has reached the responder
  sim::Ring<Sending> requests_{};              // neither known to have arrived nor lost
  std::array<sim::Ring<Sending>, 2> asked_{};  // their data has not all arrived; [1]: READs executed as they arrive
  sim::Ring<fabric::Psn> repeats_{};
  sim::SimTime from_{};
  sim::Duration shortest_{};  // shortest time from a single transmission to its answer; 0: none yet
};

}  // namespace loco::nic
