// The dependences of tasks that one task makes: which of them must end before another begins (OpenMP 5.0, 2.17.11).
// Objects are known by their addresses.
//
// Owner: the task that makes them; a node belongs to all who hold it. Not thread-safe: Tasks has one lock for those of
// a rank.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace hiroba::openmp {

struct Frame;

class Dependences {
 public:
  struct Node {
    explicit Node(Frame* f) : frame(f) {}
    Frame* frame;  // null: of a wait
    bool has_ended = false;
    std::atomic<int> blocked = 0;  // by how many tasks
    std::vector<std::shared_ptr<Node>> successors;
  };

  // Makes a node that `list` (as GOMP_task has it) blocks. The tasks after it wait for it, if it has a frame.
  std::shared_ptr<Node> add(Frame* frame, void** list);
  // The node's task has ended; returns those that nothing blocks any more.
  static std::vector<Frame*> end(Node& node);

 private:
  struct Object {
    std::shared_ptr<Node> writer;                // the last task that writes it
    std::vector<std::shared_ptr<Node>> readers;  // since then
  };
  void add_object(const std::shared_ptr<Node>& node, const void* address, bool writes);

  std::unordered_map<const void*, Object> objects_;
};

}  // namespace hiroba::openmp
