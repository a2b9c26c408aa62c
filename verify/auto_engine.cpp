#include "verify/auto_engine.hpp"

#include <algorithm>
#include <utility>

#include "verify/explicit_engine.hpp"

namespace loco::verify {

namespace {

constexpr std::uint64_t kFirstPoints = 300'000;

class AutoEngine : public Engine {
 public:
  explicit AutoEngine(std::vector<std::unique_ptr<Engine>> others) {
    engines_.push_back(explicit_engine(kFirstPoints));
    for (auto& other : others) engines_.push_back(std::move(other));
    engines_.push_back(explicit_engine());
  }

  [[nodiscard]] std::string_view name() const override { return "auto"; }

  [[nodiscard]] Answer check(const Task& task) override {
    Answer unknown;
    for (const auto& engine : engines_) {
      Answer answer = engine->check(task);
      if (answer.verdict != Verdict::kUnknown) return answer;
      const std::string said = answer.engine + ": " + answer.why;
      if (unknown.why.find(said) == std::string::npos) unknown.why += (unknown.why.empty() ? "" : "; ") + said;
      if (task.limits.out_of_time()) break;
    }
    unknown.engine = name();
    return unknown;
  }

 private:
  std::vector<std::unique_ptr<Engine>> engines_;
};

}  // namespace

std::unique_ptr<Engine> auto_engine(std::vector<std::unique_ptr<Engine>> others) {
  return std::make_unique<AutoEngine>(std::move(others));
}

}  // namespace loco::verify
