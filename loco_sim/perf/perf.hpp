// perftest for the simulator: latency and bandwidth of verbs between two hosts, measured as by perftest
// (github.com/linux-rdma/perftest), and of bare DMA, measured as by pcie-bench.
//
// write_lat and send_lat are half a round trip of a ping-pong in which each side waits for the last byte in its memory
// (write) or for a receive completion (send). read_lat and atomic_lat are full round trips up to the polled completion.
// All include CPU costs. The *_bw tests keep `depth` messages of each queue pair in flight and signal every 100th one;
// with `post_list`, as in perftest, one for each doorbell. dma_* tests have neither CPU nor network: a device reads and
// writes its host's memory. A result depends only on the options. Runs share nothing. Throws std::invalid_argument for
// inconsistent options; it is an OptionError if a single option is to blame.
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
  dma_write_read_lat,  ///< a write followed by a read
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

/// What is between the two sides. `loopback`: both are on one host, and its NIC sends to itself.
enum class Way : std::uint8_t { back_to_back, star, loopback };
inline constexpr std::array<std::string_view, 3> kWayNames = {"back_to_back", "star", "loopback"};

inline constexpr std::uint32_t kQueuePairsMax = 16384;  ///< perftest's MAX_QP_NUM
/// Work requests that all send queues, or all receive queues, of a direction may hold: perftest's default of 512
/// receives on each of its largest number of queue pairs.
inline constexpr std::uint32_t kQueueEntriesMax = 512 * kQueuePairsMax;

struct Options {
  Test test = Test::write_lat;
  nic::HardwareProfile profile{};
  Way topology = Way::back_to_back;
  /// RC has all operations, UC WRITE and SEND, UD SENDs of at most the MTU. Unreliable transports do not wait for the
  /// receiver: messages without a receive are lost, and results are the sender's, as in perftest.
  nic::QpType connection = nic::QpType::rc;
  std::uint64_t size = 2;         ///< bytes of a message; 8 for atomics
  std::uint32_t iterations = 0;   ///< messages of each queue pair; 0: default_iterations()
  std::uint32_t queue_pairs = 1;  ///< for each direction
  /// Each thread has its share of the queue pairs. In bidirectional runs each posts to its queue pairs of one direction
  /// and takes the receives of the other, like perftest's only thread.
  std::uint32_t threads = 1;
  std::uint32_t depth = 128;                     ///< messages of a queue pair in flight, in bandwidth tests
  std::uint32_t rx_depth = 512;                  ///< receives of a queue pair, send_bw; perftest's -r
  std::uint32_t post_list = 1;                   ///< work requests per doorbell
  std::optional<std::uint32_t> inline_max = {};  ///< largest inline message; unset: default_inline()
  std::uint64_t region = 0;                      ///< remote memory that messages are spread over; 0: one place each
  bool device_memory = false;                    ///< the remote memory is on the NIC
  bool relaxed_ordering = false;                 ///< memory that NICs write is registered so, in bandwidth tests
  bool copy = false;                             ///< both sides copy each message, like MPI for short ones
  std::uint64_t seed = 1;                        ///< for the places in `region`
  bool bidirectional = false;                    ///< both hosts send: perftest's -b, in bandwidth tests
  sim::Duration duration{};                      ///< duration of posting, in bandwidth tests; zero: `iterations`
  std::uint32_t signal_every = 0;                ///< perftest's -Q, in bandwidth tests; 0: its default
  std::function<bool()> interrupted = {};        ///< called now and then; true ends the run with Interrupted
};

/// An option that does not fit the test or the other options.
class OptionError : public std::invalid_argument {
 public:
  /// what(): `depth: expected ..., found ...`. `option`: the member of Options, in static storage.
  OptionError(std::string_view option, const std::string& problem)
      : std::invalid_argument(std::string(option) + ": " + problem), option_(option), problem_(problem) {}
  [[nodiscard]] std::string_view option() const { return option_; }
  /// what() without the option, for callers that have another name for it.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  std::string_view option_;
  std::string problem_;
};

/// perftest's: 1000, or 5000 for the bandwidth of writes; fewer for messages above 64 KiB, 256 MiB in total.
[[nodiscard]] std::uint32_t default_iterations(Test test, std::uint64_t size);
/// perftest's limits on mlx5: 220 for the latency of writes, 236 for sends, otherwise 0; at most what the NIC accepts.
[[nodiscard]] std::uint32_t default_inline(Test test, const nic::HardwareProfile& profile);
/// The longest message of perftest's -a: 2^23 bytes; on UD the MTU.
[[nodiscard]] std::uint64_t longest(nic::QpType connection, const nic::HardwareProfile& profile);
/// perftest's default message size: 2 for latency, 65536 for bandwidth, 8 for atomics, but at most `most`.
[[nodiscard]] std::uint64_t default_size(Test test, std::uint64_t most);

using sim::Interrupted;  // thrown if Options::interrupted returned true

struct Result {
  std::uint64_t size = 0;
  std::uint64_t iterations = 0;  ///< total number of messages
  // Latency tests, in microseconds. Computed as in perftest: one sample fewer than messages, without the two largest.
  // But t_stdev uses exact deviations, where perftest uses whole microseconds.
  double t_min = 0;
  double t_max = 0;      ///< the lesser of the two largest
  double t_typical = 0;  ///< the median
  double t_avg = 0;
  double t_stdev = 0;
  double t_99 = 0;
  double t_999 = 0;
  // bandwidth tests: bytes and messages per second of simulated time
  double peak = 0;  ///< best stretch of the run; with more than 20,000 messages the best tenth
  double average = 0;
  double rate = 0;
  std::array<double, 2> sent{};    ///< with Options::bidirectional: the averages of both hosts, whose sum is `average`
  std::uint64_t cache_misses = 0;  ///< of both NICs
  /// Bandwidth tests: the busiest resources from the first post to the last completion, greatest share first.
  std::vector<nic::Usage> busiest{};
};
/// Limit on the size of Result::busiest.
inline constexpr std::size_t kBusiestMax = 5;

[[nodiscard]] Result run(const Options& options);

/// A number of a result; its name ends in its unit.
struct Column {
  std::string_view name;
  std::variant<std::uint64_t, double> value;
};
/// What JSON and Python show of a result, in this order: latency or bandwidth, depending on the test.
[[nodiscard]] std::vector<Column> columns(Test test, const Result& result);

/// perftest's -a: 2, 4, ..., `most` bytes; only 8 for atomics.
[[nodiscard]] std::vector<std::uint64_t> all_sizes(Test test, std::uint64_t most);

}  // namespace loco::perf
