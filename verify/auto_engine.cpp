#include "verify/auto_engine.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "verify/explicit_engine.hpp"

namespace loco::verify {

namespace {

using std::chrono::steady_clock;

constexpr std::uint64_t kFirstPoints = 20'000;
constexpr std::uint64_t kSecondPoints = 300'000;
/// What the others get in the first round. They keep what they learnt for the second one.
constexpr std::chrono::seconds kFirstTime{2};

class AutoEngine : public Engine {
 public:
  explicit AutoEngine(std::vector<std::unique_ptr<Engine>> others) : others_(std::move(others)) {}

  [[nodiscard]] std::string_view name() const override { return "auto"; }

  [[nodiscard]] Answer check(const Task& task) override {
    Answer answer;
    said_.clear();
    const bool known = ask(*first_, task, answer) || ask_others(task, steady_clock::now() + kFirstTime, answer) ||
                       ask(*second_, task, answer) || ask_others(task, half_of_what_is_left(task), answer) ||
                       ask(*last_, task, answer);
    if (known) return answer;
    answer.engine = name();
    for (const auto& [engine, why] : said_) answer.why += (answer.why.empty() ? "" : "; ") + engine + ": " + why;
    return answer;
  }

 private:
  /// Whether the engine knows. Of what it says when it does not, the last counts.
  bool ask(Engine& engine, const Task& task, Answer& answer) {
    if (task.limits.out_of_time() && !said_.empty()) return false;
    Answer found = engine.check(task);
    if (found.verdict != Verdict::kUnknown) {
      answer = std::move(found);
      return true;
    }
    const auto same = [&](const auto& said) { return said.first == found.engine; };
    const auto before = std::find_if(said_.begin(), said_.end(), same);
    if (before == said_.end())
      said_.emplace_back(std::move(found.engine), std::move(found.why));
    else
      before->second = std::move(found.why);
    return false;
  }

  bool ask_others(const Task& task, steady_clock::time_point deadline, Answer& answer) {
    Task bounded = task;
    bounded.limits.deadline = std::min(deadline, task.limits.deadline);
    return std::any_of(others_.begin(), others_.end(), [&](const auto& other) { return ask(*other, bounded, answer); });
  }

  static steady_clock::time_point half_of_what_is_left(const Task& task) {
    const auto now = steady_clock::now();
    if (task.limits.deadline == steady_clock::time_point::max()) return task.limits.deadline;
    return now + (task.limits.deadline - now) / 2;
  }

  std::vector<std::unique_ptr<Engine>> others_;
  std::vector<std::pair<std::string, std::string>> said_;  ///< engines and why they do not know
  std::unique_ptr<Engine> first_ = explicit_engine(kFirstPoints);
  std::unique_ptr<Engine> second_ = explicit_engine(kSecondPoints);
  std::unique_ptr<Engine> last_ = explicit_engine();
};

}  // namespace

std::unique_ptr<Engine> auto_engine(std::vector<std::unique_ptr<Engine>> others) {
  return std::make_unique<AutoEngine>(std::move(others));
}

}  // namespace loco::verify
