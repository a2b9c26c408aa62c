#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "loco_sim/workloads/flows/flow_files.hpp"
#include "loco_sim/workloads/flows/table_lines.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::workloads::flows {

namespace {

constexpr std::uint64_t kMatrixIdMost = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMatrixBytesMost = std::uint64_t{1} << 30U;

struct Declared {
  std::uint64_t number = 0;
  text::Place place;
};

class MatrixReader {
 public:
  MatrixReader(std::uint32_t nodes, StartUnit unit) : nodes_(nodes), unit_(unit) {}

  void add(const TableLine& line) {
    const std::string& word = line.fields.front().text;
    if (word == "Nodes" || word == "Connections" || word == "Triggers" || word == "Failures") return declare(line);
    if (word == "trigger") return add_trigger(line);
    if (word == "failure")
      throw text::InputError(line.place(), "", "no failures: fabric.failures of the scenario says what fails",
                             text::in_quotes(line.whole));
    const std::size_t arrow = word.find("->");
    if (arrow == std::string::npos)
      throw text::InputError(line.place(), "", "S->D, trigger, Nodes, Connections or Triggers", text::in_quotes(word));
    add_flow(line, arrow);
  }

  FlowList take(const text::Place& top) {
    require_count("Connections", list_.flows.size());
    require_count("Triggers", list_.triggers.size());
    if (list_.flows.empty()) throw text::InputError(top, "", "flows", "none");
    require_hosts();
    for (const auto& [flow, field] : started_) list_.triggers[trigger(field)].starts.push_back(flow);
    for (const auto& [flow, field, end] : fires_) list_.fires.push_back({flow, trigger(field), end});
    std::map<std::uint32_t, std::uint32_t> fired;
    for (std::size_t i = 0; i < list_.fires.size(); ++i) {
      const Fire& fire = list_.fires[i];
      if (list_.triggers[fire.trigger].kind == TriggerKind::oneshot && ++fired[fire.trigger] > 1)
        throw text::InputError(std::get<1>(fires_[i]).place, "", "a oneshot trigger that one flow fires",
                               "trigger " + std::to_string(list_.triggers[fire.trigger].id) + ", fired before");
    }
    std::ranges::stable_sort(list_.fires, {}, &Fire::flow);
    return std::move(list_);
  }

 private:
  void declare(const TableLine& line) {
    const std::string& word = line.fields.front().text;
    if (line.fields.size() != 2) throw text::InputError(line.place(), "", word + " N", text::in_quotes(line.whole));
    const Declared declared{number_of(line.fields[1], word, kMatrixIdMost), line.fields[1].place};
    if (word == "Nodes" && declared.number > nodes_)
      throw text::InputError(declared.place, "Nodes",
                             "at most " + std::to_string(nodes_) + ", the nodes of the scenario",
                             std::to_string(declared.number));
    if (word == "Failures" && declared.number != 0)
      throw text::InputError(declared.place, "Failures", "0: fabric.failures of the scenario says what fails",
                             std::to_string(declared.number));
    if (!declared_.emplace(word, declared).second) throw text::InputError(line.place(), word, "it once", "it twice");
  }

  void require_count(const std::string& what, std::size_t found) const {
    const auto declared = declared_.find(what);
    if (declared != declared_.end() && declared->second.number != found)
      throw text::InputError(declared->second.place, what, std::to_string(found) + ", as many as follow",
                             std::to_string(declared->second.number));
  }

  /// Hosts are those that the file declares, wherever it does so.
  void require_hosts() const {
    const auto declared = declared_.find("Nodes");
    if (declared == declared_.end()) return;
    for (std::size_t f = 0; f < list_.flows.size(); ++f)
      if (const NodeId most = std::max(list_.flows[f].source, list_.flows[f].destination);
          most >= declared->second.number)
        throw text::InputError(ends_[f], "",
                               "hosts below " + std::to_string(declared->second.number) + ", as Nodes says",
                               std::to_string(most));
  }

  /// The value after a keyword.
  static const Field& value(const TableLine& line, std::size_t keyword) {
    if (keyword + 1 < line.fields.size()) return line.fields[keyword + 1];
    throw text::InputError(line.fields[keyword].place, "", "a value behind " + line.fields[keyword].text, "nothing");
  }

  static std::uint64_t id(const Field& field, const std::string& what) {
    const std::uint64_t number = number_of(field, what, kMatrixIdMost);
    if (number == 0) throw text::InputError(field.place, what, "an id above 0", "0");
    return number;
  }

  NodeId host(const std::string& word, const text::Place& place) const {
    const std::optional<std::int64_t> host = text::parse_integer(word);
    if (!host || *host < 0 || *host >= nodes_)
      throw text::InputError(place, "", "a host from 0 to " + std::to_string(nodes_ - 1), text::in_quotes(word));
    return static_cast<NodeId>(*host);
  }

