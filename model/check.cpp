#include "model/check.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "model/cycle.hpp"
#include "model/explain.hpp"
#include "model/histories.hpp"
#include "model/level.hpp"
#include "model/level_run.hpp"
#include "model/lock_promises.hpp"
#include "model/order.hpp"
#include "model/tower.hpp"
#include "model/trace_index.hpp"
#include "model/witness.hpp"

namespace loco::model {
namespace {

/// The libraries that are specified by stamps; the others by the history of their calls.
constexpr LibrarySet kLevels =
    bit(Library::rdmawait) | bit(Library::sv) | bit(Library::bal) | bit(Library::rbl) | bit(Library::msw);

/// The execution at one level: predicates on the first pass; the graph only when the recorded order is no proof. Where
/// `storey` is given, the level with its materialised order is put there, for the checks between levels.
LibraryResult check_level(const TraceIndex& index, Library library, LibrarySet libraries, const CheckOptions& options,
                          std::unique_ptr<Storey>* storey) {
  LibraryResult result;
  result.library = library;
  Level level(index, libraries);
  Reports reports(options.max_violations);
  Order order(index);
  const LevelCounts counts = run_level(level, order, reports, options.without);
  result.by_stamps = order.forward();
  if (!result.by_stamps) {
    Order graph = Order::materialised(index, order);
    Reports again(0);
    run_level(level, graph, again, options.without);
    if (auto cycle = find_cycle(graph, index.poller())) {
      reports.violations().push_back(explain_cycle(level, graph, std::move(*cycle)));
      result.consistent = false;
    }
  }
  result.calls = counts.calls;
  result.subevents = counts.subevents;
  result.consistent = result.consistent && reports.total() == 0;
  result.violations = std::move(reports.violations());
  if (storey != nullptr) *storey = std::make_unique<Storey>(std::move(level), order);
  return result;
}

void add(Reports& reports, LibraryResult& result) {
  for (Violation& v : reports.violations()) result.violations.push_back(std::move(v));
  result.consistent = result.consistent && reports.total() == 0;
}

/// Adds the promises of the level's library that do not hold in the level below to its result.
void check_promises(Storey& below, Storey& level, const CheckOptions& options, LibraryResult& result) {
  Reports reports(options.max_violations);
  check_tower(below, level, result.library, reports);
  add(reports, result);
}

/// Adds the promises of locks and stores that do not hold in the level below to their results.
void check_lock_level(Storey& below, const CheckOptions& options, std::span<LibraryResult> results) {
  Reports locks(options.max_violations), stores(options.max_violations);
  check_lock_promises(below, locks, results.back().library == Library::kvstore ? stores : locks);
  for (LibraryResult& result : results) {
    Reports& reports = result.library == Library::kvstore ? stores : locks;
    add(reports, result);
    result.undecided = result.undecided && reports.total() == 0;
  }
}

LibraryResult check_history(const TraceIndex& index, Library library, const CheckOptions& options) {
  LibraryResult result;
  result.library = library;
  Reports reports(options.max_violations);
  result.calls = library == Library::lock ? check_locks(index, reports) : check_kvstores(index, reports);
  result.consistent = reports.total() == 0;
  result.undecided = reports.undecided();
  result.violations = std::move(reports.violations());
  return result;
}

LibrarySet libraries_used(const Trace& trace) {
  LibrarySet used = 0;
  for (const Call& c : trace.calls) used |= bit(c.library);
  return used;
}

std::vector<Library> members(LibrarySet set) {
  std::vector<Library> libraries;
  for (unsigned l = 0; l <= static_cast<unsigned>(Library::kvstore); ++l)
    if ((set >> l & 1U) != 0) libraries.push_back(static_cast<Library>(l));
  return libraries;
}

/// The trace is no execution: every library's verdict, the first one with the reasons.
void refuse(LibrarySet asked, Reports& reports, Verdict& verdict) {
  for (const Library library : members(asked)) {
    LibraryResult r;
    r.library = library;
    r.consistent = false;
    if (verdict.results.empty()) r.violations = reports.violations();
    verdict.results.push_back(std::move(r));
  }
}

/// Checks each library at the level of the libraries before it. Faults of the witness (`witness`) count as rdmawait's.
void check_libraries(const TraceIndex& index, LibrarySet asked, Reports& witness, const CheckOptions& options,
                     Verdict& verdict) {
  const LibrarySet used = libraries_used(index.trace()) | bit(Library::rdmawait);
  LibrarySet level = 0;
  LibraryResult last;              // of the level so far, promises left out
  std::unique_ptr<Storey> storey;  // of the level so far, when promises are asked for
  std::size_t histories = 0;       // locks and stores, which come last
  for (const Library library : members(asked)) {
    if ((kLevels & bit(library)) == 0) {
      verdict.results.push_back(check_history(index, library, options));
      ++histories;
      continue;
    }
    level |= bit(library);
    if ((used & bit(library)) == 0) {  // no call of it: the level below is this level
      verdict.results.push_back(last);
      verdict.results.back().library = library;
      continue;
    }
    const std::unique_ptr<Storey> below = std::exchange(storey, nullptr);
    last = check_level(index, library, level, options, options.tower ? &storey : nullptr);
    if (library == Library::rdmawait && witness.total() > 0) {
      last.consistent = false;
      last.violations.insert(last.violations.begin(), witness.violations().begin(), witness.violations().end());
    }
    if (library == Library::rdmawait && options.tower) {
      Reports mixed(options.max_violations);
      check_mixed_access(index, mixed);
      last.violations.insert(last.violations.end(), mixed.violations().begin(), mixed.violations().end());
      last.consistent = last.consistent && mixed.total() == 0;
    }
    verdict.results.push_back(last);
    if (below) check_promises(*below, *storey, options, verdict.results.back());
  }
  if (histories != 0 && storey != nullptr)
    check_lock_level(*storey, options, std::span(verdict.results).last(histories));
}

}  // namespace

Verdict check(const Trace& trace, std::span<const Library> libraries, const CheckOptions& options) {
  Verdict verdict;
  verdict.subevents = trace.subevents.size();
  LibrarySet asked = bit(Library::rdmawait);
  for (const Library l : libraries) asked |= bit(l);
  const auto refused = [&](Reports& reports) {
    refuse(asked, reports, verdict);
    return verdict;
  };

  Reports structure(options.max_violations);
  const Poll poll(options.poll);
  check_structure(trace, poll, structure);
  if (structure.total() > 0) return refused(structure);
  const TraceIndex index(trace, poll);
  check_causality(index, structure);
  if (structure.total() > 0) return refused(structure);
  Reports witness(options.max_violations);
  check_witness(index, witness);
  if (index.broken_mo() != 0) return refused(witness);

  check_libraries(index, asked, witness, options, verdict);
  return verdict;
}

}  // namespace loco::model
