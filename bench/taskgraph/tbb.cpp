// oneTBB: a task_group where tasks are free, and else a flow graph, which is told the edges: it does not find them by
// itself. To run a graph is to build it, run it and take it down; to replay it is to run it.
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <deque>
#include <memory>
#include <vector>

#include "taskgraph.h"

namespace {

namespace flow = tbb::flow;
using Node = flow::continue_node<flow::continue_msg>;

class Flow {
 public:
  explicit Flow(const graph* g) {
    for (int t = 0; t < g->tasks; t++) {
      nodes_.emplace_back(flow_, [g, t](const flow::continue_msg&) { task_run(g, t); });
      for (int e = g->first_before[t]; e < g->first_before[t + 1]; e++)
        flow::make_edge(nodes_[static_cast<size_t>(g->before[e])], nodes_.back());
      if (g->first_before[t] == g->first_before[t + 1]) sources_.push_back(&nodes_.back());
    }
  }

  void run() {
    for (Node* source : sources_) source->try_put(flow::continue_msg());
    flow_.wait_for_all();
  }

 private:
  flow::graph flow_;
  std::deque<Node> nodes_;
  std::vector<Node*> sources_;
};

// What lives as long as the runtime, or as a graph that is kept.
std::unique_ptr<tbb::global_control> control;
std::unique_ptr<tbb::task_arena> arena;
std::unique_ptr<Flow> kept;

void start(int threads) {
  control =
      std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads));
  arena = std::make_unique<tbb::task_arena>(threads);
}

void run(const graph* g) {
  arena->execute([g] {
    if (!g->free) {
      Flow(g).run();
      return;
    }
    tbb::task_group group;
    for (int t = 0; t < g->tasks; t++) group.run([g, t] { task_run(g, t); });
    group.wait();
  });
}

// A flow graph belongs to the arena in which it is made.
void record(const graph* g) {
  arena->execute([g] { kept = std::make_unique<Flow>(g); });
}

void replay(const graph* /*g*/) {
  arena->execute([] { kept->run(); });
}

void release(const graph* /*g*/) { kept.reset(); }

void stop() {
  arena.reset();
  control.reset();
}

}  // namespace

int main(int argc, char** argv) {
  runtime tbb{};
  tbb.name = "tbb";
  tbb.team.count = 1;
  tbb.team.program = "tbb";
  tbb.start = start;
  tbb.run = run;
  tbb.record = record;
  tbb.replay = replay;
  tbb.release = release;
  tbb.stop = stop;
  return taskgraph(argc, argv, &tbb);
}
