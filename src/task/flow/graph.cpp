#include "task/flow/graph.hpp"

#include <algorithm>
#include <utility>

namespace hiroba {

Graph::Graph(Memory& memory, Worker& worker, Events& events, bool parts) : worker_(worker), events_(events) {
  flow_.start(memory, worker, events);
  flow_.allow_parts(parts);
  domain().replay = this;
}

// ---- recording -----------------------------------------------------------------------------------------------------

void Graph::begin_pass(int pass) {
  domain().recording = &recording_[pass];
  events_.record(pass == 1 ? &recorded_events_ : &other_events_);
}

void Graph::end_pass(int pass) {
  domain().recording = nullptr;
  events_.record(nullptr);
  const std::vector<Task*>& made = recording_[pass].tasks;
  for (size_t i = 0; i < made.size(); ++i) made[i]->number = pass == 0 ? in_first_pass : pass == 1 ? i : i | in_next;
  if (pass < passes - 1) return;
  regular_ = are_alike(made);
  if (regular_) compile();
  discard(recording_[0].tasks), discard(recording_[2].tasks);
  for (Recording& recording : recording_) recording.links = {};
}

bool Graph::are_alike(const std::vector<Task*>& others) const {
  return tasks_.size() < in_first_pass &&
         std::equal(
             tasks_.begin(), tasks_.end(), others.begin(), others.end(),
             [](const Task* a, const Task* b) { return a->kind == b->kind && a->body == b->body; });
}

void Graph::discard() { discard(tasks_); }

// The arguments of the runtime's own tasks need no destruction.
void Graph::discard(std::vector<Task*>& tasks) {
  for (Task* const task : tasks) {
    if (task->kind == Task::program) task->body(task->argument, 0);
    delete std::exchange(task->extra, nullptr);
    task->successors.store(Task::closed());
    worker_.pool_.put(*task);
  }
  tasks.clear();
}

void Graph::compile() {
  const size_t n = tasks_.size();
  nodes_ = std::make_unique<Node[]>(n + 1);
  std::vector<std::pair<uint32_t, uint32_t>> edges;
  std::vector<bool> follows_itself(n, true);  // nothing of the iteration before blocks it
  for (const int pass : {1, 2})
    for (const Recording::Link& link : recording_[pass].links)
      if (link.before->number < in_first_pass) edges.emplace_back(link.before->number, link.after->number);
  for (const auto& [before, after] : edges)
    if ((after & in_next) != 0) follows_itself[after & ~in_next] = false;
  for (uint32_t i = 0; i < n; ++i)
    if (follows_itself[i]) edges.emplace_back(i, i | in_next);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  for (const auto& [before, after] : edges) {
    Node& node = nodes_[after & ~in_next];
    ++node.all;
    if ((after & in_next) == 0) ++node.within;
    ++nodes_[before + 1].first;
    successors_.push_back(after);
  }
  for (size_t i = 0; i < n; ++i) nodes_[i + 1].first += nodes_[i].first;
  for (const std::vector<Task*>& from_rank : recorded_events_.expected)
    for (const Task* const task : from_rank) ++nodes_[task->number].all, ++nodes_[task->number].within;
}

// ---- running -------------------------------------------------------------------------------------------------------

void Graph::prepare(int64_t times) {
  times_ = times;
  domain().ended.store(0);
  domain().created = times * std::ssize(tasks_);
  for (size_t i = 0; i < tasks_.size(); ++i) {
    Node& node = nodes_[i];
    node.blockers[0].store(node.within > 0 ? node.within : node.all, std::memory_order_relaxed);
    node.blockers[1].store(node.all, std::memory_order_relaxed);
    node.iteration = 0;
  }
  events_.replay(recorded_events_);
}

void Graph::run() {
  if (times_ <= 0) return;
  // Each thread gets a part of the tasks that can run first, so that their successors stay with it; tasks with an
  // exclusion or a priority are released.
  Crew& crew = worker_.crew();
  const auto threads = static_cast<size_t>(crew.threads());
  std::vector<Task*> roots;
  Task* next = nullptr;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    Task& task = *tasks_[i];
    if (nodes_[i].within > 0) continue;
    if (task.is_plain()) roots.push_back(&task);
    else worker_.release(task, next);
  }
  for (size_t i = roots.size(); i-- > 0;)
    crew.worker(static_cast<int>(i * threads / roots.size())).ready_.push_created(roots[i]);
  crew.wake();
  worker_.run_inner(next);
  if (next != nullptr) worker_.push(*next);
  worker_.await(domain(), [this] { return domain().all_ended(); });
}

void Graph::end(Worker& worker, Task& task, Task*& next) {
  Node& node = nodes_[task.number];
  const int64_t iteration = node.iteration++;
  const uint32_t* const end = successors_.data() + (&node)[1].first;
  for (const uint32_t* to = successors_.data() + node.first; to != end; ++to) {
    const uint32_t index = *to & ~in_next;
    if (count_down(index, iteration + (*to >> 31))) worker.release(*tasks_[index], next);
  }
}

// The event of an iteration comes after the end of the task that waited for the event of the iteration before.
bool Graph::arrive(Task& task) { return count_down(static_cast<uint32_t>(task.number), nodes_[task.number].iteration); }

// Returns true if the task can run. It then has the blockers of its next iteration but one: nothing decrements these
// before it has run.
bool Graph::count_down(uint32_t index, int64_t iteration) {
  if (iteration >= times_) return false;
  Node& node = nodes_[index];
  std::atomic<int32_t>& blockers = node.blockers[iteration & 1];
  if (blockers.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  blockers.store(node.all, std::memory_order_relaxed);
  return true;
}

// Concurrent changes do not matter to a caller that reports a lack of progress.
std::vector<Replay::Waiting> Graph::waiting() const {
  std::vector<Waiting> of_task(times_ > 0 ? tasks_.size() : 0), out;
  for (size_t i = 0; i < of_task.size(); ++i)
    for (uint32_t s = nodes_[i].first; s < nodes_[i + 1].first; ++s) {
      const uint32_t after = successors_[s] & ~in_next;
      const bool next = successors_[s] != after;
      if (nodes_[i].iteration + (next ? 1 : 0) > nodes_[after].iteration) continue;  // it has run in that iteration
      Waiting& waiting = of_task[after];
      if (++waiting.others == 1 || tasks_[i]->kind == Task::program) waiting.one = tasks_[i];
    }
  for (size_t i = 0; i < of_task.size(); ++i)
    if (nodes_[i].iteration < times_) out.push_back({tasks_[i], of_task[i].others, of_task[i].one});
  return out;
}

}  // namespace hiroba
