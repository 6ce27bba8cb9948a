#include "collective/collective.hpp"

#include "collective/parts.hpp"

namespace hiroba {

Collective::Collective() : parts_(std::make_unique<CollectiveParts>()) {}
Collective::~Collective() = default;

void Collective::listen(Transport& transport) {
  parts_->parcels.listen(transport);
  parts_->questions.listen(transport);
  parts_->report.listen(transport);
}

void Collective::start(const World& world, uint64_t scratch, uint64_t stride, const Settings& settings) {
  CollectiveParts& p = *parts_;
  p.world = world, p.settings = settings;
  p.world.rank = world.job.rank, p.world.nranks = world.job.nranks;
  p.world.spins = world.job.spins();
  p.world.requests = &p.requests, p.world.operations = &p.operations;
  p.barriers.start(p.world, settings.measure);
  p.arrivals.start(p.world, scratch, stride);
  p.requests.start(p.world);
  p.parcels.start(p.world);
  p.joined_barrier.start(p.parcels);
  const uint64_t lanes = scratch + arrivals_bytes, log = lanes + Lanes::bytes, staging = log + CallLog::bytes;
  p.log.start(p.world, log, stride);
  p.lanes.start(p.world, p.log, p.questions, settings.tuning, lanes, stride);
  p.exchange.start(p.world, p.parcels, p.operations, staging + static_cast<uint64_t>(p.world.rank) * stride,
                   scratch + scratch_bytes - staging);
  p.progress.start(p.world, settings.progress);
  p.report.start(p.world);
  p.teams.start();
  p.questions.start(p.world, p.barriers.entered(), p.log, p.teams.all());
}

Status Collective::stop() {
  parts_->progress.stop();
  return {};
}

bool Collective::meantime(void* self) {
  CollectiveParts& parts = *static_cast<Collective*>(self)->parts_;
  const World& world = parts.world;
  if (parts.barriers.waits_here()) {
    parts.barriers.tell_long_wait();
    if (parts.questions.any()) parts.questions.answer();
  }
  if (world.operations == nullptr || !world.operations->any()) return false;
  const bool any = world.transport->progress();
  return world.operations->advance() || any;
}

void Collective::begin_progress() { parts_->progress.begin_region(); }
void Collective::end_progress() { parts_->progress.end_region(); }

const World& Collective::world() const { return parts_->world; }
Barriers& Collective::barriers() const { return parts_->barriers; }
Arrivals& Collective::arrivals() const { return parts_->arrivals; }
TeamOperations& Collective::teams() const { return parts_->teams; }
Requests& Collective::requests() const { return parts_->requests; }

}  // namespace hiroba
