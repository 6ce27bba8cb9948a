#include "openmp/system/mappings.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/log.hpp"
#include "openmp/program/objects.hpp"
#include "openmp/program/runtime.hpp"
#include "openmp/program/words.hpp"
#include "openmp/system/descriptors.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

namespace {

size_t round_up(size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

void* refuse(int error, const char* why) {
  log_line("mmap() fails in an OpenMP program over ranks: %s", why);
  errno = error;
  return MAP_FAILED;
}

// Moves all of the bytes, or as many as the file has.
template <typename Move>
bool move_all(char* at, size_t bytes, off_t offset, const Move& move) {
  while (bytes > 0) {
    const ssize_t moved = move(at, bytes, offset);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return moved == 0;
    at += moved, offset += moved, bytes -= static_cast<size_t>(moved);
  }
  return true;
}

}  // namespace

class Mappings::Locked {
 public:
  explicit Locked(Shared& shared) : shared_(shared) { words::lock(&shared.lock); }
  Locked(const Locked&) = delete;
  ~Locked() { words::unlock(&shared_.lock); }

 private:
  Shared& shared_;
};

Status Mappings::begin(Memory& memory) {
  void* at = nullptr;
  HIROBA_TRY(memory.arrays().allocate(array_of_ranks(memory.job(), "mappings", sizeof(Shared), 1), at));
  shared_ = static_cast<Shared*>(at);
  memory_ = &memory;
  return {};
}

// A file that is mapped shared, and that the descriptor may write, is written by a descriptor of the runtime's own.
bool Mappings::read_about(const Request& request, File& file) const {
  struct stat about;
  if (fstat(request.descriptor, &about) != 0) return false;
  if (!S_ISREG(about.st_mode)) {
    refuse(ENODEV, "it maps files, and memory, but no devices");
    return false;
  }
  const int access = fcntl(request.descriptor, F_GETFL) & O_ACCMODE;
  const bool shared = (request.flags & MAP_TYPE) != MAP_PRIVATE;
  if (access == O_WRONLY || (shared && (request.access & PROT_WRITE) != 0 && access != O_RDWR))
    return errno = EACCES, false;
  file = {about.st_dev, about.st_ino, request.offset, shared};
  file.rank = memory_->job().rank;
  constexpr int high = 512;
  if (shared && access == O_RDWR) file.descriptor = fcntl(request.descriptor, F_DUPFD_CLOEXEC, high);
  if (file.descriptor < 0 && shared && access == O_RDWR)
    file.descriptor = fcntl(request.descriptor, F_DUPFD_CLOEXEC, 0);
  return true;
}

bool Mappings::fill(char* at, const Request& request) {
  return move_all(at, request.bytes, request.offset,
                  [&](char* to, size_t bytes, off_t offset) { return pread(request.descriptor, to, bytes, offset); });
}

void* Mappings::map(void* at, size_t bytes, int access, int flags, int descriptor, off_t offset) {
  if (bytes == 0 || offset % static_cast<off_t>(page_bytes) != 0) return errno = EINVAL, MAP_FAILED;
  if ((access & PROT_EXEC) != 0) return refuse(EACCES, "memory for code (PROT_EXEC) would be in this rank alone");
  const bool is_file = (flags & MAP_ANONYMOUS) == 0;
  const Borrowed opened(is_file ? descriptor : -1);
  const InRuntime runtime;
  const Request request = {bytes, access, flags, opened.here(), offset};
  File file;
  if (is_file && !read_about(request, file)) return MAP_FAILED;
  const Locked locked(*shared_);
  if (is_file)
    for (Mapping* other = shared_->first; other != nullptr; other = other->next)
      if (other->file.device == file.device && other->file.number == file.number) write_back(*other);
  void* const out = (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0 ? map_over(static_cast<char*>(at), request, file)
                                                                     : map_anew(request, file);
  return out;
}

void* Mappings::map_anew(const Request& request, const File& file) {
  bool refused = false;
  if (file.shared)
    if (void* const again = share_again(request, file, refused); again != nullptr || refused)
      return refused ? MAP_FAILED : again;
  const size_t room = round_up(request.bytes);
  auto* const mapping = static_cast<Mapping*>(instance<Objects>().allocate(sizeof(Mapping), alignof(Mapping), false));
  void* const object = instance<Objects>().allocate(std::max(room, Objects::least_large), page_bytes, true);
  if (mapping == nullptr || object == nullptr) return errno = ENOMEM, MAP_FAILED;
  char* const begin = static_cast<char*>(object);
  if (request.descriptor >= 0 && !fill(begin, request)) return MAP_FAILED;
  *mapping = {shared_->first, begin, room, room, file};
  shared_->first = mapping;
  return begin;
}

// A mapping that lies in another one of the file is a part of that.
void* Mappings::share_again(const Request& request, const File& file, bool& refused) {
  const off_t end = file.offset + static_cast<off_t>(round_up(request.bytes));
  for (Mapping* other = shared_->first; other != nullptr; other = other->next) {
    const File& has = other->file;
    const off_t has_end = has.offset + static_cast<off_t>(other->bytes);
    if (!has.shared || has.device != file.device || has.number != file.number) continue;
    if (file.offset >= has_end || end <= has.offset) continue;
    if (file.offset < has.offset || end > has_end) {
      refuse(EINVAL, "another shared mapping has a part of the same bytes of the file; map all of them at once");
      return refused = true, nullptr;
    }
    other->mapped += round_up(request.bytes);
    if (file.descriptor >= 0) {
      if (has.descriptor < 0) other->file.descriptor = file.descriptor, other->file.rank = file.rank;
      else close(file.descriptor);
    }
    return other->begin + (file.offset - has.offset);
  }
  return nullptr;
}

// Within memory that the program has mapped, as allocators do that reserve addresses.
void* Mappings::map_over(char* at, const Request& request, const File& file) {
  const Mapping* const mapping = find(at);
  if (mapping == nullptr || at + round_up(request.bytes) > mapping->end() || mapping->file.shared)
    return refuse(EINVAL, "with MAP_FIXED it needs an address of memory that the program has mapped before");
  if ((request.flags & MAP_FIXED_NOREPLACE) == MAP_FIXED_NOREPLACE) return errno = EEXIST, MAP_FAILED;
  if (file.shared && file.descriptor >= 0)
    return refuse(EINVAL, "with MAP_FIXED a file cannot be mapped shared, to be written");
  std::memset(at, 0, round_up(request.bytes));
  if (request.descriptor >= 0 && !fill(at, request)) return MAP_FAILED;
  return at;
}

Mappings::Mapping* Mappings::find(const char* at) {
  Mapping* mapping = shared_->first;
  while (mapping != nullptr && (at < mapping->begin || at >= mapping->end())) mapping = mapping->next;
  return mapping;
}

bool Mappings::has(const char* at) {
  if (!instance<Objects>().has(at)) return false;
  const InRuntime runtime;
  const Locked locked(*shared_);
  return find(at) != nullptr;
}

// A rank that does not have the descriptor takes it from the one that has; they are on one machine.
bool Mappings::write_back(const Mapping& mapping) const {
  const File& file = mapping.file;
  if (file.descriptor < 0) return true;
  const bool own = file.rank == memory_->job().rank;
  const int to = own ? file.descriptor : instance<Descriptors>().take(file.rank, file.descriptor);
  struct stat about;
  bool done = to >= 0 && fstat(to, &about) == 0 && about.st_dev == file.device && about.st_ino == file.number;
  if (done && about.st_size > file.offset) {
    const size_t bytes = std::min(mapping.bytes, static_cast<size_t>(about.st_size - file.offset));
    done = move_all(mapping.begin, bytes, file.offset,
                    [to](char* from, size_t bytes, off_t offset) { return pwrite(to, from, bytes, offset); });
  }
  if (!done)
    log_line(
        "what has been written to a shared mapping cannot go to its file (%s): rank %d has mapped it, so let that "
        "rank call msync() or munmap()",
        std::strerror(errno), file.rank);
  if (!own && to >= 0) close(to);
  return done;
}

// The mapping is unlinked if nothing of it is left.
void Mappings::unmap_part(Mapping& mapping, size_t bytes) {
  write_back(mapping);
  mapping.mapped -= std::min(bytes, mapping.mapped);
  if (mapping.mapped > 0) return;
  if (mapping.file.descriptor >= 0 && mapping.file.rank == memory_->job().rank) close(mapping.file.descriptor);
  Mapping** link = &shared_->first;
  while (*link != &mapping) link = &(*link)->next;
  *link = mapping.next;
  instance<Objects>().free(mapping.begin);
  instance<Objects>().free(&mapping);
}

int Mappings::unmap(char* at, size_t bytes) {
  if (bytes == 0 || reinterpret_cast<uintptr_t>(at) % page_bytes != 0) return errno = EINVAL, -1;
  const InRuntime runtime;
  const Locked locked(*shared_);
  char* const end = at + round_up(bytes);
  for (Mapping *mapping = shared_->first, *next; mapping != nullptr; mapping = next) {
    next = mapping->next;
    const char *const first = std::max(at, mapping->begin), *const last = std::min(end, mapping->end());
    if (first < last) unmap_part(*mapping, static_cast<size_t>(last - first));
  }
  return 0;
}

int Mappings::sync(const char* at, size_t bytes) {
  const InRuntime runtime;
  const Locked locked(*shared_);
  for (Mapping* mapping = shared_->first; mapping != nullptr; mapping = mapping->next)
    if (at < mapping->end() && at + bytes > mapping->begin && !write_back(*mapping)) return errno = EIO, -1;
  return 0;
}

int Mappings::advise(char* at, size_t bytes, int advice) {
  if (advice != MADV_DONTNEED && advice != MADV_REMOVE) return 0;  // a hint
  const InRuntime runtime;
  const Locked locked(*shared_);
  const Mapping* const mapping = find(at);
  if (mapping == nullptr || mapping->file.rank >= 0) return 0;
  std::memset(at, 0, std::min(round_up(bytes), static_cast<size_t>(mapping->end() - at)));
  return 0;
}

void* Mappings::remap(char* at, size_t bytes, size_t wanted, int flags) {
  const size_t before = round_up(bytes), after = round_up(wanted);
  if (after == before) return at;
  if (after < before) return unmap(at + after, before - after) == 0 ? at : MAP_FAILED;
  {
    const InRuntime runtime;
    const Locked locked(*shared_);
    const Mapping* const mapping = find(at);
    if (mapping == nullptr || (flags & MREMAP_MAYMOVE) == 0 || (flags & MREMAP_FIXED) != 0)
      return errno = ENOMEM, MAP_FAILED;
    if (mapping->file.rank >= 0) return refuse(EINVAL, "mremap() enlarges memory, but no files");
  }
  void* const larger = map(nullptr, after, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (larger == MAP_FAILED) return larger;
  std::memcpy(larger, at, before);
  unmap(at, before);
  return larger;
}

void Mappings::end() {
  if (shared_ == nullptr) return;
  const InRuntime runtime;
  const Locked locked(*shared_);
  for (Mapping* mapping = shared_->first; mapping != nullptr; mapping = mapping->next) write_back(*mapping);
}

}  // namespace hiroba::openmp
