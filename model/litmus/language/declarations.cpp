#include "model/litmus/language/declarations.hpp"

#include <algorithm>
#include <string_view>

#include "model/litmus/language/names.hpp"
#include "model/litmus/language/yaml_values.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {

using yaml::Entry;
using yaml::Node;

namespace {

bool is_identifier(std::string_view s) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_'";
  constexpr std::string_view kNotFirst = "0123456789'";
  return !s.empty() && s.find_first_not_of(kAllowed) == std::string_view::npos &&
         kNotFirst.find(s[0]) == std::string_view::npos;
}

/// The name of a location, barrier or ring buffer, not used before.
std::string new_identifier(const Program& program, const Entry& entry, const std::string& expected) {
  const std::string& s = entry.key;
  if (!is_identifier(s)) fail(key_of(entry), expected);
  if (is_reserved_word(s))
    throw text::InputError(entry.key_place, "", expected, text::in_quotes(s) + ", a word of the statements");
  const bool used = find_name(program.locations, s) != kNone || find_name(program.barriers, s) != kNone ||
                    find_name(program.ringbuffers, s) != kNone;
  if (used) fail(key_of(entry), "a name not used before");
  return s;
}

void read_home(Program& program, Location& location, const Node& declaration) {
  const Node* shared = declaration.find("shared");
  if (shared != nullptr && boolean(*shared)) location.kind = LocationKind::shared;
  const Node* node = declaration.find("node");
  if (location.kind == LocationKind::shared) {
    if (node != nullptr) fail(*node, "no home node for a shared location");
    return;
  }
  if (node == nullptr) fail(declaration, "the key node, or shared: true");
  location.node = program.mention(node_number(*node));
}

/// How the word's region is registered, and where it is.
void read_region(const Program& program, Location& location, const Node& declaration) {
  const auto of_word = [&](const char* key) {
    const Node* n = declaration.find(key);
    if (n != nullptr && (is_corerma(program.model) || location.kind != LocationKind::word))
      fail(*n, std::string(key) + " of a word of the LOCO paper's models");
    return n;
  };
  if (const Node* n = of_word("relaxed")) location.relaxed = boolean(*n);
  const Node* n = of_word("memory");
  if (n == nullptr) return;
  const std::string s = scalar(*n, "host or device");
  if (s != "host" && s != "device") fail(*n, "host or device");
  location.device = s == "device";
}

void read_init(Program& program, Location& location, const Node& init) {
  location.init = read_value(program, init);
  if (location.kind == LocationKind::shared && !is_integer(location.init))
    fail(init, "an integer: a shared location holds one word");
  if (is_tuple(location.init)) {
    location.kind = LocationKind::tuple;
    location.tuple_size = len(program.tuples[static_cast<std::size_t>(location.init - kFirstTuple)]);
  } else if (!is_integer(location.init)) {
    fail(init, "an integer");
  }
}

int thread_index(const Program& program, const Node& n) {
  const int t = natural(n, "the position of a thread, from 0", kThreadsMax);
  if (t >= len(program.threads))
    fail(n, "the position of one of the " + std::to_string(len(program.threads)) + " threads, from 0");
  return t;
}

std::vector<int> thread_list(const Program& program, const Node& n) {
  if (!is_list(n)) fail(n, "a list of threads");
  std::vector<int> list;
  for (const Node& e : n.items) {
    const int t = thread_index(program, e);
    if (std::find(list.begin(), list.end(), t) != list.end()) fail(e, "each thread once");
    list.push_back(t);
  }
  std::sort(list.begin(), list.end());
  return list;
}

void read_barriers(Program& program, const Node& n) {
  if (!is_map(n)) fail(n, "a map of barriers");
  for (const Entry& entry : n.entries) {
    Barrier b;
    b.name = new_identifier(program, entry, "the name of a barrier");
    if (is_map(entry.value)) {
      check_keys(entry.value, {"threads", "transitive"});
      b.participants = thread_list(program, required(entry.value, "threads"));
      if (const Node* t = entry.value.find("transitive")) b.transitive = boolean(*t);
    } else {
      b.participants = thread_list(program, entry.value);
    }
    if (b.participants.empty()) fail(key_of(entry), "a barrier with a participating thread");
    program.barriers.push_back(std::move(b));
  }
}

void read_ring_buffers(Program& program, const Node& n) {
  if (!is_map(n)) fail(n, "a map of ring buffers");
  for (const Entry& entry : n.entries) {
    RingBuffer r;
    r.name = new_identifier(program, entry, "the name of a ring buffer");
    check_keys(entry.value, {"writer", "readers"});
    const Node& writer = required(entry.value, "writer");
    const Node& readers = required(entry.value, "readers");
    r.writer = thread_index(program, writer);
    r.readers = thread_list(program, readers);
    program.ringbuffers.push_back(std::move(r));
  }
}

}  // namespace

void read_locations(Program& program, const Node& document) {
  const Node* n = document.find("locations");
  if (n == nullptr) return;
  if (!is_map(*n)) fail(*n, "a map of locations");
  for (const Entry& entry : n->entries) {
    Location l;
    l.name = new_identifier(program, entry, "the name of a location");
    check_keys(entry.value, {"node", "init", "shared", "relaxed", "memory"});
    read_home(program, l, entry.value);
    if (const Node* init = entry.value.find("init")) read_init(program, l, *init);
    read_region(program, l, entry.value);
    program.locations.push_back(std::move(l));
  }
}

void read_objects(Program& program, const Node& document) {
  if (const Node* n = document.find("barriers")) read_barriers(program, *n);
  if (const Node* n = document.find("ringbuffers")) read_ring_buffers(program, *n);
}

}  // namespace loco::model::litmus
