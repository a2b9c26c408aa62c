#include "model/litmus/search/search.hpp"

#include <algorithm>
#include <new>

#include "model/litmus/search/skeleton_search.hpp"
#include "model/litmus/search/verbs_skeletons.hpp"

namespace loco::model::litmus {
namespace {

/// The ways to join the threads' paths: one path a thread, by number. Of each orbit under the symmetries the least.
class Joins {
 public:
  Joins(const std::vector<ThreadPaths>& paths, const Symmetry& symmetry)
      : paths_(paths), symmetry_(symmetry), choice_(paths.size(), 0) {
    out_.order = symmetry.order();
  }

  /// Goes on to the next one; false if there is none.
  bool next() {
    std::size_t digit = paths_.size() - 1;
    for (;;) {
      if (started_ && !increment(digit)) return false;
      started_ = true;
      digit = last_of_lead();
      if (digit == paths_.size()) return true;
    }
  }
  [[nodiscard]] const ThreadPath* path(std::size_t thread) const { return &paths_[thread].paths[choice_[thread]]; }
  /// Of the present one.
  [[nodiscard]] const SkeletonSymmetry& symmetry() const { return out_; }

 private:
  /// The next choice, the last thread's fastest, that differs in thread `digit` or before.
  bool increment(std::size_t digit) {
    std::fill(choice_.begin() + static_cast<std::ptrdiff_t>(digit) + 1, choice_.end(), 0);
    for (std::size_t t = digit + 1; t-- > 0;) {
      if (++choice_[t] < paths_[t].paths.size()) return true;
      choice_[t] = 0;
    }
    return false;
  }

  /// Is the choice the least of its orbit? If so, the number of threads; if not, the last thread that makes it so.
  std::size_t last_of_lead() {
    out_.stabiliser.clear();
    for (const Automorphism& a : symmetry_.elements()) {
      // Threads that go to `image` have its choice in the image of the choice.
      std::size_t last = 0;
      bool equal = true;
      for (std::size_t image = 0; equal && image < choice_.size(); ++image) {
        const auto thread = static_cast<std::size_t>(at(a.origins, static_cast<int>(image)));
        last = std::max({last, thread, image});
        if (choice_[thread] < choice_[image]) return last;
        equal = choice_[thread] == choice_[image];
      }
      if (equal) out_.stabiliser.push_back(&a);
    }
    return choice_.size();
  }

