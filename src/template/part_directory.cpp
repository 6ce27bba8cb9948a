#include "template/part_directory.hpp"

#include <atomic>
#include <cstring>

#include "base/text.hpp"

namespace hiroba {

namespace {

uint64_t digest(const std::string& text, uint64_t team, uint64_t depth) {
  uint64_t hash = 0xcbf29ce484222325 ^ team;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  hash = (hash ^ depth) * 0x100000001b3;
  return hash == 0 ? 1 : hash;  // 0 is an unused slot
}

}  // namespace

// Returns a slot that its owner was not changing: two reads agree. The words of a slot are equal in both although it
// changed in between only if its array was freed and declared again at the same offset, in which case they are right.
PartDirectory::Slot PartDirectory::read(int rank, size_t at) const {
  const uint64_t in_memory = static_cast<uint64_t>(table_ - world_->base) - world_->rank_memory -
                             static_cast<uint64_t>(world_->rank) * world_->rank_memory_bytes;
  const uint64_t from =
      world_->rank_memory + static_cast<uint64_t>(rank) * world_->rank_memory_bytes + in_memory + at * sizeof(Slot);
  Slot slot = {}, again = {};
  do {
    world_->transport->get(&slot, rank, from, sizeof slot);
    world_->transport->get(&again, rank, from, sizeof again);
  } while (std::memcmp(&slot, &again, sizeof slot) != 0);
  return slot;
}

void PartDirectory::write(size_t at, int word, uint64_t value) {
  auto* const words = reinterpret_cast<uint64_t*>(table_) + at * (sizeof(Slot) / sizeof(uint64_t));
  // A rank that reads the offset then finds the key and the turn that belong to it.
  std::atomic_ref(words[word]).store(value, std::memory_order_release);
}

// Finds the slot of a key, or that in which it would be; false if the table is full.
bool PartDirectory::look_up(uint64_t key, int rank, Slot& out, size_t& at) const {
  at = key % most;
  for (size_t tries = 0; tries < most; ++tries, at = (at + 1) % most) {
    out = read(rank, at);
    if (out.key == key || out.key == 0) return true;
  }
  return false;
}

PartDirectory::Name PartDirectory::add(const std::string& array, const Team& team, const void* part) {
  Slot slot = {};
  size_t at = 0;
  for (uint64_t depth = 0;; ++depth) {
    const uint64_t key = digest(array, team.name(), depth);
    if (!look_up(key, world_->rank, slot, at)) return {};
    if (slot.offset != 0) continue;
    write(at, 0, key);
    write(at, 1, slot.turn + 1);
    write(at, 2, static_cast<uint64_t>(static_cast<const char*>(part) - world_->base));
    return {key, slot.turn + 1};
  }
}

void PartDirectory::remove(const Name& name) {
  Slot slot = {};
  size_t at = 0;
  if (name.key != 0 && look_up(name.key, world_->rank, slot, at)) write(at, 2, 0);
}

Status PartDirectory::find(const Name& name, int rank, const std::string& what, uint64_t& offset) const {
  if (name.key == 0)
    return Status::error(
        "%s is one of more than %zu aligned arrays that are declared in different places, or by "
        "different sets of nodes; others cannot find its parts",
        what.c_str(), most);
  Slot slot = {};
  size_t at = 0;
  const auto is_there = [&] {
    if (!look_up(name.key, rank, slot, at) || slot.key != name.key) return false;
    return slot.turn > name.turn || (slot.turn == name.turn && slot.offset != 0);
  };
  HIROBA_TRY(world_->await(is_there, [&] {
    return format("an access to %s: rank %d has not executed its declaration, or has freed it", what.c_str(), rank);
  }));
  if (slot.turn != name.turn)
    return Status::error("rank %d has freed its part of %s already; synchronise before the end of the block", rank,
                         what.c_str());
  offset = slot.offset;
  return {};
}

}  // namespace hiroba
