// Contended synchronisation (LOCO paper, App. B.1 and Fig. 19): one lock, and transfers between accounts under two
// locks.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "loco_sim/baselines/window_locks.hpp"
#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "loco_sim/workloads/payload.hpp"
#include "loco_sim/workloads/thread_team.hpp"
#include "sim/rng.hpp"

namespace loco::workloads {

namespace {

lock_fault fault_of(const LibraryFaults& faults) {
  if (faults.has(LibraryFault::lock_released_before_data)) return lock_fault::release_before_data;
  if (faults.has(LibraryFault::lock_without_home_fence)) return lock_fault::no_home_fence;
  if (faults.has(LibraryFault::lock_by_get_and_put)) return lock_fault::get_and_put;
  return faults.has(LibraryFault::lock_by_home_cas) ? lock_fault::home_cas : lock_fault::none;
}

mutex_options mutex_options_of(const Setup& setup) {
  return {.hand_overs_max = setup.params.count("hand_overs"),
          .fence = setup.params.get("fence") != 0,
          .fault = fault_of(setup.faults)};
}

constexpr std::array kLockClasses = {lock_class::strong, lock_class::weak, lock_class::node};  // as kLockClassNames

enum LockAlgorithm : std::int64_t { kLocoLock, kMpiWindow };
enum CounterPlace : std::int64_t { kOnOther, kOnHome };

/// The lock of an MPI window as a mutex.
class window_lock {
 public:
  window_lock(manager& mgr, std::string_view name) : locks_(mgr, name, 1) {}
  void lock() { locks_.lock(0); }
  void unlock() { locks_.unlock(0); }

