/* files.h: files that all ranks of a team write, or read, together: each rank its own planes of some fields. The ranks
 * must have the same file system.
 *
 * A file gets its name when it is complete and on the disk; until then it is NAME.part, so that what fails leaves an
 * older file of that name as it was. Fields are copied through a private buffer: the system never sees shared memory.
 * In folders where other users may make files, such as /tmp, their links are not followed, and no file of theirs is
 * taken for one of this user.
 * Collective: all functions but files_read, files_write, files_write_planes, those of one process, and npy_header. */
#ifndef APPS_COMMON_FILES_H
#define APPS_COMMON_FILES_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "team.h"

/* A field of planes, of which the file holds [from, to), and this rank has [first, last), at `data`. A plane has `rows`
 * rows of row_bytes, which lie row_pitch apart. */
typedef struct slab {
  int from, to, first, last;
  int rows;
  size_t row_bytes, row_pitch, plane_pitch;
  void* data;
} slab;

/* All of it, in spite of interruptions; false with errno set (ENODATA: the file is too short). */
bool files_read(int file, void* to, size_t bytes, off_t from);
bool files_write(int file, const void* data, size_t bytes, off_t to);

/* The planes that this rank has, into a file whose field begins at `at`. */
bool files_write_planes(int file, const slab* slab, off_t at);

/* Makes the new file `part`, which will be renamed to `path`, and gives it the mode that this user's `path` has;
 * returns -1 with errno if it cannot. For one process. */
int files_create_part(const char* part, const char* path);

/* Opens what files_create_part has made in another process. */
int files_open_part(const char* part);

/* As fopen with "w", for a name that a user gives. */
FILE* files_fopen(const char* path);

/* Returns whether `path` is a link of a user other than this one and root; sets errno. */
bool files_is_foreign_link(const char* path);

/* Opens a file to read it; -1 with errno for what is none: a FIFO, a folder. */
int files_open_input(const char* path);

/* Puts ? for characters that control a terminal: text of files goes into messages. */
void files_make_printable(char* text);

/* Ends the program with a message unless a file of this name can be made: before hours of computing. NULL is fine. */
void files_check_writable(const team* team, const char* option, const char* path);

/* A folder for results, made if it is not there. */
void files_check_folder(const team* team, const char* option, const char* path);

/* Writes a header and the fields after it. */
void files_save(const team* team, const char* path, const void* header, size_t header_bytes, const slab slabs[],
                int count);

/* Reads what files_save has written after its header. */
void files_load(const team* team, const char* path, size_t header_bytes, const slab slabs[], int count);

/* Bytes of the fields in a file, and a sum over all their bytes that does not depend on the number of ranks. */
size_t files_bytes(const slab slabs[], int count);
uint64_t files_checksum(const team* team, const slab slabs[], int count);

/* The header of an array for numpy.load: kind as numpy writes it ("<f8"), `dims` extents. */
enum { NPY_HEADER = 192 };
void npy_header(unsigned char header[NPY_HEADER], const char* kind, const int64_t shape[], int dims);

/* An array that numpy.save has written. npy_open ends the program unless its kind is among `kinds` ("|u1 |b1") and it
 * has `dims` extents; it returns a descriptor and where the data begins. */
int npy_open(const team* team, const char* option, const char* path, const char* kinds, int64_t shape[], int dims,
             off_t* data);

#endif
