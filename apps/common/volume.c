#include "volume.h"

#ifdef APPS_HDF5

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void volume_require(const team* team, const char* option) {
  (void)team;
  (void)option;
}

static char* path_of(const volume* v, const char* end, char path[PATH_MAX]) {
  snprintf(path, PATH_MAX, "%s/%s.%s", v->folder, v->name, end);
  return path;
}

static int snapshots(const volume* v) { return v->steps / v->every; }

static void name_of(const volume* v, int snapshot, char name[64]) {
  snprintf(name, 64, "%s-%09d", v->field, (snapshot + 1) * v->every);
}

/* ---- the HDF5 file ----------------------------------------------------------------------------------------------- */

/* Space in the file, in one piece and at once, which is not filled: so that its place is known. It has no name yet. */
static hid_t create(hid_t file, const hsize_t extents[3]) {
  const hid_t space = H5Screate_simple(3, extents, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_layout(how, H5D_CONTIGUOUS);
  H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(how, H5D_FILL_TIME_NEVER);
  const hid_t set = H5Dcreate_anon(file, H5T_NATIVE_DOUBLE, space, how, H5P_DEFAULT);
  H5Pclose(how);
  H5Sclose(space);
  return set;
}

/* Whether a dataset of an earlier run is what `create` makes. */
static bool fits(hid_t set, const hsize_t extents[3]) {
  hsize_t found[3] = {0, 0, 0};
  const hid_t space = H5Dget_space(set), type = H5Dget_type(set);
  const bool good = H5Sget_simple_extent_ndims(space) == 3 && H5Sget_simple_extent_dims(space, found, NULL) == 3 &&
                    memcmp(found, extents, sizeof found) == 0 && H5Tequal(type, H5T_NATIVE_DOUBLE) > 0 &&
                    H5Dget_offset(set) != HADDR_UNDEF;
  H5Tclose(type);
  H5Sclose(space);
  return good;
}

/* A snapshot while it is written, in rank 0. */
typedef struct snapshot {
  hid_t file, set;
  bool is_new;
  int64_t place; /* of its numbers in the file */
} snapshot;

/* One of an earlier run is overwritten where it is. A new one gets its name when it is complete: so a run that ends
 * before that, however it ends, leaves a file without it. */
static bool begin_snapshot(const volume* v, const char* path, int number, snapshot* s) {
  const hsize_t extents[3] = {(hsize_t)v->size[2], (hsize_t)v->size[1], (hsize_t)v->size[0]};
  char name[64];
  name_of(v, number, name);
  s->set = H5I_INVALID_HID;
  s->file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  if (s->file < 0) return false;
  s->is_new = H5Lexists(s->file, name, H5P_DEFAULT) <= 0;
  s->set = s->is_new ? create(s->file, extents) : H5Dopen2(s->file, name, H5P_DEFAULT);
  if (s->set < 0 || !fits(s->set, extents)) return false;
  s->place = (int64_t)H5Dget_offset(s->set);
  return true;
}

static bool end_snapshot(const volume* v, int number, snapshot* s, bool complete) {
  char name[64];
  name_of(v, number, name);
  bool good = complete;
  if (good && s->is_new) good = H5Olink(s->set, s->file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0;
  if (s->set >= 0) H5Dclose(s->set);
  if (s->file >= 0) good = H5Fclose(s->file) >= 0 && good;
  return good;
}

/* Reads which snapshots an earlier run has made. Returns false if one has another size. */
static bool look_at_file(volume* v, hid_t file) {
  const hsize_t extents[3] = {(hsize_t)v->size[2], (hsize_t)v->size[1], (hsize_t)v->size[0]};
  bool good = true;
  for (int i = 0; good && i < snapshots(v); i++) {
    char name[64];
    name_of(v, i, name);
    const bool there = H5Lexists(file, name, H5P_DEFAULT) > 0;
    const hid_t set = there ? H5Dopen2(file, name, H5P_DEFAULT) : H5I_INVALID_HID;
    good = !there || (set >= 0 && fits(set, extents));
    if (set >= 0) H5Dclose(set);
    v->written[i] = v->written[i] && there;
  }
  return good;
}

/* Returns what is wrong, or NULL. */
static const char* make_file(volume* v, const char* path, bool restart) {
  if (files_is_foreign_link(path)) return "it is a link of another user, which is not followed";
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* it would print a stack of calls */
  const bool goes_on = restart && access(path, F_OK) == 0;
  const hid_t file =
      goes_on ? H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT) : H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0 && goes_on)
    return "it is damaged, no file of HDF5, or in use, and is left as it is; move it away, to begin a new series";
  if (file < 0) return "it is in use, or its folder cannot be written";
  const bool good = look_at_file(v, file);
  if (H5Fclose(file) < 0) return "the disk is full, or the file cannot be written";
  return good ? NULL : "it is there from a run with another size; remove it, or use another folder";
}

