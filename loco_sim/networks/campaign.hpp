// The paper's evaluation on our networks (coreRMA paper, Section 7 and Table 6): tests for every rule, the outcomes
// that the rules expect, and the outcomes that each network shows.
//
// As in the paper, tests and expected outcomes are those of the stock rules of Fig. 4, including IR, and a test is an
// error of a network that shows an unexpected outcome. Next to this is what each network is documented to keep. IR does
// not cover a process's own memory. Yet the paper has tests of IR with one process, on which Aries failed, so in that
// row IR is taken to include it. Results depend only on the options, whatever the number of jobs, except for times.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "loco_sim/networks/networks.hpp"
#include "loco_sim/networks/observe.hpp"
#include "loco_sim/networks/paper_table.hpp"
#include "model/corerma/generate.hpp"

namespace loco::networks {

struct CampaignProgress {
  std::size_t row = 0;
  std::size_t rows = 0;
  std::uint64_t tests = 0;  ///< in all rows so far
};

struct CampaignOptions {
  bool small = false;       ///< bounds smaller by three actions, and fewer tests: takes seconds instead of minutes
  unsigned jobs = 1;        ///< number of threads that run tests
  std::uint64_t tests = 0;  ///< limit for each rule and number of processes; 0: see tests_of()
  ObserveLimits limits = {};
  /// Called now and then, by one thread at a time; an exception from it ends the work.
  std::function<void(const CampaignProgress&)> poll = {};
};

/// An outcome that a network shows and the rules forbid.
struct ErrorExample {
  std::string test;
  std::string document;  ///< the test as YAML
  int size = 0;
  std::string outcome;
  std::string cycle;  ///< why it is forbidden, in words; empty: no execution has these values
};

/// Expected outcomes that a network does not show.
struct Unobserved {
  std::uint64_t outcomes = 0;
  std::string test;  ///< the first
  std::string outcome;
};

/// Counts for one network and the tests of one row.
struct Tally {
  std::uint64_t errors = 0;      ///< tests with outcomes that the stock rules forbid
  std::uint64_t unexpected = 0;  ///< such outcomes
  std::uint64_t observed = 0;    ///< expected outcomes that the network shows
  std::uint64_t own_errors = 0;  ///< the same with the network's own rules
  std::uint64_t own_expected = 0;
  std::uint64_t own_observed = 0;
  std::uint64_t inexact = 0;                     ///< tests that are too large to explore and were sampled
  std::optional<ErrorExample> example;           ///< the shortest test
  std::map<std::string, Unobserved> unobserved;  ///< by the guarantees each of which would explain it
};

struct CampaignRow {
  PaperRow paper;
  RuleSet rules;  ///< from which tests and expected outcomes are made
  int size = 0;
  std::uint64_t in_bound = 0;  ///< number of tests within the bound
  std::uint64_t tests = 0;     ///< tests taken, evenly spaced
  std::uint64_t outcomes = 0;  ///< expected outcomes
  double seconds = 0;          ///< generation and expected outcomes, on one thread
  std::vector<Tally> networks;
};

struct Campaign {
  std::vector<Network> networks;
  std::vector<CampaignRow> rows;
};

[[nodiscard]] Campaign run_campaign(const CampaignOptions& options);

/// Sum of all rows for one network.
[[nodiscard]] Tally total(const Campaign& campaign, std::size_t network);

/// 100 if `whole` is 0.
[[nodiscard]] double percent(std::uint64_t part, std::uint64_t whole);
[[nodiscard]] double ms_a_test(const CampaignRow& row);

// Reports. Text is for terminals; HTML is one file without scripts. `times`: include the milliseconds per test, which
// differ from run to run; text and HTML always include them.
[[nodiscard]] std::string campaign_text(const Campaign& campaign);
[[nodiscard]] std::string campaign_json(const Campaign& campaign, bool times = false);
[[nodiscard]] std::string campaign_csv(const Campaign& campaign, bool times = false);
[[nodiscard]] std::string campaign_html(const Campaign& campaign);

/// Why our numbers differ from the paper's, as paragraphs.
[[nodiscard]] const std::vector<std::string>& why_numbers_differ();

}  // namespace loco::networks
