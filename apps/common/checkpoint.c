#include "checkpoint.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = {'H', 'I', 'R', 'O', 'B', 'A', 'C', 'P'};

void checkpoint_save(const team* team, const char* path, checkpoint* header, const slab slabs[], int count) {
  memcpy(header->magic, magic, sizeof magic);
  header->bytes = (int64_t)files_bytes(slabs, count);
  header->checksum = files_checksum(team, slabs, count);
  files_save(team, path, header, sizeof *header, slabs, count);
}

void checkpoint_open(const team* team, const char* path, const checkpoint* mine, checkpoint* found) {
  struct stat info = {0};
  const int file = files_open_input(path);
  team_agree(team, file >= 0 && fstat(file, &info) == 0, TEAM_BAD_INPUT, "cannot read --restart %s: %s", path,
             strerror(errno));
  const bool known = files_read(file, found->magic, sizeof magic, 0) && memcmp(found->magic, magic, sizeof magic) == 0;
  const bool whole = known && files_read(file, found, sizeof *found, 0);
  close(file);
  team_agree(team, known, TEAM_BAD_INPUT, "--restart %s is not a checkpoint", path);
  team_agree(team, whole, TEAM_BAD_INPUT, "--restart %s is damaged: it ends after %lld bytes", path,
             (long long)info.st_size);
  found->program[sizeof found->program - 1] = found->settings[CHECKPOINT_SETTINGS - 1] = '\0';
  files_make_printable(found->program), files_make_printable(found->settings);
  team_agree(team, strcmp(found->program, mine->program) == 0, TEAM_BAD_INPUT,
             "--restart %s is a checkpoint of %s, not of %s", path, found->program, mine->program);
  team_agree(
      team, found->version == mine->version, TEAM_BAD_INPUT,
      "--restart %s has version %lld of the format, this program reads version %lld: go on with the program that "
      "wrote it",
      path, (long long)found->version, (long long)mine->version);
  const long long has = (long long)info.st_size - (long long)sizeof *found;
  team_agree(team, has == (long long)found->bytes, TEAM_BAD_INPUT,
             "--restart %s has fields of %lld bytes, not %lld: it is damaged", path, has, (long long)found->bytes);
}

void checkpoint_expect(const team* team, const char* path, const checkpoint* found, const int64_t extents[3],
                       int64_t bytes) {
  bool good = true;
  for (int d = 0; d < 3; d++) good = good && !__builtin_mul_overflow(bytes, extents[d], &bytes);
  team_agree(team, good && bytes == found->bytes, TEAM_BAD_INPUT,
             "--restart %s has fields of %lld bytes, which do not fit its size %lld,%lld,%lld: it is damaged", path,
             (long long)found->bytes, (long long)found->size[0], (long long)found->size[1], (long long)found->size[2]);
}

void checkpoint_load(const team* team, const char* path, const checkpoint* mine, const checkpoint* found,
                     const slab slabs[], int count) {
  const int64_t *is = found->size, *want = mine->size;
  team_agree(team, is[0] == want[0] && is[1] == want[1] && is[2] == want[2], TEAM_BAD_INPUT,
             "--restart %s has size %lld,%lld,%lld, this run %lld,%lld,%lld", path, (long long)is[0], (long long)is[1],
             (long long)is[2], (long long)want[0], (long long)want[1], (long long)want[2]);
  team_agree(team, strcmp(found->settings, mine->settings) == 0, TEAM_BAD_INPUT,
             "--restart %s was written with other settings:\n  %s\n  and this run has\n  %s", path, found->settings,
             mine->settings);
  team_agree(team, found->bytes == (int64_t)files_bytes(slabs, count), TEAM_BAD_INPUT,
             "--restart %s has fields of %lld bytes, not %zu: it is damaged", path, (long long)found->bytes,
             files_bytes(slabs, count));
  files_load(team, path, sizeof *found, slabs, count);
  team_agree(team, files_checksum(team, slabs, count) == found->checksum, TEAM_BAD_INPUT,
             "--restart %s is damaged: its checksum is wrong", path);
}