  const std::vector<ThreadPaths>& paths_;
  const Symmetry& symmetry_;
  std::vector<std::size_t> choice_;
  SkeletonSymmetry out_;
  bool started_ = false;
};

constexpr std::uint64_t kAskEvery = 64;  ///< ways to join the threads' paths, between two looks at the clock

using SymmetricVisit = std::function<bool(const Skeleton&, const Axioms&, const SkeletonSymmetry&)>;

void visit_skeletons(const Program& program, const Model& model, const SearchOptions& options, const Symmetry& symmetry,
                     const SymmetricVisit& visit, SearchResult* limits) {
  const Cells cells(program);
  PathOptions path_options;
  path_options.core_rma = model.rules.has_value();
  path_options.loop_bound = options.loop_bound;
  path_options.transitive_barriers = options.model.transitive_barriers;
  path_options.global_atomics = options.model.global_atomics || model.one_step_atomics;
  std::vector<ThreadPaths> paths;
  bool cut_loops = false, ill_formed = false, runnable = true, timed_out = false;
  TooLarge too_large;
  for (int t = 0; t < len(program.threads); ++t) {
    PathOptions of_thread = path_options;
    if (options.model.weak_thread != kNone && options.model.weak_thread != t) of_thread.global_atomics = true;
    paths.push_back(enumerate_paths(program, cells, t, of_thread));
    cut_loops = cut_loops || paths.back().cut_loops;
    too_large.unite(paths.back().too_large);
    runnable = runnable && !paths.back().paths.empty();
  }

  std::vector<const ThreadPath*> chosen(paths.size());
  Skeleton x;
  Axioms a;
  std::uint64_t joined = 0;
  for (Joins joins(paths, symmetry); runnable && joins.next();) {
    if (++joined % kAskEvery == 0) {
      if (options.poll) options.poll();
      timed_out = options.out_of_time && options.out_of_time();
      if (timed_out) break;
    }
    for (std::size_t t = 0; t < paths.size(); ++t) chosen[t] = joins.path(t);
    if (model.verbs) {
      int n = 0;
      for (const ThreadPath* path : chosen) n += len(path->subevents);
      if (n > kSubeventsMax)
        too_large.subevents = std::max(too_large.subevents, n);
      else if (!visit_verbs_skeletons(program, cells, chosen, options.model,
                                      [&](const Skeleton& of_verbs, const Axioms& axioms, const VerbsFacts&) {
                                        return visit(of_verbs, axioms, joins.symmetry());
                                      }))
        break;
    } else if (!x.build(program, cells, chosen, options.model.order))
      too_large.subevents = std::max(too_large.subevents, x.n);
    else if (!build_axioms(model, x, options.model, a))
      ill_formed = true;
    else if (!visit(x, a, joins.symmetry()))
      break;
  }
  if (limits != nullptr) {
    limits->cut_loops = cut_loops;
    limits->too_large = too_large;
    limits->ill_formed = ill_formed;
    limits->timed_out = limits->timed_out || timed_out;
  }
}

template <int Words>
bool run(const Skeleton& x, const Axioms& a, const SkeletonSymmetry& symmetry, ExecutionSink& sink) {
  return SkeletonSearch<Words>(x, a, symmetry, sink).run();
}

void search_all(const Model& model, const Symmetry& symmetry, ExecutionSink& sink) {
  const auto visit = [&](const Skeleton& x, const Axioms& a, const SkeletonSymmetry& s) {
    if (!sink.step()) return false;
    sink.result.skeletons += s.order / (s.stabiliser.size() + 1);
    const int nodes = x.n + a.started.count();
    return nodes <= 64 ? run<1>(x, a, s, sink) : nodes <= 128 ? run<2>(x, a, s, sink) : run<4>(x, a, s, sink);
  };
  visit_skeletons(sink.program, model, sink.options, symmetry, visit, &sink.result);
}

}  // namespace

void for_each_skeleton(const Program& program, const Model& model, const SearchOptions& options,
                       const std::function<bool(const Skeleton&, const Axioms&)>& visit, SearchResult* limits) {
  visit_skeletons(
      program, model, options, Symmetry(),
      [&](const Skeleton& x, const Axioms& a, const SkeletonSymmetry&) { return visit(x, a); }, limits);
}

namespace {

/// One search, with its symmetries, that ends where the options say. Memory that is not there ends it, too.
SearchResult search_once(const Program& program, const Model& model, const SearchOptions& options,
                         const PartialOutcome& wanted, const ExecutionVisitor& visit) {
  const bool single = !wanted.empty() || visit || options.executions_max != 0 || model.verbs;
  Symmetry symmetry;
  ExecutionSink sink{program, options, wanted, visit, {}};
  const std::function<bool()> ask = [&] {
    // Every outcome has to be written down, symmetries or not: they pay where there is more to do than that.
    sink.ask_at *= 2;
    if (sink.steps < 6 * sink.result.outcomes.size()) return true;
    sink.ask_at = 0;
    symmetry = Symmetry(program);
    return symmetry.order() == 1;
  };
  if (!single) {
    sink.ask = &ask;
    sink.ask_at = options.symmetry_after;
  }
  SearchResult& found = sink.result;
  try {
    if (single || options.symmetry_after != 0 || ask()) search_all(model, Symmetry(), sink);
    if (symmetry.order() > 1 && !found.limited()) {  // anew, one of each orbit
      found = {};
      sink.ask_at = 0;
      search_all(model, symmetry, sink);
      symmetry.close(found.outcomes, [&] {
        found.out_of_memory = !sink.has_memory();
        return !found.out_of_memory && sink.tick();
      });
      symmetry.close(found.failed_assertions);
    }
  } catch (const std::bad_alloc&) {
    found.out_of_memory = true;
  }
  return std::move(found);
}

/// All outcomes first, one execution each; then as many executions as are to be counted.
SearchResult search_up_to(const Program& program, const Model& model, const SearchOptions& options) {
  SearchOptions outcomes_only = options;
  outcomes_only.outcomes_only = true;
  SearchResult found = search_once(program, model, outcomes_only, {}, {});
  if (found.stopped || found.limited() || options.outcomes_only) return found;
  SearchResult counted = search_once(program, model, options, {}, {});
  if (!counted.stopped && !counted.limited()) return counted;
  found.executions = std::max(found.executions, counted.executions);
  found.uncounted = true;
  return found;
}

}  // namespace

SearchResult search(const Program& program, const Model& model, const SearchOptions& options,
                    const PartialOutcome& wanted, const ExecutionVisitor& visit) {
  const bool up_to = options.executions_max != 0 && !options.every_witness && wanted.empty() && !visit;
  SearchResult found =
      up_to ? search_up_to(program, model, options) : search_once(program, model, options, wanted, visit);
  try {
    // Outcomes of a search that a limit ended stay in the order in which they were found.
    if (!found.limited() && !found.outcomes.sort(options.out_of_time)) found.timed_out = true;
  } catch (const std::bad_alloc&) {
    found.out_of_memory = true;
  }
  auto& failed = found.failed_assertions;
  std::sort(failed.begin(), failed.end());
  failed.erase(std::unique(failed.begin(), failed.end()), failed.end());
  return found;
}

}  // namespace loco::model::litmus
