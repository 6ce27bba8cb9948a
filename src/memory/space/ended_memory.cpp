#include "memory/space/ended_memory.hpp"

#include "base/text.hpp"

namespace hiroba {

EndedMemory::EndedMemory(const Arrays& arrays, const Space& space, const char* call)
    : begin_(space.base()), end_(space.base() + space.bytes()), call_(call) {
  arrays.for_each([this](const Array& array) {
    const Distribution& d = array.distribution;
    arrays_.push_back({array.data, array.data + d.bytes(), array.parts.stride != 0 ? array.parts.name : array.name,
                       d.elements(), d.element_bytes(), array.is_heap || array.parts.stride != 0});
  });
}

bool EndedMemory::contains(const void* address) const { return address >= begin_ && address < end_; }

std::string EndedMemory::explain(const void* address) const {
  const char* const at = static_cast<const char*>(address);
  std::string what = format("%p, which was in the addresses of shared memory,", address);
  for (const Past& array : arrays_) {
    if (at < array.begin || at >= array.end) continue;
    const auto byte = static_cast<uint64_t>(at - array.begin);
    what = array.has_parts ? "memory in " + array.name
                           : format("array %s (%lu elements of %lu bytes), index %lu,", array.name.c_str(),
                                    array.elements, array.element_bytes, byte / array.element_bytes);
  }
  return format("use of %s after %s, which gives back all shared memory; use it before, or copy what is needed later",
                what.c_str(), call_.c_str());
}

}  // namespace hiroba