/* ---- the XDMF file ----------------------------------------------------------------------------------------------- */

static void print_grid(const volume* v, FILE* to, int snapshot) {
  const int nx = v->size[0], ny = v->size[1], nz = v->size[2];
  char name[64];
  name_of(v, snapshot, name);
  fprintf(to,
          "      <Grid Name=\"%s\" GridType=\"Uniform\">\n"
          "        <Time Value=\"%.9g\"/>\n"
          "        <Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"%d %d %d\"/>\n"
          "        <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n",
          name, (snapshot + 1) * v->every * v->step_time, nz, ny, nx);
  for (int i = 0; i < 2; i++) {
    const double value = i == 0 ? v->origin : v->spacing;
    fprintf(to,
            "          <DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">"
            "%.17g %.17g %.17g</DataItem>\n",
            value, value, value);
  }
  fprintf(to,
          "        </Geometry>\n"
          "        <Attribute Name=\"%s\" AttributeType=\"Scalar\" Center=\"Node\">\n"
          "          <DataItem Dimensions=\"%d %d %d\" NumberType=\"Float\" Precision=\"8\" Format=\"HDF\">"
          "%s.h5:/%s</DataItem>\n"
          "        </Attribute>\n"
          "      </Grid>\n",
          v->field, nz, ny, nx, v->name, name);
}

/* Numbers [from, from + width) of each point. */
static void print_columns(const volume* v, FILE* to, const char* name, int from, int width) {
  const int points = v->size[1];
  fprintf(to,
          "          <DataItem ItemType=\"HyperSlab\" Dimensions=\"%d %d\">\n"
          "            <DataItem Dimensions=\"3 3\" Format=\"XML\">0 0 %d 1 1 1 1 %d %d</DataItem>\n"
          "            <DataItem Dimensions=\"1 %d %d\" NumberType=\"Float\" Precision=\"8\" Format=\"HDF\">"
          "%s.h5:/%s</DataItem>\n"
          "          </DataItem>\n",
          points, width, from, points, width, points, v->size[0], v->name, name);
}

static void print_points(const volume* v, FILE* to, int snapshot) {
  char name[64];
  name_of(v, snapshot, name);
  fprintf(to,
          "      <Grid Name=\"%s\" GridType=\"Uniform\">\n"
          "        <Time Value=\"%.9g\"/>\n"
          "        <Topology TopologyType=\"Polyvertex\" NumberOfElements=\"%d\"/>\n"
          "        <Geometry GeometryType=\"XYZ\">\n",
          name, (snapshot + 1) * v->every * v->step_time, v->size[1]);
  print_columns(v, to, name, 0, 3);
  fprintf(to, "        </Geometry>\n");
  for (int i = 0, from = 3; v->vectors[i] != NULL; i++, from += 3) {
    const int width = smaller(3, v->size[0] - from);
    fprintf(to, "        <Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"Node\">\n", v->vectors[i],
            width == 3 ? "Vector" : "Scalar");
    print_columns(v, to, name, from, width);
    fprintf(to, "        </Attribute>\n");
  }
  fprintf(to, "      </Grid>\n");
}

