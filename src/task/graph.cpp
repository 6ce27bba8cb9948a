#include "task/graph.hpp"

#include <utility>

namespace hiroba {

Graph::Graph() {
  recording = true;
  replay = end_of;
}

// ---- recording -----------------------------------------------------------------------------------------------------

void Graph::end_pass(Worker& worker, int pass) {
  std::vector<Task*> made = std::exchange(recorded, {});
  if (pass == 1) {
    tasks_ = std::move(made);
    for (size_t i = 0; i < tasks_.size(); ++i) tasks_[i]->number = i;
    return;
  }
  if (pass == 2) {
    regular_ = made.size() == tasks_.size() && made.size() < in_next;
    for (size_t i = 0; i < made.size(); ++i) made[i]->number = i | in_next;
    if (regular_) compile();
    recording = false;
    created = 0;
  }
  if (pass == 0) first_pass_ = std::move(made);
  else discard(worker, made), discard(worker, first_pass_);
}

void Graph::discard(Worker& worker) { discard(worker, tasks_); }

void Graph::discard(Worker& worker, std::vector<Task*>& tasks) {
  for (Task* const task : tasks) {
    task->body(task->argument, 0);
    delete std::exchange(task->extra, nullptr);
    task->successors.store(Task::closed());
    worker.pool_.put(*task);
  }
  tasks.clear();
}

void Graph::compile() {
  const size_t n = tasks_.size();
  nodes_ = std::make_unique<Node[]>(n + 1);
  std::vector<bool> follows_itself(n, true);  // nothing of the iteration before blocks it
  const auto successors_of = [](const Task& task, const auto& visit) {
    for (Edge* edge = task.successors.load(); edge != nullptr; edge = edge->next)
      visit(static_cast<uint32_t>(Task::of(edge).number));
  };
  for (const Task* const task : tasks_)
    successors_of(*task, [&](uint32_t to) {
      Node& node = nodes_[to & ~in_next];
      ++node.all;
      if ((to & in_next) == 0) ++node.within;
      else follows_itself[to & ~in_next] = false;
    });
  for (size_t i = 0; i < n; ++i) {
    nodes_[i].first = static_cast<uint32_t>(successors_.size());
    successors_of(*tasks_[i], [&](uint32_t to) { successors_.push_back(to); });
    if (follows_itself[i]) successors_.push_back(static_cast<uint32_t>(i) | in_next), ++nodes_[i].all;
  }
  nodes_[n].first = static_cast<uint32_t>(successors_.size());
}

// ---- running -------------------------------------------------------------------------------------------------------

void Graph::run(Worker& worker, int64_t times) {
  const size_t n = tasks_.size();
  if (n == 0 || times <= 0) return;
  times_ = times;
  ended.store(0);
  created = times * static_cast<int64_t>(n);
  for (size_t i = 0; i < n; ++i) {
    nodes_[i].blockers[0].store(nodes_[i].within, std::memory_order_relaxed);
    nodes_[i].blockers[1].store(nodes_[i].all, std::memory_order_relaxed);
    nodes_[i].iteration = 0;
  }
  // Each thread gets a part of the tasks that can run first, so that their successors stay with it.
  Crew& crew = worker.crew();
  const auto threads = static_cast<size_t>(crew.threads());
  std::vector<Task*> roots;
  for (size_t i = 0; i < n; ++i)
    if (nodes_[i].within == 0) roots.push_back(tasks_[i]);
  for (size_t i = roots.size(); i-- > 0;) {
    nodes_[roots[i]->number].blockers[0].store(nodes_[roots[i]->number].all, std::memory_order_relaxed);
    crew.worker(static_cast<int>(i * threads / roots.size())).ready_.push_created(roots[i]);
  }
  crew.wake();
  worker.await(*this, [this] { return all_ended(); });
}

void Graph::end_of(Worker& worker, Task& task, Task*& next) {
  static_cast<Graph*>(task.domain)->end(worker, task, next);
}

void Graph::end(Worker& worker, Task& task, Task*& next) {
  const Node& node = nodes_[task.number];
  const int64_t iteration = nodes_[task.number].iteration++;
  const uint32_t* const end = successors_.data() + (&node)[1].first;
  for (const uint32_t* to = successors_.data() + node.first; to != end; ++to)
    arrive(worker, *to & ~in_next, iteration + (*to >> 31), next);
}

// A task that is released has the blockers of its next iteration but one: nothing counts these down before it has run.
void Graph::arrive(Worker& worker, uint32_t index, int64_t iteration, Task*& next) {
  if (iteration >= times_) return;
  Node& node = nodes_[index];
  std::atomic<int32_t>& blockers = node.blockers[iteration & 1];
  if (blockers.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  blockers.store(node.all, std::memory_order_relaxed);
  worker.release(*tasks_[index], next);
}

}  // namespace hiroba
