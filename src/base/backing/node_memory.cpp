#include "base/backing/node_memory.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace hiroba {

namespace {

constexpr char file_name[] = "hiroba-node";

// Calls of Linux 5.2, which the headers of old systems do not have; the numbers are those of every architecture.
namespace kernel {
constexpr long fsopen = 430, fsconfig = 431, fsmount = 432;
constexpr int close_on_exec = 1, set_string = 1, create = 6;
}  // namespace kernel

// The child writes its results here: it shares the memory and the descriptors of this process, which waits for it.
struct Mount {
  uid_t user;
  gid_t group;
  int file = -1;
  const char* failed = "";  // the step that failed
  int error = 0;

  bool check(bool done, const char* step) {
    if (!done) failed = step, error = errno;
    return done;
  }
};

bool write_file(const char* path, const char* text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = write(fd, text, std::strlen(text)) == static_cast<ssize_t>(std::strlen(text));
  close(fd);
  return written;
}

// Without identities of its own in the new namespace the child may create no file.
bool take_identity(Mount& mount) {
  char user[64], group[64];
  std::snprintf(user, sizeof user, "%u %u 1", mount.user, mount.user);
  std::snprintf(group, sizeof group, "%u %u 1", mount.group, mount.group);
  return mount.check(write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/uid_map", user) &&
                         write_file("/proc/self/gid_map", group),
                     "mapping its user");
}

int open_file(Mount& mount, int system) {
  const auto set = [&](const char* key, const char* value) {
    return syscall(kernel::fsconfig, system, kernel::set_string, key, value, 0) == 0;
  };
  if (!mount.check(set("huge", "advise") && set("size", "0") && set("nr_inodes", "0") &&
                       syscall(kernel::fsconfig, system, kernel::create, nullptr, nullptr, 0) == 0,
                   "tmpfs with huge=advise"))
    return -1;
  const int folder = static_cast<int>(syscall(kernel::fsmount, system, kernel::close_on_exec, 0));
  if (!mount.check(folder >= 0, "fsmount")) return -1;
  const int file = openat(folder, file_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  mount.check(file >= 0 && unlinkat(folder, file_name, 0) == 0, "its file");
  close(folder);
  return file;
}

int in_child(void* argument) {
  Mount& mount = *static_cast<Mount*>(argument);
  if (!take_identity(mount)) return 0;
  const int system = static_cast<int>(syscall(kernel::fsopen, "tmpfs", kernel::close_on_exec));
  if (!mount.check(system >= 0, "fsopen")) return 0;
  mount.file = open_file(mount, system);
  close(system);
  return 0;
}

// Only a process with one thread may enter a namespace of users by itself, so a child does. Its memory is this
// process's: what a fork would copy may be large, and handlers of pthread_atfork do not run.
Mount mount_file() {
  Mount mount = {geteuid(), getegid()};
  constexpr size_t stack_bytes = size_t{64} << 10;
  constexpr int flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_VM | CLONE_VFORK | CLONE_FILES;
  void* const stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!mount.check(stack != MAP_FAILED, "a stack")) return mount;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the child would run this process's handlers
  const pid_t child = clone(in_child, static_cast<char*>(stack) + stack_bytes, flags, &mount);
  if (mount.check(child >= 0, "namespaces of users")) waitpid(child, nullptr, __WCLONE);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  munmap(stack, stack_bytes);
  return mount;
}

}  // namespace

int create_node_memory() {
  const int file = mount_file().file;
  return file >= 0 ? file : memfd_create(file_name, MFD_CLOEXEC);
}

bool is_node_memory(int fd) {
  constexpr decltype(statfs::f_type) tmpfs = 0x01021994;
  struct stat info = {};
  struct statfs system = {};
  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() && info.st_nlink == 0 &&
         fstatfs(fd, &system) == 0 && system.f_type == tmpfs;
}

std::string memory_file_name(const std::string& link) {
  if (!link.ends_with(" (deleted)")) return "";
  for (const std::string before : {"/memfd:", "/"})
    if (const size_t at = link.find(before + "hiroba-"); at != std::string::npos) {
      const size_t name = at + before.size();
      return link.substr(name, link.find(' ', name) - name);
    }
  return "";
}

std::string why_no_huge_first_touch() {
  const Mount mount = mount_file();
  if (mount.file >= 0) return close(mount.file), "";
  return std::string(mount.failed) + " (" + std::strerror(mount.error) + ")";
}

}  // namespace hiroba
