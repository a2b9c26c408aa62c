#include "model/litmus/search.hpp"

#include <algorithm>

#include "model/litmus/skeleton_search.hpp"

namespace loco::model::litmus {
namespace {

template <int Words>
bool run(const Skeleton& x, const Axioms& a, ExecutionSink& sink) {
  return SkeletonSearch<Words>(x, a, sink).run();
}

}  // namespace

void for_each_skeleton(const Program& program, const Model& model, const SearchOptions& options,
                       const std::function<bool(const Skeleton&, const Axioms&)>& visit, SearchResult* limits) {
  const Cells cells(program);
  PathOptions path_options;
  path_options.core_rma = is_corerma(model.name);
  path_options.loop_bound = options.loop_bound;
  path_options.transitive_barriers = options.model.transitive_barriers;
  std::vector<ThreadPaths> paths;
  bool cut_loops = false, too_large = false, runnable = true;
  for (int t = 0; t < len(program.threads); ++t) {
    paths.push_back(enumerate_paths(program, cells, t, path_options));
    cut_loops = cut_loops || paths.back().cut_loops;
    too_large = too_large || paths.back().too_many;
    runnable = runnable && !paths.back().paths.empty();
  }

  std::vector<std::size_t> choice(paths.size(), 0);
  std::vector<const ThreadPath*> chosen(paths.size());
  Skeleton x;
  Axioms a;
  for (bool more = runnable; more;) {
    for (std::size_t t = 0; t < paths.size(); ++t) chosen[t] = &paths[t].paths[choice[t]];
    if (!x.build(program, cells, chosen, options.model.order))
      too_large = true;
    else if (build_axioms(model, x, options.model, a) && !visit(x, a))
      break;
    // The next combination of paths, the last thread's fastest.
    more = false;
    for (std::size_t t = paths.size(); t-- > 0;) {
      if (++choice[t] < paths[t].paths.size()) {
        more = true;
        break;
      }
      choice[t] = 0;
    }
  }
  if (limits != nullptr) {
    limits->cut_loops = cut_loops;
    limits->too_large = too_large;
  }
}

SearchResult search(const Program& program, const Model& model, const SearchOptions& options,
                    const PartialOutcome& wanted, const ExecutionVisitor& visit) {
  ExecutionSink sink{program, options, wanted, visit, {}};
  for_each_skeleton(
      program, model, options,
      [&](const Skeleton& x, const Axioms& a) {
        ++sink.result.skeletons;
        const int nodes = x.n + a.started.count();
        return nodes <= 64 ? run<1>(x, a, sink) : nodes <= 128 ? run<2>(x, a, sink) : run<4>(x, a, sink);
      },
      &sink.result);
  auto& failed = sink.result.failed_assertions;
  std::sort(failed.begin(), failed.end());
  failed.erase(std::unique(failed.begin(), failed.end()), failed.end());
  return std::move(sink.result);
}

}  // namespace loco::model::litmus