 private:
  baselines::window_locks locks_;
};

/// True if a release waits for the operations under the lock. LOCO's locks fence them; before the release of a window's
/// lock they must be complete.
template <typename Lock>
constexpr bool kFences = std::is_base_of_v<mutex_array, Lock>;

/// What a thread does for the counter before a release that does not fence.
enum class Before : std::uint8_t { nothing, wait, fence };

/// Increments a counter on node `home` with a get and a put under the lock, which is on node 0.
template <typename Lock>
void count_under_lock(const Setup& setup, manager& mgr, Lock& lock, NodeId home, Before before) {
  Transport& node = mgr.transport();
  const std::uint32_t threads = setup.params.count("threads_per_node");
  const std::int64_t iterations = setup.params.get("iterations");
  var<std::uint64_t> counter(mgr, "counter");
  barrier bar(mgr, "bar", {.threads_per_node = threads});
  mgr.wait_for_ready();
  run_team(node, threads, [&](std::uint32_t) {
    mem_ref value(mgr, 8);
    ack_key key(mgr);
    for (std::int64_t i = 0; i < iterations; ++i) {
      const std::int64_t t0 = node.now_ps();
      lock.lock();  // no guard, so that an error ends the program, even one at the release
      setup.results.add("acquire", t0, node.now_ps(), kPartOfAnother);
      mgr.get(value.address(), counter.copy(home), 0, 8, &key);
      key.wait();
      value.store(value.load() + 1);
      mgr.put(value.address(), counter.copy(home), 0, 8, &key);
      if (before == Before::wait) key.wait();
      if (before == Before::fence) global_fence(mgr, home);
      lock.unlock();
      key.wait();  // before the value's block is used again
      setup.results.add("critical_section", t0, node.now_ps());
    }
    bar.waiting();
  });
  if (node.my_node() != home) return;
  const std::uint64_t expected = std::uint64_t{node.num_nodes()} * threads * static_cast<std::uint64_t>(iterations);
  setup.results.promise("lost_updates", expected - counter.load());
}

void lock_program(Transport& node, const Setup& setup) {
  manager mgr(node);
  // If the counter is on another node than the lock, the release needs a fence for the last increment to be seen.
  const NodeId home = setup.params.get("counter") == kOnHome ? 0 : node.num_nodes() - 1;
  if (setup.params.get("algorithm") == kMpiWindow) {
    window_lock lock(mgr, "lock");
    // A counter on another node belongs to another window than the lock: MPI_Win_flush.
    return count_under_lock(setup, mgr, lock, home, home == 0 ? Before::wait : Before::fence);
  }
  mutex_options options = mutex_options_of(setup);
  options.kind = kLockClasses.at(setup.params.count("lock_class"));
  options.device_memory = setup.params.get("device_memory") != 0;
  mutex lock(mgr, "lock", 0, options);
  const bool promised = options.kind == lock_class::strong || (options.kind == lock_class::node && home == 0);
  count_under_lock(setup, mgr, lock, home, promised || !options.fence ? Before::nothing : Before::fence);
}

/// By node, the accounts that a transfer has used. Kept outside the simulated machine, where it costs nothing.
using Named = std::vector<std::set<std::uint64_t>>;

/// Balances, striped over the nodes. All start at 0 and overdrafts are allowed, so their sum is always 0. Accounts that
/// no transfer has used are still 0, so a hundred million of them take neither memory nor time.
class accounts : public channel {
 public:
  /// Account a is on the node of lock a modulo `stripe`; that node is this number modulo nodes. `apart`: the accounts
  /// of each lock are a region of their own.
  accounts(manager& mgr, std::uint64_t count, std::uint64_t stripe, bool apart, Named& named)
      : channel(mgr, "accounts", expect_num{mgr.num_nodes() - 1}),
        named_(named),
        stripe_(stripe),
        of_stripe_(apart ? 1 : (stripe + num_nodes() - 1) / num_nodes()) {
    const std::uint64_t bytes = (count + stripe - 1) / stripe * of_stripe_ * 8;
    for (std::uint64_t k = 0; k < (apart ? (stripe + num_nodes() - 1) / num_nodes() : 1); ++k)
      balances_.push_back(symmetric_region("balances" + std::to_string(k), bytes));
    join();
  }
  void get(std::uint64_t account, const mem_ref& to, ack_key& key) {
    const place at = place_of(account);
    mgr().get(to.address(), remote(balances_[at.region], at.node), at.offset, 8, &key);
  }
  void put(std::uint64_t account, const mem_ref& from, ack_key& key) {
    const place at = place_of(account);
    named_[at.node].insert(account);
    mgr().put(from.address(), remote(balances_[at.region], at.node), at.offset, 8, &key);
  }
  /// Sum over the used accounts on this node. Money that a put wrote anywhere else is missing in one of these sums.
  [[nodiscard]] std::uint64_t sum() {
    std::uint64_t total = 0;
    for (const std::uint64_t account : named_[my_node()]) {
      const place at = place_of(account);
      total += transport().load(local(balances_[at.region]).base + at.offset);
    }
    return total;
  }

 private:
  struct place {
    NodeId node;
    std::size_t region;
    std::uint64_t offset;
  };
  [[nodiscard]] place place_of(std::uint64_t account) const {
    const std::uint64_t k = account % stripe_ / num_nodes();  // index of the stripe's lock among those of its node
    const auto node = static_cast<NodeId>(account % stripe_ % num_nodes());
    if (balances_.size() > 1) return {node, k, account / stripe_ * 8};
    return {node, 0, (account / stripe_ * of_stripe_ + k) * 8};
  }

  Named& named_;
  std::uint64_t stripe_;
  std::uint64_t of_stripe_;  ///< accounts of a stripe that are in one region
  std::vector<RegionIndex> balances_;
};

/// What a thread needs for its transfers.
template <typename Locks>
struct Teller {
  Teller(manager& mgr, accounts& all, Locks& mutexes)
      : book(all), locks(mutexes), from_balance(mgr, 8), to_balance(mgr, 8), key(mgr) {}

