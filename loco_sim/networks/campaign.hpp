// The paper's evaluation on our networks (coreRMA paper, Section 7 and Table 6): tests for every rule, what the rules
// expect, what each network shows.
//
// As there, tests and expected outcomes are those of the stock rules of Fig. 4, IR included; a test is an error of a
// network that shows an outcome that is not expected. Beside it stands what each network is documented to keep.
// IR leaves out a process's own memory; the paper has tests of it with one process all the same, on which Aries failed,
// so in that row it is taken to include that.
// Results are a function of the options, whatever the number of jobs; only times are not.
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
  std::uint64_t tests = 0;  ///< of all rows so far
};

struct CampaignOptions {
  bool small = false;       ///< bounds three actions smaller, and fewer tests: seconds in place of minutes
  unsigned jobs = 1;        ///< tests are run on so many threads
  std::uint64_t tests = 0;  ///< at most so many for each rule and number of processes; 0: see tests_of()
  ObserveLimits limits = {};
  /// Called now and then, by one thread at a time; what it throws ends the work.
  std::function<void(const CampaignProgress&)> poll = {};
};

/// An outcome that a network shows and the rules forbid.
struct ErrorExample {
  std::string test;
  std::string document;  ///< the test as YAML
  int size = 0;
  std::string outcome;
  std::string cycle;  ///< why it is forbidden, in words; empty: no execution has these values, whatever the order
};

/// Expected outcomes that a network does not show.
struct Unobserved {
  std::uint64_t outcomes = 0;
  std::string test;  ///< the first
  std::string outcome;
};

/// Of one network and the tests of one row.
struct Tally {
  std::uint64_t errors = 0;      ///< tests with outcomes that the stock rules do not allow
  std::uint64_t unexpected = 0;  ///< such outcomes
  std::uint64_t observed = 0;    ///< expected outcomes that it shows
  std::uint64_t own_errors = 0;  ///< the same under the network's own rules
  std::uint64_t own_expected = 0;
  std::uint64_t own_observed = 0;
  std::uint64_t inexact = 0;                     ///< tests too large to explore: sampled
  std::optional<ErrorExample> example;           ///< the shortest test
  std::map<std::string, Unobserved> unobserved;  ///< by the guarantees that would each explain it
};

struct CampaignRow {
  PaperRow paper;
  RuleSet rules;  ///< that tests and expected outcomes are made of
  int size = 0;
  std::uint64_t in_bound = 0;  ///< tests that there are
  std::uint64_t tests = 0;     ///< taken, evenly spaced
  std::uint64_t outcomes = 0;  ///< expected
  double seconds = 0;          ///< generation and expected outcomes, of one thread
  std::vector<Tally> networks;
};

struct Campaign {
  std::vector<Network> networks;
  std::vector<CampaignRow> rows;
};

[[nodiscard]] Campaign run_campaign(const CampaignOptions& options);

/// Of all rows, for one network.
[[nodiscard]] Tally total(const Campaign& campaign, std::size_t network);

/// 100 where there is nothing to have a part of.
[[nodiscard]] double percent(std::uint64_t part, std::uint64_t whole);
[[nodiscard]] double ms_a_test(const CampaignRow& row);

// What is shown of it. Text is for terminals; HTML is one file without scripts. `times`: with the milliseconds that a
// test took, which differ from run to run; text and HTML have them always.
[[nodiscard]] std::string campaign_text(const Campaign& campaign);
[[nodiscard]] std::string campaign_json(const Campaign& campaign, bool times = false);
[[nodiscard]] std::string campaign_csv(const Campaign& campaign, bool times = false);
[[nodiscard]] std::string campaign_html(const Campaign& campaign);

/// Why our numbers are not the paper's, in paragraphs.
[[nodiscard]] const std::vector<std::string>& why_numbers_differ();

}  // namespace loco::networks
