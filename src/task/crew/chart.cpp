#include "task/crew/chart.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace hiroba {

std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c == '"' || c == '\\') out += {'\\', c};
    else if (c == '\n') out += "\\n";
    else out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  return out;
}

namespace {

const char* base_name(const char* place) {
  const std::string_view text = place;
  const size_t slash = text.rfind('/');
  return place + (slash == std::string_view::npos ? 0 : slash + 1);
}

}  // namespace

void Chart::start(int rank, std::string file, std::function<std::string(const TaskSection&)> name_of) {
  rank_ = rank, file_ = std::move(file), name_of_ = std::move(name_of);
}

// ---- recording -----------------------------------------------------------------------------------------------------

void Chart::add(const Task& task, Node::Kind kind, std::string id, std::string text) {
  const std::lock_guard lock(mutex_);
  if (kind == Node::program) ++tasks_;
  if (tasks_ > most) return;
  const Key key(&task, task.serial);
  Node& added = node(key);
  added.kind = kind, added.id = std::move(id), added.text = std::move(text);
  order_.push_back(key);
}

void Chart::task(const Task& task) {
  const bool child = task.domain->parent != nullptr;
  const std::string id =
      child ? format("r%d_c%zu", rank_, order_.size()) : format("r%d_%lu", rank_, task.number & ~Task::lone);
  add(task, Node::program, id, format("%s\n%s", task.label->name, base_name(task.label->place)));
}

void Chart::event(const Task& task, int from, int to, uint64_t number, const TaskSection& section) {
  add(task, Node::event, format("e%d_%d_%lu", from, to, number), name_of_(section));
}

void Chart::copy(const Task& task, const TaskSection& section) {
  add(task, Node::copy, format("r%d_m%zu", rank_, order_.size()), name_of_(section));
}

void Chart::edge(const TaskRef& before, const Task& after, const Task* inside) {
  if (before.task == nullptr) return;
  const bool self = before.task == &after && before.serial == after.serial;
  if (self || (before.task == inside && before.serial == inside->serial)) return;
  const std::lock_guard lock(mutex_);
  if (tasks_ <= most) node(Key(&after, after.serial)).before.emplace_back(before.task, before.serial);
}

void Chart::end_phase() {
  const std::lock_guard lock(mutex_);
  ++phase_;
}

// ---- writing -------------------------------------------------------------------------------------------------------

// Collects the nodes to draw for this one: itself, or the predecessors of a task that only joins others.
void Chart::collect(const Key& key, size_t phase, std::vector<const Node*>& out) const {
  const auto found = nodes_.find(key);
  if (found == nodes_.end() || found->second.phase != phase) return;
  if (found->second.kind != Node::join) return out.push_back(&found->second);
  for (const Key& before : found->second.before) collect(before, phase, out);
}

std::string Chart::text(int nranks) const {
  std::string out = rank_ == 0 ? "digraph tasks {\nnode [shape=point,fontname=sans,fontsize=10]\n" : "", edges;
  out += format("subgraph cluster_%d {\nlabel=\"rank %d\"\n", rank_, rank_);
  std::set<std::string> known;  // an edge may follow from several accesses
  for (const Key& key : order_) {
    const Node& node = nodes_.at(key);
    if (node.kind == Node::program)
      out += format("%s [shape=box,label=\"%s\"]\n", node.id.c_str(), quoted(node.text).c_str());
    else edges += format("%s [shape=plaintext,label=\"%s\"]\n", node.id.c_str(), quoted(node.text).c_str());
    std::vector<const Node*> before;
    for (const Key& one : node.before) collect(one, node.phase, before);
    for (const Node* const from : before) {
      const bool moves = from->kind != Node::program || node.kind != Node::program;
      const std::string edge =
          format("%s -> %s%s\n", from->id.c_str(), node.id.c_str(), moves ? " [style=dashed]" : "");
      if (known.insert(edge).second) edges += edge;
    }
  }
  return out + "}\n" + edges + (rank_ == nranks - 1 ? "}\n" : "");
}

}  // namespace hiroba