  /// The locks are taken in ascending order, so that no two tellers wait for each other.
  void transfer(std::uint64_t from, std::uint64_t to, std::uint64_t amount) {
    const auto [first, second] = std::minmax({from % locks.size(), to % locks.size()});
    locks.lock(first);
    if (second != first) locks.lock(second);
    book.get(from, from_balance, key);
    book.get(to, to_balance, key);
    key.wait();
    from_balance.store(from_balance.load() - amount);
    to_balance.store(to_balance.load() + amount);
    book.put(from, from_balance, key);
    book.put(to, to_balance, key);
    if constexpr (!kFences<Locks>) key.wait();
    if (second != first) locks.unlock(second);
    locks.unlock(first);
    key.wait();  // before the blocks of the balances are used again
  }

  accounts& book;
  Locks& locks;
  mem_ref from_balance;
  mem_ref to_balance;
  ack_key key;
};

template <typename Locks>
void transfer_under_locks(const Setup& setup, manager& mgr, Locks& locks, std::uint64_t stripe, bool apart,
                          Named& named) {
  Transport& node = mgr.transport();
  const std::uint32_t threads = setup.params.count("threads_per_node");
  const std::int64_t iterations = setup.params.get("iterations");
  const auto count = setup.params.amount("accounts");
  accounts book(mgr, count, stripe, apart, named);
  var_array<std::uint64_t> sums(mgr, "sums", each_node(node.num_nodes()));
  barrier bar(mgr, "bar", {.threads_per_node = threads});
  mgr.wait_for_ready();
  run_team(node, threads, [&](std::uint32_t thread) {
    sim::Stream stream(setup.cluster.config().seed,
                       "transactions/" + std::to_string(node.my_node()) + "/" + std::to_string(thread));
    Teller<Locks> teller(mgr, book, locks);
    for (std::int64_t i = 0; i < iterations; ++i) {
      const std::uint64_t from = stream.below(count);
      const std::uint64_t to = (from + 1 + stream.below(count - 1)) % count;
      const std::int64_t t0 = node.now_ps();
      teller.transfer(from, to, 1 + stream.below(100));
      setup.results.add("transfer", t0, node.now_ps());
    }
    bar.waiting();  // after it everything is in memory
    if (thread == 0) {
      sums[node.my_node()].store(book.sum());
      sums[node.my_node()].push_broadcast();
    }
    bar.waiting();
  });
  if (node.my_node() != 0) return;
  std::uint64_t total = 0;
  for (auto& sum : sums) total += sum.load();
  setup.results.promise("money_missing", static_cast<std::uint64_t>(std::llabs(static_cast<long long>(total))));
}

void transaction_program(Transport& node, const Setup& setup, Named& named) {
  const auto count = setup.params.amount("locks");
  const bool windows = setup.params.get("algorithm") == kMpiWindow;
  const bool apart = windows && setup.params.get("registrations") != 0;
  // Memory is registered in chunks. With such a small chunk each region is a registration of its own.
  manager mgr(node, apart ? block_pool::kSmallest : network_memory::kDefaultChunk);
  if (windows) {
    baselines::window_locks locks(mgr, "locks", count);
    return transfer_under_locks(setup, mgr, locks, count, apart, named);  // accounts are on the nodes of their locks
  }
  mutex_array locks(mgr, "locks", count, mutex_options_of(setup));
  transfer_under_locks(setup, mgr, locks, node.num_nodes(), false, named);
}

}  // namespace

std::optional<Misfit> lock_misfit(const Params& params, std::uint32_t /*nodes*/) {
  if (params.get("algorithm") != kMpiWindow) return std::nullopt;
  if (params.get("lock_class") != 0) return Misfit{"lock_class", "strong: the locks of MPI windows are to their node"};
  if (params.get("device_memory") != 0) return Misfit{"device_memory", "off with locks of MPI windows"};
  return std::nullopt;
}

void start_lock(const Setup& setup) {
  setup.cluster.spawn_everywhere([&setup](Transport& node) { lock_program(node, setup); });
}

void start_transactions(const Setup& setup) {
  const auto named = std::make_shared<Named>(setup.cluster.config().nodes);
  setup.cluster.spawn_everywhere([&setup, named](Transport& node) { transaction_program(node, setup, *named); });
}

}  // namespace loco::workloads
