#include "loco_sim/run/jobs.hpp"

namespace loco {

std::vector<workloads::Job> jobs_of(const scenario::Scenario& s) {
  if (s.parts.empty()) return {{workloads::find(s.workload), &s.parameters}};
  std::vector<workloads::Job> jobs;
  for (const scenario::PartWorkload& p : s.parts) jobs.push_back({workloads::find(p.kind), &p.parameters, p.part});
  return jobs;
}

std::vector<workloads::Results> run_workloads(const scenario::Scenario& s, SimulatedCluster& cluster) {
  if (!s.parts.empty()) return workloads::run_together(jobs_of(s), cluster);
  std::vector<workloads::Results> all;
  all.push_back(workloads::run(*workloads::find(s.workload), s.parameters, cluster, s.library_faults, s.ranks));
  return all;
}

}  // namespace loco
