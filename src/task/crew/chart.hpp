// Option task-graph: writes the tasks of all ranks and the edges between them as a file for Graphviz. Edges are
// recorded while tasks are created, so the file does not depend on which tasks had ended by then.
//
// Owner: Tasks. Thread-safe: tasks create tasks in all threads.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "task/access.hpp"
#include "task/crew/node.hpp"

namespace hiroba {

// Escapes the text for a string of DOT or JSON.
std::string quoted(const std::string& text);

class Chart {
 public:
  static constexpr size_t most = 1000;  // most tasks of a rank that are recorded

  // `name_of` returns a section's name: "a[10], 80 B".
  void start(int rank, std::string file, std::function<std::string(const TaskSection&)> name_of);
  bool on() const { return !file_.empty(); }

  // Adds a task of the program.
  void task(const Task& task);
  // Adds a task of the runtime that is one side of an event, which has the same number on both, or that copies data.
  void event(const Task& task, int from, int to, uint64_t number, const TaskSection& section);
  void copy(const Task& task, const TaskSection& section);
  // `after` waits for `before`, unless `before` is the task `inside` on whose behalf `after` is created.
  void edge(const TaskRef& before, const Task& after, const Task* inside);
  // All tasks so far have ended, and later ones do not depend on them.
  void end_phase();

  const std::string& file() const { return file_; }
  // Returns this rank's part of the file, which the first rank begins and the last one ends.
  std::string text(int nranks) const;
  size_t tasks() const { return tasks_; }  // of the program, including those that are not recorded

 private:
  using Key = std::pair<const Task*, uint64_t>;  // the task and its serial
  struct Node {
    enum Kind { join, program, event, copy } kind = join;
    size_t phase = 0;
    std::string id, text;
    std::vector<Key> before = {};
  };
  Node& node(const Key& key) { return nodes_.try_emplace(key, Node{Node::join, phase_, "", ""}).first->second; }
  void add(const Task& task, Node::Kind kind, std::string id, std::string text);
  void collect(const Key& key, size_t phase, std::vector<const Node*>& out) const;

  int rank_ = 0;
  std::string file_;
  std::function<std::string(const TaskSection&)> name_of_;
  std::mutex mutex_;  // guards the members below
  std::map<Key, Node> nodes_;
  std::vector<Key> order_;  // the drawn tasks in their order of creation
  size_t phase_ = 0, tasks_ = 0;
};

}  // namespace hiroba
