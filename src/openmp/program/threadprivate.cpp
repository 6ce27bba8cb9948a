#include "openmp/program/threadprivate.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/log.hpp"
#include "openmp/program/libraries.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

int MainVariables::find_blocks(dl_phdr_info* object, size_t, void* variables) {
  const bool is_executable = *object->dlpi_name == '\0';
  if (!is_executable && !instance<Libraries>().has(*object)) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    if (header.p_type == PT_TLS && header.p_memsz > 0 && object->dlpi_tls_data != nullptr)
      static_cast<MainVariables*>(variables)->blocks_.push_back(
          {static_cast<char*>(object->dlpi_tls_data), header.p_memsz, nullptr});
  }
  return 0;
}

Status MainVariables::allocate(Memory& memory) {
  dl_iterate_phdr(find_blocks, this);
  uint64_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.bytes;
  if (bytes == 0) return {};
  Arrays::Request request;
  request.element_bytes = 1, request.dim = {static_cast<int64_t>(bytes)}, request.div = {1};
  request.call = "the start of an OpenMP program", request.place = "thread-local variables of main";
  request.watched = false;
  void* at = nullptr;
  HIROBA_TRY(memory.arrays().allocate(request, at));
  char* next = static_cast<char*>(at);
  for (Block& block : blocks_) block.shared = next, next += block.bytes;
  return {};
}

bool MainVariables::give(const char* begin, const char* end) {
  bool named = false;
  const Libraries& libraries = instance<Libraries>();
  if (blocks_.empty() && !libraries.have_later_thread_locals()) return false;
  for (; !named && begin + sizeof(char*) <= end; begin += sizeof(char*)) {
    const char* address = nullptr;
    std::memcpy(static_cast<void*>(&address), begin, sizeof address);
    named = std::ranges::any_of(blocks_, [address](const Block& block) {
      return address >= block.here && address < block.here + block.bytes;
    });
    if (!libraries.have_later_thread_locals()) continue;
    if (const std::string file = libraries.loaded_later_with_thread_local(address); !file.empty())
      end_job(1,
              "%s, which dlopen() has opened, copies a threadprivate variable of main to the threads of all ranks "
              "(copyin, copyprivate): link the program with the library",
              file.c_str());
  }
  if (!named) return false;
  bool changed = false;
  for (const Block& block : blocks_) {
    if (std::memcmp(block.shared, block.here, block.bytes) == 0) continue;
    std::memcpy(block.shared, block.here, block.bytes);
    changed = true;
  }
  return changed;
}

void MainVariables::take() {
  for (const Block& block : blocks_) std::memcpy(block.here, block.shared, block.bytes);
}

}  // namespace hiroba::openmp
