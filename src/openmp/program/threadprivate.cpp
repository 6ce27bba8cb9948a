#include "openmp/program/threadprivate.hpp"

#include <link.h>

#include <cstring>

namespace hiroba::openmp {

namespace {

struct Block {
  char* begin = nullptr;
  uint64_t bytes = 0;
};

int find_block(dl_phdr_info* object, size_t, void* out) {
  for (int i = 0; i < object->dlpi_phnum; ++i)
    if (object->dlpi_phdr[i].p_type == PT_TLS)
      *static_cast<Block*>(out) = {static_cast<char*>(object->dlpi_tls_data), object->dlpi_phdr[i].p_memsz};
  return 1;  // the first object is the executable
}

}  // namespace

Status MainVariables::allocate(Memory& memory) {
  Block block;
  dl_iterate_phdr(find_block, &block);
  if (block.begin == nullptr || block.bytes == 0) return {};
  here_ = block.begin, bytes_ = block.bytes;
  Arrays::Request request;
  request.element_bytes = 1, request.dim = {static_cast<int64_t>(bytes_)}, request.div = {1};
  request.call = "the start of an OpenMP program", request.place = "thread-local variables of main";
  request.watched = false;
  void* at = nullptr;
  HIROBA_TRY(memory.arrays().allocate(request, at));
  shared_ = static_cast<char*>(at);
  return {};
}

bool MainVariables::give(const char* begin, const char* end) {
  bool named = false;
  for (; bytes_ > 0 && !named && begin + sizeof(char*) <= end; begin += sizeof(char*)) {
    const char* address = nullptr;
    std::memcpy(static_cast<void*>(&address), begin, sizeof address);
    named = address >= here_ && address < here_ + bytes_;
  }
  if (!named || std::memcmp(shared_, here_, bytes_) == 0) return false;
  std::memcpy(shared_, here_, bytes_);
  return true;
}

void MainVariables::take() { std::memcpy(here_, shared_, bytes_); }

}  // namespace hiroba::openmp
