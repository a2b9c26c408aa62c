#include "loco_sim/networks/campaign.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "loco_sim/networks/allowed.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "model/corerma/document.hpp"

namespace loco::networks {

using namespace model::litmus;
namespace corerma = model::corerma;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kTestsMin = 300;  // tests per row, if there are so many; more where the paper has more
constexpr std::uint64_t kTestsSmall = 40;
constexpr int kSmaller = 3;
constexpr int kSizeNotTold = 9;  // the paper's table does not give the bound of WS with one process

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Why an outcome cannot be observed: sets of guarantees that the network keeps, each of which forbids it.
using Reasons = std::vector<RuleSet>;

/// `SO or SR+FA`.
std::string text(const Reasons& reasons) {
  std::string out;
  for (const RuleSet set : reasons) {
    std::string one = set.text();
    std::ranges::replace(one, ',', '+');
    out += (out.empty() ? "" : " or ") + one;
  }
  return out.empty() ? "nothing that is known here" : out;
}

/// Guarantees that the network keeps beyond the rules of the row; `both`: those of the row that it keeps.
std::vector<Rule> beside(RuleSet rules, RuleSet keeps, RuleSet& both) {
  const RuleSet split = with_routing_split(rules);
  std::vector<Rule> more;
  for (const Rule r : keeps.rules()) {
    if (split.has(r)) both = both.with(r);
    if (!split.has(r)) more.push_back(r);
  }
  return more;
}

/// Single guarantees, or otherwise pairs, that forbid an outcome together with the row's rules that the network keeps.
Reasons reasons_for(const Program& program, const Outcome& o, RuleSet rules, RuleSet keeps,
                    const std::function<void()>& poll) {
  RuleSet both;
  const std::vector<Rule> more = beside(rules, keeps, both);
  Reasons found;
  for (const Rule r : more)
    if (!has(allowed(program, both.with(r), poll), o)) found.push_back(RuleSet{r});
  for (std::size_t g = 0; found.empty() && g < more.size(); ++g)
    for (std::size_t h = g + 1; h < more.size(); ++h)
      if (!has(allowed(program, both.with(RuleSet{more[g], more[h]}), poll), o)) found.push_back({more[g], more[h]});
  return found;
}

struct Missing {
  std::uint64_t outcomes = 0;
  std::uint64_t first = ~std::uint64_t{0};  // number of the first test
  std::string test, outcome;
};

/// What one test adds to a network's tally.
struct NetworkFound {
  std::uint64_t unexpected = 0, observed = 0, own_unexpected = 0, own_expected = 0, own_observed = 0;
  bool exact = true;
  std::optional<Outcome> error;
  std::vector<std::pair<Reasons, std::string>> missing;  // reasons, outcome
};

struct Job {
  std::size_t row = 0;
  std::uint64_t number = 0;  // of the test in its row
  corerma::Test test;
};

/// Tests waiting for a worker.
class Queue {
 public:
  explicit Queue(std::size_t most) : most_(most) {}

  void push(Job job) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return jobs_.size() < most_ || ended_; });
    if (ended_) return;
    jobs_.push_back(std::move(job));
    changed_.notify_all();
  }
  std::optional<Job> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !jobs_.empty() || ended_; });
    if (jobs_.empty()) return std::nullopt;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    changed_.notify_all();
    return job;
  }
  /// No more tests follow; with `drop`, the waiting ones are discarded.
  void end(bool drop) {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    if (drop) jobs_.clear();
    changed_.notify_all();
  }
  [[nodiscard]] bool ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool ended_ = false;
};

class Runner {
 public:
  explicit Runner(const CampaignOptions& options) : options_(options), queue_(64) {
    campaign_.networks = networks();
    for (const Network& n : campaign_.networks)
      profiles_.push_back(scenario::load_hardware(std::string(n.hardware)).profile);
    for (const PaperRow& paper : paper_rows()) add_row(paper);
  }

