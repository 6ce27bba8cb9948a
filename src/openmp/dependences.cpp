#include "openmp/dependences.hpp"

#include <bit>
#include <utility>

namespace hiroba::openmp {

namespace {

// Kinds of an object of type omp_depend_t: its second word.
constexpr uintptr_t kind_in = 1;

}  // namespace

void Dependences::add_object(const std::shared_ptr<Node>& node, const void* address, bool writes) {
  Object& object = objects_[address];
  const auto wait_for = [&](const std::shared_ptr<Node>& other) {
    if (other->has_ended || other == node) return;
    other->successors.push_back(node);
    ++node->blocked;
  };
  if (object.writer != nullptr) wait_for(object.writer);
  if (writes)
    for (const auto& reader : object.readers) wait_for(reader);
  if (node->frame == nullptr) return;
  if (!writes) {
    // Those that have ended go when their number may have doubled.
    if (std::has_single_bit(object.readers.size()))
      std::erase_if(object.readers, [](const auto& reader) { return reader->has_ended; });
    return object.readers.push_back(node);
  }
  object.writer = node;
  object.readers.clear();
}

// GCC's list: either the number of all, the number of those written, and the addresses; or 0, the numbers of all, of
// those written, of mutexinoutset, of those read, and the addresses, and then objects of type omp_depend_t.
std::shared_ptr<Dependences::Node> Dependences::add(Frame* frame, void** list) {
  const auto number = [list](int at) { return reinterpret_cast<uintptr_t>(list[at]); };
  auto node = std::make_shared<Node>(frame);
  const bool is_long = number(0) == 0;
  const uintptr_t all = number(is_long ? 1 : 0);
  const uintptr_t written = is_long ? number(2) + number(3) : number(1);
  const uintptr_t plain = is_long ? written + number(4) : all;
  void** const address = list + (is_long ? 5 : 2);
  for (uintptr_t i = 0; i < plain; ++i) add_object(node, address[i], i < written);
  for (uintptr_t i = plain; i < all; ++i) {
    void** const object = static_cast<void**>(address[i]);
    add_object(node, object[0], reinterpret_cast<uintptr_t>(object[1]) != kind_in);
  }
  return node;
}

std::vector<Frame*> Dependences::end(Node& node) {
  node.has_ended = true;
  std::vector<Frame*> ready;
  for (const auto& next : std::exchange(node.successors, {}))
    if (--next->blocked == 0 && next->frame != nullptr) ready.push_back(next->frame);
  return ready;
}

}  // namespace hiroba::openmp
