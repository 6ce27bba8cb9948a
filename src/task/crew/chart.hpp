// Option task-graph: the tasks of all ranks and what each waited for, as a file for Graphviz. It is recorded while
// tasks are created, so it does not depend on which of them had ended by then.
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

class Chart {
 public:
  static constexpr size_t most = 1000;  // tasks of a rank that are recorded

  // `name_of` says what a section is called: "a[10], 80 B".
  void start(int rank, std::string file, std::function<std::string(const TaskSection&)> name_of);
  bool on() const { return !file_.empty(); }

  // A task of the program.
  void task(const Task& task);
  // A task of the runtime that is one side of an event, which has the same number on both; or that copies data.
  void event(const Task& task, int from, int to, uint64_t number, const TaskSection& section);
  void copy(const Task& task, const TaskSection& section);
  // `after` waits for `before`, unless that is the task `inside` on whose behalf it is created.
  void edge(const TaskRef& before, const Task& after, const Task* inside);
  // All tasks so far have ended, and those to come have nothing to do with them.
  void end_phase();

  // Adds this rank's part to the file, which the first rank begins and the last one ends: the ranks call it in turn.
  Status write(int nranks) const;
  size_t tasks() const { return tasks_; }  // of the program, also those that are not recorded

 private:
  using Key = std::pair<const Task*, uint64_t>;  // with its serial
  struct Node {
    enum Kind { join, program, event, copy } kind = join;
    size_t phase = 0;
    std::string id, text;
    std::vector<Key> before = {};
  };
  Node& node(const Key& key) { return nodes_.try_emplace(key, Node{Node::join, phase_, "", ""}).first->second; }
  void add(const Task& task, Node::Kind kind, std::string id, std::string text);
  void collect(const Key& key, size_t phase, std::vector<const Node*>& out) const;
  std::string text() const;

  int rank_ = 0;
  std::string file_;
  std::function<std::string(const TaskSection&)> name_of_;
  std::mutex mutex_;  // guards what follows
  std::map<Key, Node> nodes_;
  std::vector<Key> order_;  // of what is drawn
  size_t phase_ = 0, tasks_ = 0;
};

}  // namespace hiroba