  void add_flow(const TableLine& line, std::size_t arrow) {
    const Field& ends = line.fields.front();
    Flow flow;
    flow.source = host(ends.text.substr(0, arrow), ends.place);
    flow.destination = host(ends.text.substr(arrow + 2), ends.place);
    if (flow.source == flow.destination)
      throw text::InputError(ends.place, "", "two hosts", text::in_quotes(ends.text));
    const auto index = static_cast<std::uint32_t>(list_.flows.size());
    std::optional<std::uint64_t> name;
    std::optional<Field> trigger;
    bool starts = false;
    for (std::size_t i = 1; i < line.fields.size(); i += 2) {
      const std::string& word = line.fields[i].text;
      const Field& field = value(line, i);
      if (word == "id") {
        name = id(field, "id");
      } else if (word == "start") {
        starts = true;
        flow.start_ps =
            static_cast<std::int64_t>(number_of(field, "start", std::uint64_t{1} << 61U >> (unit_ == 1 ? 0U : 31U))) *
            unit_;
      } else if (word == "trigger") {
        trigger = field;
      } else if (word == "size") {
        flow.bytes = number_of(field, "size", kMatrixBytesMost);
        if (flow.bytes == 0) throw text::InputError(field.place, "size", "a size from 1 to 1073741824", "0");
      } else if (word == "send_done_trigger" || word == "recv_done_trigger") {
        fires_.emplace_back(index, field, word == "send_done_trigger" ? End::completed : End::received);
      } else if (word == "prio" || word == "msg") {
        static_cast<void>(number_of(field, word, kMatrixIdMost));  // for htsim only; a NIC has no use for it
      } else {
        throw text::InputError(line.fields[i].place, "",
                               "id, start, trigger, size, send_done_trigger, recv_done_trigger, prio or msg",
                               text::in_quotes(word));
      }
    }
    if (flow.bytes == 0) throw text::InputError(line.place(), "", "a size", "none");
    if (starts == trigger.has_value())
      throw text::InputError(line.place(), "", "a start or a trigger", starts ? "both" : "neither");
    if (trigger && !name) throw text::InputError(line.place(), "", "an id of a flow with a trigger", "none");
    flow.id = name.value_or(index + 1);
    if (name && !ids_.insert(*name).second)
      throw text::InputError(line.place(), "id", "another id for each flow", std::to_string(*name));
    if (trigger) {
      flow.start_ps = kTriggered;
      started_.emplace_back(index, *trigger);
    }
    list_.flows.push_back(flow);
    ends_.push_back(ends.place);
  }

  void add_trigger(const TableLine& line) {
    const std::string form = "trigger id T oneshot, multishot, or barrier count N";
    const auto word = [&](std::size_t i) { return i < line.fields.size() ? line.fields[i].text : std::string(); };
    const std::size_t width = word(3) == "barrier" ? 6 : 4;
    if (word(1) != "id" || line.fields.size() != width || (width == 6 && word(4) != "count"))
      throw text::InputError(line.place(), "", form, text::in_quotes(line.whole));
    Trigger trigger{.id = id(line.fields[2], "id"), .starts = {}};
    if (word(3) == "multishot") {
      trigger.kind = TriggerKind::multishot;
    } else if (word(3) == "barrier") {
      trigger.kind = TriggerKind::barrier;
      trigger.count = static_cast<std::uint32_t>(id(line.fields[5], "count"));
    } else if (word(3) != "oneshot") {
      throw text::InputError(line.fields[3].place, "", "oneshot, multishot or barrier", text::in_quotes(word(3)));
    }
    if (!triggers_.emplace(trigger.id, static_cast<std::uint32_t>(list_.triggers.size())).second)
      throw text::InputError(line.fields[2].place, "id", "another id for each trigger", line.fields[2].text);
    list_.triggers.push_back(trigger);
  }

  [[nodiscard]] std::uint32_t trigger(const Field& field) const {
    const auto found = triggers_.find(id(field, "trigger"));
    if (found == triggers_.end())
      throw text::InputError(field.place, "trigger", "a trigger that is declared", text::in_quotes(field.text));
    return found->second;
  }

  std::uint32_t nodes_;
  StartUnit unit_;
  FlowList list_;
  std::map<std::string, Declared> declared_;
  std::map<std::uint64_t, std::uint32_t> triggers_;
  std::set<std::uint64_t> ids_;
  std::vector<text::Place> ends_;  // by flow: where its hosts are named
  std::vector<std::pair<std::uint32_t, Field>> started_;
  std::vector<std::tuple<std::uint32_t, Field, End>> fires_;
};

}  // namespace

FlowList read_connection_matrix(const std::string& text, const std::string& file, std::uint32_t nodes, StartUnit unit) {
  MatrixReader reader(nodes, unit);
  for (const TableLine& line : table_lines(text, file, ' ')) reader.add(line);
  const text::Place top(file, 1, 1);
  FlowList list = reader.take(top);
  if (const std::string stuck = never_begins(list); !stuck.empty())
    throw text::InputError(top, "", "flows that can begin", stuck);
  return list;
}

}  // namespace loco::workloads::flows