  Campaign run() {
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < std::max(1U, options_.jobs); ++i)
      workers.emplace_back([this] { guarded([this] { work(); }); });
    guarded([this] { produce(); });
    queue_.end(false);
    for (std::thread& worker : workers) worker.join();
    if (failure_) std::rethrow_exception(failure_);
    for (std::size_t row = 0; row < campaign_.rows.size(); ++row) finish(row);
    return std::move(campaign_);
  }

 private:
  void add_row(const PaperRow& paper) {
    CampaignRow row;
    row.paper = paper;
    row.rules = paper.pivot == "IR" && paper.processes == 1 ? kCoreRma.with(Rule::so) : kCoreRma;
    row.size = (paper.size == 0 ? kSizeNotTold : paper.size) - (options_.small ? kSmaller : 0);
    row.networks.resize(campaign_.networks.size());
    campaign_.rows.push_back(std::move(row));
    missing_.emplace_back(campaign_.networks.size());
    example_.emplace_back(campaign_.networks.size());
  }

  /// Keeps the first failure of any thread, which ends all of them.
  void guarded(const std::function<void()>& f) {
    try {
      f();
    } catch (...) {
      {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
      queue_.end(true);
    }
  }

  [[nodiscard]] std::uint64_t tests_of(const CampaignRow& row) const {
    if (options_.tests != 0) return options_.tests;
    return options_.small ? kTestsSmall
                          : std::max<std::uint64_t>(kTestsMin, static_cast<std::uint64_t>(row.paper.tests));
  }

  void produce() {
    for (std::size_t i = 0; i < campaign_.rows.size() && !queue_.ended(); ++i) {
      CampaignRow& row = campaign_.rows[i];
      const auto start = Clock::now();
      corerma::GenerateOptions options;
      options.pivot = corerma::parse_pivot(row.paper.pivot);
      options.processes = row.paper.processes;
      options.rules = row.rules;
      options.size = row.size;
      options.reads = corerma::Reads::one;
      options.poll = [&](const corerma::Progress&) { report(i); };
      std::vector<corerma::Test> all;  // at most about 80,000
      (void)corerma::Generator(options).run([&](const corerma::Test& test) {
        all.push_back(test);
        return true;
      });
      row.in_bound = all.size();
      const std::uint64_t wanted = std::min(tests_of(row), row.in_bound);
      std::vector<corerma::Test> tests;  // evenly spaced, including the last one
      for (std::uint64_t k = 0; k < wanted; ++k) tests.push_back(std::move(all[(k + 1) * row.in_bound / wanted - 1]));
      {
        const std::lock_guard lock(mutex_);
        row.seconds += seconds_since(start);
        row.tests = tests.size();
      }
      for (std::uint64_t k = 0; k < tests.size(); ++k) queue_.push({i, k, std::move(tests[k])});
      report(i);
    }
  }

  void report(std::size_t row) {
    if (!options_.poll) return;
    const std::lock_guard lock(poll_mutex_);
    options_.poll({row, campaign_.rows.size(), done_});
  }

  void work() {
    while (const std::optional<Job> job = queue_.pop()) run_test(*job);
  }

  void run_test(const Job& job) {
    const RuleSet rules = campaign_.rows[job.row].rules;
    const auto start = Clock::now();
    const Program program = corerma::to_litmus(job.test, rules);
    const std::vector<Outcome> expected = allowed(program, rules, options_.limits.poll);
    const double seconds = seconds_since(start);
    std::vector<NetworkFound> found;
    for (std::size_t n = 0; n < profiles_.size(); ++n) found.push_back(look(n, program, rules, expected));
    const std::lock_guard lock(mutex_);
    CampaignRow& row = campaign_.rows[job.row];
    row.seconds += seconds;
    row.outcomes += expected.size();
    ++done_;
    for (std::size_t n = 0; n < found.size(); ++n) add(job, n, found[n]);
  }

  NetworkFound look(std::size_t n, const Program& program, RuleSet rules, const std::vector<Outcome>& expected) const {
    const Network& network = campaign_.networks[n];
    NetworkFound f;
    const Observed seen = observe(program, profiles_[n], options_.limits);
    f.exact = seen.exact;
    const RuleSet own_rules = rules.has(Rule::so) ? network.rules.with(Rule::so) : network.rules;
    const std::vector<Outcome> own = allowed(program, own_rules, options_.limits.poll);
    f.own_expected = own.size();
    for (const Outcome& o : seen.outcomes) {
      (has(own, o) ? f.own_observed : f.own_unexpected) += 1;
      (has(expected, o) ? f.observed : f.unexpected) += 1;
      if (!f.error && !has(expected, o)) f.error = o;
    }
    for (const Outcome& o : expected)
      if (!has(seen.outcomes, o))
        f.missing.emplace_back(reasons_for(program, o, rules, network.keeps, options_.limits.poll), program.text(o));
    return f;
  }

  void add(const Job& job, std::size_t n, const NetworkFound& f) {
    Tally& t = campaign_.rows[job.row].networks[n];
    t.errors += f.unexpected != 0 ? 1 : 0;
    t.unexpected += f.unexpected;
    t.observed += f.observed;
    t.own_errors += f.own_unexpected != 0 ? 1 : 0;
    t.own_expected += f.own_expected;
    t.own_observed += f.own_observed;
    t.inexact += f.exact ? 0 : 1;
    for (const auto& [reasons, outcome] : f.missing) {
      Missing& m = missing_[job.row][n][reasons];
      ++m.outcomes;
      if (job.number < m.first) m = {m.outcomes, job.number, job.test.name, outcome};
    }
    auto& example = example_[job.row][n];  // tests come in order of size, so the first is the shortest
    if (f.error && (!example || job.number < example->first.number)) example.emplace(job, *f.error);
  }

  /// Computes what needs all tests of the row.
  void finish(std::size_t row) {
    for (std::size_t n = 0; n < campaign_.networks.size(); ++n) {
      Tally& t = campaign_.rows[row].networks[n];
      for (const auto& [reasons, m] : missing_[row][n]) {
        Unobserved& u = t.unobserved[text(reasons)];
        if (u.outcomes == 0) u = {0, m.test, m.outcome};
        u.outcomes += m.outcomes;
      }
      if (const auto& e = example_[row][n]) {
        const RuleSet rules = campaign_.rows[row].rules;
        const Program program = corerma::to_litmus(e->first.test, rules);
        t.example = ErrorExample{e->first.test.name, corerma::bare_document(e->first.test, rules), e->first.test.size,
                                 program.text(e->second), cycle_text(program, e->second, rules)};
      }
    }
  }

  const CampaignOptions& options_;
  Campaign campaign_;
  std::vector<nic::HardwareProfile> profiles_;
  Queue queue_;
  std::mutex mutex_;       // guards all results
  std::mutex poll_mutex_;  // guards options_.poll
  std::exception_ptr failure_;
  std::uint64_t done_ = 0;
  std::vector<std::vector<std::map<Reasons, Missing>>> missing_;              // by row, by network
  std::vector<std::vector<std::optional<std::pair<Job, Outcome>>>> example_;  // by row, by network
};

}  // namespace

Campaign run_campaign(const CampaignOptions& options) { return Runner(options).run(); }

Tally total(const Campaign& campaign, std::size_t network) {
  Tally all;
  for (const CampaignRow& row : campaign.rows) {
    const Tally& t = row.networks[network];
    all.errors += t.errors;
    all.unexpected += t.unexpected;
    all.observed += t.observed;
    all.own_errors += t.own_errors;
    all.own_expected += t.own_expected;
    all.own_observed += t.own_observed;
    all.inexact += t.inexact;
    if (t.example && (!all.example || t.example->size < all.example->size)) all.example = t.example;
    for (const auto& [by, u] : t.unobserved) {
      Unobserved& sum = all.unobserved[by];
      if (sum.outcomes == 0) sum = {0, u.test, u.outcome};
      sum.outcomes += u.outcomes;
    }
  }
  return all;
}

}  // namespace loco::networks
