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

SearchResult search(const Program& program, const Model& model, const SearchOptions& options,
                    const PartialOutcome& wanted, const ExecutionVisitor& visit) {
  ExecutionSink sink{program, options, wanted, visit, {}};
  const Cells cells(program);
  PathOptions path_options;
  path_options.core_rma = is_corerma(model.name);
  path_options.loop_bound = options.loop_bound;
  path_options.transitive_barriers = options.model.transitive_barriers;

  std::vector<ThreadPaths> paths;
  for (int t = 0; t < len(program.threads); ++t) {
    paths.push_back(enumerate_paths(program, cells, t, path_options));
    sink.result.truncated = sink.result.truncated || paths.back().truncated;
  }
  const bool runnable = std::none_of(paths.begin(), paths.end(), [](const ThreadPaths& p) { return p.paths.empty(); });

  std::vector<std::size_t> choice(paths.size(), 0);
  std::vector<const ThreadPath*> chosen(paths.size());
  Skeleton x;
  Axioms a;
  for (bool more = runnable; more;) {
    for (std::size_t t = 0; t < paths.size(); ++t) chosen[t] = &paths[t].paths[choice[t]];
    if (!x.build(program, cells, chosen, options.model.order)) {
      sink.result.too_large = true;
    } else if (build_axioms(model, x, options.model, a)) {
      ++sink.result.skeletons;
      const int nodes = x.n + a.started.count();
      const bool on = nodes <= 64 ? run<1>(x, a, sink) : nodes <= 128 ? run<2>(x, a, sink) : run<4>(x, a, sink);
      if (!on) break;
    }
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
  auto& failed = sink.result.failed_assertions;
  std::sort(failed.begin(), failed.end());
  failed.erase(std::unique(failed.begin(), failed.end()), failed.end());
  return std::move(sink.result);
}

}  // namespace loco::model::litmus