/* Whole, or as it was. */
static bool write_xmf(const volume* v) {
  char path[PATH_MAX], part[PATH_MAX];
  path_of(v, "xmf", path);
  path_of(v, "xmf.part", part);
  const int made = files_create_part(part, path);
  FILE* const to = made >= 0 ? fdopen(made, "w") : NULL;
  if (to == NULL) return false;
  fprintf(to,
          "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n  <Domain>\n"
          "    <Grid Name=\"series\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
  for (int i = 0; i < snapshots(v); i++)
    if (v->written[i]) (v->vectors != NULL ? print_points : print_grid)(v, to, i);
  fprintf(to, "    </Grid>\n  </Domain>\n</Xdmf>\n");
  return fclose(to) == 0 && rename(part, path) == 0;
}

/* ---- all ranks --------------------------------------------------------------------------------------------------- */

void volume_open(const team* team, volume* v, int restart) {
  const size_t count = (size_t)snapshots(v);
  char path[PATH_MAX];
  path_of(v, "h5", path);
  v->written = calloc(count + 1, sizeof *v->written);
  team_agree(team, v->written != NULL, TEAM_BAD_INPUT, "no memory for a list of snapshots");
  for (size_t i = 0; i < count; i++) v->written[i] = (int)(i + 1) * v->every <= restart;
  const char* const wrong = team->rank == 0 ? make_file(v, path, restart > 0) : NULL;
  team_agree(team, wrong == NULL, TEAM_BAD_INPUT, "cannot make or go on with %s: %s", path, wrong);
  v->file = open(path, O_WRONLY | O_CLOEXEC);
  team_agree(team, v->file >= 0, TEAM_BAD_INPUT, "cannot write %s: %s", path, strerror(errno));
}

void volume_write(const team* team, volume* v, int step, const slab* planes) {
  const int number = step / v->every - 1;
  char path[PATH_MAX];
  path_of(v, "h5", path);
  snapshot s = {.place = 0};
  const bool begun = team->rank != 0 || begin_snapshot(v, path, number, &s);
  if (!begun) end_snapshot(v, number, &s, false);
  team_agree(team, begun, TEAM_WRONG, "cannot go on with %s: it has been changed, or it is in use", path);
  const int64_t place = (int64_t)team_max(team, (double)s.place);
  const bool good = files_write_planes(v->file, planes, (off_t)place);
  const int problem = errno;
  const bool complete = team_max(team, !good) == 0;
  const bool ended = team->rank != 0 || end_snapshot(v, number, &s, complete);
  team_agree(team, good, TEAM_WRONG, "cannot write %s: %s; it has the snapshots before this one", path,
             strerror(problem));
  team_agree(team, ended, TEAM_WRONG, "cannot write %s: the disk is full, or HDF5 has failed", path);
  v->written[number] = true;
  const bool listed = team->rank != 0 || write_xmf(v);
  team_agree(team, listed, TEAM_WRONG, "cannot write %s/%s.xmf: %s", v->folder, v->name, strerror(errno));
}

void volume_close(volume* v) {
  if (v->written != NULL) close(v->file);
  free(v->written);
}

#else

void volume_require(const team* team, const char* option) {
  team_agree(team, false, TEAM_BAD_INPUT, "%s needs HDF5, without which this program was built (Debian: libhdf5-dev)",
             option);
}

void volume_open(const team* team, volume* v, int restart) {
  (void)v;
  (void)restart;
  volume_require(team, "it");
}

void volume_write(const team* team, volume* v, int step, const slab* planes) {
  (void)step;
  (void)planes;
  volume_open(team, v, 0);
}

void volume_close(volume* v) { (void)v; }

#endif
