#include "coarray/coarray.hpp"

#include <vector>

#include "base/log.hpp"
#include "base/tables/phrases.hpp"
#include "base/text.hpp"
#include "coarray/parts.hpp"

namespace hiroba {

Coarrays::Coarrays() : parts_(std::make_unique<CoarrayParts>()) {}
Coarrays::~Coarrays() = default;

void Coarrays::listen(Transport& transport) {
  parts_->mail.listen(transport);
  parts_->updater.listen(transport);
}

Status Coarrays::start(Memory& memory) {
  CoarrayParts& p = *parts_;
  const World& world = memory.collective().world();
  p.memory = &memory, p.world = &world;
  p.mail.start(world);
  p.mover.start(world);
  p.control.nranks = world.nranks;
  p.control_array.bytes = Control::bytes(world.nranks, memory.checking());
  p.updater.start(world, p.control);
  p.checker.start(memory, memory.checking());
  started_ = true;
  HIROBA_TRY(allocate(p.control_array, "control words of coarrays", "start"));
  p.control.offset = p.control_array.offset, p.control.stride = p.control_array.stride;
  return {};
}

// Puts must arrive before the memory is freed.
Status Coarrays::stop() {
  HIROBA_TRY(parts_->image_sync.sync_at_end({phrases().end, ""}));
  started_ = false;
  return {};
}

Assignments& Coarrays::assignments() const { return parts_->assignments; }
ImageSync& Coarrays::image_sync() const { return parts_->image_sync; }
CoarrayLocks& Coarrays::locks() const { return parts_->locks; }
CoarrayAtomics& Coarrays::atomics() const { return parts_->atomics; }
Collective& Coarrays::collective() const { return parts_->memory->collective(); }

// ---- allocation ----------------------------------------------------------------------------------------------------

Status Coarrays::allocate(Coarray& coarray, const std::string& call, const char* place) {
  Memory& memory = *parts_->memory;
  const World& world = *parts_->world;
  const bool guarded = memory.checking() && !coarray.name.empty();
  Arrays::Request request;
  request.parts = GuardedParts::of(coarray.bytes, guarded);
  request.parts.element = coarray.element, request.parts.name = "coarray " + coarray.name;
  request.parts.holder = "image";
  coarray.gap = request.parts.gap, coarray.stride = request.parts.stride;
  request.dim = {world.nranks, static_cast<int64_t>(coarray.stride)}, request.div = {world.nranks, 1};
  request.element_bytes = 1, request.first = 0, request.count = world.nranks;
  request.call = call.c_str(), request.place = place, request.freed_by = "deallocation";
  request.watched = false;  // the coarrays' own checker does that
  void* all = nullptr;
  HIROBA_TRY(memory.arrays().allocate(request, all));
  coarray.offset = static_cast<uint64_t>(static_cast<char*>(all) - world.base) + coarray.gap;
  coarray.data = world.base + coarray.offset + static_cast<uint64_t>(world.rank) * coarray.stride;
  if (parts_->checker.on()) parts_->checker.add(coarray);
  if (memory.times().shown) parts_->counted.push_back(&coarray);
  return {};
}

namespace {

void report(const Coarray& coarray) {
  if (!coarray.name.empty())
    log_line("coarray %s: %lu accesses to other images by calls, %s", coarray.name.c_str(), coarray.accesses,
             show_bytes(coarray.accessed).c_str());
}

}  // namespace

void Coarrays::report_statistics() const {
  for (const Coarray* coarray : parts_->counted) report(*coarray);
}

Status Coarrays::free(Coarray& coarray, const std::string& call) {
  HIROBA_TRY(parts_->image_sync.sync_memory({call.c_str(), ""}));
  if (parts_->checker.on()) parts_->checker.remove(coarray);
  if (std::erase(parts_->counted, &coarray) > 0) report(coarray);
  return parts_->memory->arrays().free(parts_->world->base + coarray.offset - coarray.gap, call.c_str());
}

}  // namespace hiroba
