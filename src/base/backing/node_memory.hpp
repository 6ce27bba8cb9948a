// The memory file of a node has all of its shared memory. Where the kernel permits it, the file lies in a file system
// of its own that gives huge pages at the first touch of memory with MADV_HUGEPAGE (tmpfs with huge=advise): a child
// process mounts it in namespaces of its own, without privileges. Elsewhere it is a memfd, which has small pages at
// first unless the administrator has set shmem_enabled to advise. Thread-safe.
#pragma once

#include <string>

namespace hiroba {

// Creates the file, without bytes, and returns its descriptor, which programs that this process executes do not
// inherit; -1 with errno if it cannot.
int create_node_memory();
// Returns whether a descriptor is such a file: of this user, in memory, without a name.
bool is_node_memory(int fd);

// Returns the name of the memory file that a link in /proc/PID/fd, or a line of /proc/PID/maps, ends with:
// "hiroba-board", "hiroba-node"; "" if it is not one of Hiroba's.
std::string memory_file_name(const std::string& link);

// Returns why memory has no huge pages at the first touch; "" if it has.
std::string why_no_huge_first_touch();

}  // namespace hiroba
