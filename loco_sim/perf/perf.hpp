// perftest for the simulator: latency and bandwidth of verbs between two hosts, measured as perftest
// (github.com/linux-rdma/perftest) measures them, and of bare DMA, as pcie-bench does.
//
// write_lat and send_lat are half a round trip: of a ping-pong in which each side waits for the last byte in its memory
// (write) or for a receive completion (send). read_lat and atomic_lat are full round trips, completion polled. Costs of
// the CPU are part of all of them. The *_bw tests keep `depth` messages of each queue pair under way and signal
// every 100th; with `post_list`, as perftest does, as many as go behind one doorbell. dma_* tests have neither CPU nor
// network: a device reads and writes the memory of its host.
// A result is a function of the options. Runs share nothing. Throws std::invalid_argument when options do not fit: an
// OptionError when it is one of them that does not.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nic_model/profile.hpp"
#include "nic_model/usage.hpp"
#include "nic_model/verbs.hpp"
#include "sim/budget.hpp"

namespace loco::perf {

enum class Test : std::uint8_t {
  write_lat,
  read_lat,
  send_lat,
  atomic_lat,
  write_bw,
  read_bw,
  send_bw,
  atomic_bw,
  dma_read_lat,
  dma_write_read_lat,  ///< a write, and a read behind it
  dma_read_bw,
  dma_write_bw,
};
inline constexpr std::array<std::string_view, 12> kTestNames = {
    "write_lat", "read_lat",  "send_lat",     "atomic_lat",         "write_bw",    "read_bw",
    "send_bw",   "atomic_bw", "dma_read_lat", "dma_write_read_lat", "dma_read_bw", "dma_write_bw"};
[[nodiscard]] constexpr std::string_view name(Test test) { return kTestNames.at(static_cast<std::size_t>(test)); }

/// perftest's -c, in the order of nic::QpType.
inline constexpr std::array<std::string_view, 3> kConnectionNames = {"RC", "UC", "UD"};

[[nodiscard]] constexpr bool is_bandwidth(Test t) {
  return (t >= Test::write_bw && t <= Test::atomic_bw) || t >= Test::dma_read_bw;
}
[[nodiscard]] constexpr bool is_dma(Test t) { return t >= Test::dma_read_lat; }
[[nodiscard]] constexpr bool is_atomic(Test t) { return t == Test::atomic_lat || t == Test::atomic_bw; }

/// What lies between the two sides. `loopback`: both are on one host, and its NIC sends to itself.
enum class Way : std::uint8_t { back_to_back, star, loopback };
inline constexpr std::array<std::string_view, 3> kWayNames = {"back_to_back", "star", "loopback"};

inline constexpr std::uint32_t kQueuePairsMax = 16384;  ///< perftest's MAX_QP_NUM

struct Options {
  Test test = Test::write_lat;
  nic::HardwareProfile profile{};
  Way topology = Way::back_to_back;
  /// RC; UC has WRITE and SEND, UD SENDs of at most the MTU. What is not reliable waits for no receiver: messages that
  /// find no receive are lost, and the figures are those of the sender, as perftest's are.
  nic::QpType connection = nic::QpType::rc;
  std::uint64_t size = 2;         ///< bytes of a message; 8 for atomics
  std::uint32_t iterations = 0;   ///< messages of each queue pair; 0: default_iterations()
  std::uint32_t queue_pairs = 1;  ///< in all, in each direction
  /// Each with its share of the queue pairs. Of bidirectional runs each posts to its queue pairs of one direction and
  /// takes the receives of those of the other, as perftest's one thread does.
  std::uint32_t threads = 1;
  std::uint32_t depth = 128;                     ///< messages of a queue pair under way, bandwidth tests
  std::uint32_t rx_depth = 512;                  ///< receives of a queue pair, send_bw; perftest's -r
  std::uint32_t post_list = 1;                   ///< work requests linked behind one doorbell
  std::optional<std::uint32_t> inline_max = {};  ///< largest inline message; unset: default_inline()
  std::uint64_t region = 0;                      ///< remote memory over which messages are spread; 0: one place each
  bool device_memory = false;                    ///< the remote memory is on its NIC
  bool relaxed_ordering = false;                 ///< memory that NICs write is registered so, bandwidth tests
  bool copy = false;                             ///< both sides copy each message, as MPI does with short ones
  std::uint64_t seed = 1;                        ///< of the places in `region`
  bool bidirectional = false;                    ///< both hosts send: perftest's -b, bandwidth tests
  sim::Duration duration{};                      ///< post for so long, bandwidth tests; zero: `iterations`
  std::uint32_t signal_every = 0;                ///< perftest's -Q, bandwidth tests; 0: its default
  std::function<bool()> interrupted = {};        ///< asked now and then; true ends the run with Interrupted
};

/// An option that does not fit the test, or the options beside it.
class OptionError : public std::invalid_argument {
 public:
  /// what(): `depth: expected ..., found ...`. `option`: the member of Options, of static storage.
  OptionError(std::string_view option, const std::string& problem)
      : std::invalid_argument(std::string(option) + ": " + problem), option_(option), problem_(problem) {}
  [[nodiscard]] std::string_view option() const { return option_; }
  /// what() without the option, for who has another name for it.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  std::string_view option_;
  std::string problem_;
};

/// perftest's: 1000, but 5000 for the bandwidth of writes; fewer for messages above 64 KiB: 256 MiB in all.
[[nodiscard]] std::uint32_t default_iterations(Test test, std::uint64_t size);
/// perftest's limits on mlx5: 220 for the latency of writes, 236 of sends, else 0; at most what the NIC takes.
[[nodiscard]] std::uint32_t default_inline(Test test, const nic::HardwareProfile& profile);
/// The longest message of perftest's -a: 2^23 bytes; on UD the MTU.
[[nodiscard]] std::uint64_t longest(nic::QpType connection, const nic::HardwareProfile& profile);
/// perftest's default message size: 2 for latency, 65536 for bandwidth, 8 for atomics; `most` at most.
[[nodiscard]] std::uint64_t default_size(Test test, std::uint64_t most);

using sim::Interrupted;  // Options::interrupted said so

struct Result {
  std::uint64_t size = 0;
  std::uint64_t iterations = 0;  ///< messages in all
  // Latency tests: microseconds, worked out as perftest does, one sample fewer than messages, without the two largest;
  // but t_stdev has the whole deviations, of which perftest takes whole microseconds.
  double t_min = 0;
  double t_max = 0;      ///< the lesser one of the two largest
  double t_typical = 0;  ///< the median
  double t_avg = 0;
  double t_stdev = 0;
  double t_99 = 0;
  double t_999 = 0;
  // bandwidth tests: bytes and messages a second of simulated time
  double peak = 0;  ///< best stretch of the run; of more than 20,000 messages, best tenth
  double average = 0;
  double rate = 0;
  std::array<double, 2> sent{};    ///< with Options::bidirectional: the averages of both hosts, their sum is `average`
  std::uint64_t cache_misses = 0;  ///< of both NICs
  /// Bandwidth tests: what was busiest from the first post to the last completion, the greatest share first.
  std::vector<nic::Usage> busiest{};
};
/// How many resources Result::busiest has at most.
inline constexpr std::size_t kBusiestMax = 5;

[[nodiscard]] Result run(const Options& options);

/// A figure of a result, by a name that ends in its unit.
struct Column {
  std::string_view name;
  std::variant<std::uint64_t, double> value;
};
/// What JSON and Python show of a result, in this order: figures of latency or of bandwidth, whichever was measured.
[[nodiscard]] std::vector<Column> columns(Test test, const Result& result);

/// perftest's -a: 2, 4, ... `most` bytes; for atomics 8.
[[nodiscard]] std::vector<std::uint64_t> all_sizes(Test test, std::uint64_t most);

}  // namespace loco::perf
