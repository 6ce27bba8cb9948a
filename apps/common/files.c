#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool files_read(int file, void* to, size_t bytes, off_t from) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = pread(file, (char*)to + done, bytes - done, from + (off_t)done);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = ENODATA;
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

bool files_write(int file, const void* data, size_t bytes, off_t to) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = pwrite(file, (const char*)data + done, bytes - done, to + (off_t)done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

/* O_EXCL follows no link, either. An older part may be left from a run that was killed. */
int files_create_part(const char* part, const char* path) {
  struct stat info;
  if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode))
    return errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL, -1;
  if (lstat(part, &info) == 0 && (S_ISREG(info.st_mode) || S_ISLNK(info.st_mode))) unlink(part);
  const int file = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file >= 0 && lstat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid())
    if (fchmod(file, info.st_mode & 0777) != 0) return close(file), -1;
  return file;
}

/* The open of a FIFO would wait for its other end. */
int files_open_part(const char* part) {
  const int file = open(part, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat info;
  if (file < 0 || (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid())) return file;
  close(file);
  errno = EPERM;
  return -1;
}

/* The open of a FIFO would wait for its other end. */
int files_open_input(const char* path) {
  const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat info;
  if (file < 0 || (fstat(file, &info) == 0 && S_ISREG(info.st_mode))) return file;
  errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
  const int problem = errno;
  close(file);
  errno = problem;
  return -1;
}

void files_make_printable(char* text) {
  for (; *text != '\0'; text++)
    if ((unsigned char)*text < ' ' || *text == 0x7f) *text = '?';
}

bool files_is_foreign_link(const char* path) {
  struct stat info;
  const bool foreign = lstat(path, &info) == 0 && S_ISLNK(info.st_mode) && info.st_uid != 0 && info.st_uid != geteuid();
  if (foreign) errno = EPERM;
  return foreign;
}

FILE* files_fopen(const char* path) { return files_is_foreign_link(path) ? NULL : fopen(path, "we"); }

void files_check_writable(const team* team, const char* option, const char* path) {
  if (path == NULL) return;
  char part[PATH_MAX];
  bool good = true;
  int problem = 0;
  if (team->rank == 0) {
    struct stat info;
    errno = snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part ? ENAMETOOLONG
            : stat(path, &info) == 0 && S_ISDIR(info.st_mode)                ? EISDIR
                                                                             : 0;
    const int file = errno == 0 ? files_create_part(part, path) : -1;
    problem = errno;
    good = file >= 0;
    if (good) close(file), unlink(part);
  }
  team_agree(team, good, TEAM_BAD_INPUT, "cannot write %s %s: %s", option, path, strerror(problem));
}

void files_check_folder(const team* team, const char* option, const char* path) {
  bool good = true;
  int problem = 0;
  if (team->rank == 0) {
    struct stat info;
    good = mkdir(path, 0777) == 0 || errno == EEXIST;
    problem = errno;
    if (good && stat(path, &info) == 0 && !S_ISDIR(info.st_mode)) good = false, problem = ENOTDIR;
    if (good && access(path, W_OK | X_OK) != 0) good = false, problem = errno;
  }
  team_agree(team, good, TEAM_BAD_INPUT, "cannot make or use the folder %s %s: %s", option, path, strerror(problem));
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static size_t plane_bytes(const slab* s) { return (size_t)s->rows * s->row_bytes; }

static char* row_of(const slab* s, int z, int row) {
  return (char*)s->data + (size_t)(z - s->first) * s->plane_pitch + (size_t)row * s->row_pitch;
}

/* How many planes go in one system call: of small ones, such as the numbers of one body, many. */
static int planes_at_once(const slab* s) {
  const size_t enough = 1 << 20;
  return plane_bytes(s) < enough ? (int)(enough / (plane_bytes(s) + 1)) + 1 : 1;
}

static size_t buffer_bytes(const slab* s) { return plane_bytes(s) * (size_t)planes_at_once(s) + 1; }

/* A buffer for what moves at once. */
static char* plane_buffer(const team* team, const slab slabs[], int count) {
  size_t most = 1;
  for (int i = 0; i < count; i++)
    if (buffer_bytes(&slabs[i]) > most) most = buffer_bytes(&slabs[i]);
  char* buffer = malloc(most);
  team_agree(team, buffer != NULL, TEAM_BAD_INPUT, "no memory for planes of %zu bytes", most);
  return buffer;
}

size_t files_bytes(const slab slabs[], int count) {
  size_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += (size_t)(slabs[i].to - slabs[i].from) * plane_bytes(&slabs[i]);
  return bytes;
}

typedef bool planes_action(int file, const slab* s, int z, int planes, char* buffer, off_t at);

static bool write_planes(int file, const slab* s, int z, int planes, char* buffer, off_t at) {
  char* to = buffer;
  for (int p = 0; p < planes; p++)
    for (int row = 0; row < s->rows; row++, to += s->row_bytes) memcpy(to, row_of(s, z + p, row), s->row_bytes);
  return files_write(file, buffer, (size_t)planes * plane_bytes(s), at);
}

static bool read_planes(int file, const slab* s, int z, int planes, char* buffer, off_t at) {
  const bool good = files_read(file, buffer, (size_t)planes * plane_bytes(s), at);
  const char* from = buffer;
  for (int p = 0; good && p < planes; p++)
    for (int row = 0; row < s->rows; row++, from += s->row_bytes) memcpy(row_of(s, z + p, row), from, s->row_bytes);
  return good;
}

/* Does it with the planes of this rank, at their place in the file. */
static bool each_plane(int file, size_t header_bytes, const slab slabs[], int count, char* buffer, planes_action* act) {
  size_t start = header_bytes;
  for (int i = 0; i < count; i++) {
    const slab* s = &slabs[i];
    const int last = smaller(s->to, s->last);
    for (int z = larger(s->from, s->first), planes; z < last; z += planes) {
      planes = smaller(planes_at_once(s), last - z);
      if (!act(file, s, z, planes, buffer, (off_t)(start + (size_t)(z - s->from) * plane_bytes(s)))) return false;
    }
    start += (size_t)(s->to - s->from) * plane_bytes(s);
  }
  return true;
}

bool files_write_planes(int file, const slab* slab, off_t at) {
  char* const buffer = malloc(buffer_bytes(slab));
  const bool good = buffer != NULL && each_plane(file, (size_t)at, slab, 1, buffer, write_planes);
  free(buffer);
  return good;
}

void files_save(const team* team, const char* path, const void* header, size_t header_bytes, const slab slabs[],
                int count) {
  char part[PATH_MAX];
  snprintf(part, sizeof part, "%s.part", path);
  char* const buffer = plane_buffer(team, slabs, count);
  int file = team->rank == 0 ? files_create_part(part, path) : -1;
  int problem = errno;
  team_agree(team, team->rank != 0 || file >= 0, TEAM_WRONG, "cannot make %s: %s", part, strerror(problem));
  if (team->rank != 0) file = files_open_part(part);
  bool good = file >= 0 && ftruncate(file, (off_t)(header_bytes + files_bytes(slabs, count))) == 0;
  if (team->rank == 0) good = good && files_write(file, header, header_bytes, 0);
  good = good && each_plane(file, header_bytes, slabs, count, buffer, write_planes);
  good = good && fsync(file) == 0; /* a disk may be full only now */
  problem = errno;
  if (file >= 0 && close(file) != 0 && good) good = false, problem = errno;
  free(buffer);
  if (team_max(team, !good) != 0 && team->rank == 0 && file >= 0) unlink(part);
  const bool older = access(path, F_OK) == 0;
  team_agree(team, good, TEAM_WRONG, "cannot write %s: %s%s%s%s", part, strerror(problem), older ? "; an older " : "",
             older ? path : "", older ? " is as it was" : "");
  good = team->rank != 0 || rename(part, path) == 0;
  team_agree(team, good, TEAM_WRONG, "cannot rename %s to %s: %s", part, path, strerror(errno));
}

void files_load(const team* team, const char* path, size_t header_bytes, const slab slabs[], int count) {
  char* const buffer = plane_buffer(team, slabs, count);
  const int file = files_open_input(path);
  const bool good = file >= 0 && each_plane(file, header_bytes, slabs, count, buffer, read_planes);
  team_agree(team, good, TEAM_BAD_INPUT, "cannot read %s: %s", path, strerror(errno));
  close(file);
  free(buffer);
}

/* Words in the order of the plane, so that two that change places are found. */
static uint64_t hash(uint64_t seed, const char* bytes, size_t count) {
  uint64_t h = seed * UINT64_C(0x9e3779b97f4a7c15) + count;
  for (size_t i = 0; i < count; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    memcpy(&word, bytes + i, count - i < sizeof word ? count - i : sizeof word);
    h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
    h ^= h >> 32;
  }
  return h;
}

uint64_t files_checksum(const team* team, const slab slabs[], int count) {
  uint64_t sum = 0;
  for (int i = 0; i < count; i++) {
    const slab* s = &slabs[i];
    for (int z = larger(s->from, s->first); z < smaller(s->to, s->last); z++) {
      uint64_t plane = (uint64_t)i << 32 | (uint32_t)z;
      for (int row = 0; row < s->rows; row++) plane = hash(plane, row_of(s, z, row), s->row_bytes);
      sum += plane;
    }
  }
  return team_sum_bits(team, sum);
}

/* ---- .npy -------------------------------------------------------------------------------------------------------- */

/* A magic word, a version, the length of a description, the description: together a multiple of 64 bytes. */
void npy_header(unsigned char header[NPY_HEADER], const char* kind, const int64_t shape[], int dims) {
  enum { DESCRIPTION = 10 };
  const int length = NPY_HEADER - DESCRIPTION;
  memset(header, ' ', NPY_HEADER);
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  header[8] = length & 255;
  header[9] = length >> 8;
  char extents[80] = "";
  for (int d = 0, at = 0; d < dims; d++)
    at += snprintf(extents + at, sizeof extents - (size_t)at, "%lld,%s", (long long)shape[d], d + 1 < dims ? " " : "");
  if (dims > 1) extents[strlen(extents) - 1] = '\0';
  char text[NPY_HEADER];
  const int used =
      snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", kind, extents);
  memcpy(header + DESCRIPTION, text, (size_t)used);
  header[NPY_HEADER - 1] = '\n';
}

/* What stands after 'key': in numpy's description; "" if the key is not there. */
static const char* value_of(const char* description, const char* key) {
  const char* at = strstr(description, key);
  return at != NULL ? at + strlen(key) + strspn(at + strlen(key), ": ") : "";
}

static bool is_word_of(const char* words, const char* word) {
  const char* const at = strstr(words, word);
  const size_t length = strlen(word);
  return length > 0 && at != NULL && (at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0');
}

/* Returns whether the file has all elements, whose type ends with their bytes ("<f8"). */
static bool npy_fits(int file, off_t from, const char* kind, const int64_t shape[], int dims) {
  struct stat info;
  int64_t bytes = kind[strlen(kind) - 1] - '0';
  bool good = fstat(file, &info) == 0;
  for (int d = 0; d < dims; d++) good = good && !__builtin_mul_overflow(bytes, shape[d], &bytes);
  return good && bytes <= info.st_size - from;
}

int npy_open(const team* team, const char* option, const char* path, const char* kinds, int64_t shape[], int dims,
             off_t* data) {
  enum { MOST = 4096 };
  unsigned char start[12] = {0};
  char description[MOST] = "";
  const int file = files_open_input(path);
  team_agree(team, file >= 0, TEAM_BAD_INPUT, "cannot read %s %s: %s", option, path, strerror(errno));
  bool good = files_read(file, start, sizeof start, 0) && memcmp(start, "\x93NUMPY", 6) == 0;
  good = good && start[6] >= 1 && start[6] <= 3 && start[7] == 0;
  const int wide = start[6] > 1; /* from version 2 on the length has four bytes */
  const size_t from = wide ? 12 : 10;
  const size_t length = wide ? start[8] | start[9] << 8 | (size_t)start[10] << 16 : start[8] | (size_t)start[9] << 8;
  good = good && length < MOST && files_read(file, description, length, (off_t)from);
  team_agree(team, good, TEAM_BAD_INPUT, "%s %s is not an array that numpy.save has written", option, path);

  char kind[8] = "";
  sscanf(value_of(description, "'descr'"), "'%7[^']'", kind);
  files_make_printable(kind);
  team_agree(team, is_word_of(kinds, kind), TEAM_BAD_INPUT, "%s %s has elements of type '%s', not one of: %s", option,
             path, kind, kinds);
  team_agree(team, strncmp(value_of(description, "'fortran_order'"), "False", 5) == 0, TEAM_BAD_INPUT,
             "%s %s is in Fortran's order; save numpy.ascontiguousarray of it", option, path);
  const char* at = value_of(description, "'shape'");
  at += *at == '(';
  int found = 0;
  for (char* end; found <= dims; found++, at = end + strspn(end, ", ")) {
    const long long extent = strtoll(at, &end, 10);
    if (end == at || extent < 0) break;
    if (found < dims) shape[found] = extent;
  }
  team_agree(team, found == dims, TEAM_BAD_INPUT, "%s %s does not have %d dimension%s", option, path, dims,
             dims == 1 ? "" : "s");
  *data = (off_t)(from + length);
  team_agree(team, npy_fits(file, *data, kind, shape, dims), TEAM_BAD_INPUT,
             "%s %s is shorter than the elements that its header tells of: it was cut off", option, path);
  return file;
}
