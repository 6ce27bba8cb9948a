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

/* Space in the file, in one piece and at once, which is not filled: so that its place is known. */
static hid_t create(hid_t file, const char* name, const hsize_t extents[3]) {
  const hid_t space = H5Screate_simple(3, extents, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_layout(how, H5D_CONTIGUOUS);
  H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(how, H5D_FILL_TIME_NEVER);
  const hid_t set = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT);
  H5Pclose(how);
  H5Sclose(space);
  return set;
}

/* Whether a dataset of an earlier run is what `create` makes. */
static bool fits(hid_t set, const hsize_t extents[3]) {
  hsize_t found[3] = {0, 0, 0};
  const hid_t space = H5Dget_space(set), type = H5Dget_type(set);
  const bool good = H5Sget_simple_extent_ndims(space) == 3 && H5Sget_simple_extent_dims(space, found, NULL) == 3 &&
                    memcmp(found, extents, sizeof found) == 0 && H5Tequal(type, H5T_NATIVE_DOUBLE) > 0;
  H5Tclose(type);
  H5Sclose(space);
  return good;
}

static bool add_snapshot(volume* v, hid_t file, int snapshot) {
  const hsize_t extents[3] = {(hsize_t)v->size[2], (hsize_t)v->size[1], (hsize_t)v->size[0]};
  char name[64];
  name_of(v, snapshot, name);
  const bool old = H5Lexists(file, name, H5P_DEFAULT) > 0;
  const hid_t set = old ? H5Dopen2(file, name, H5P_DEFAULT) : create(file, name, extents);
  if (set < 0) return false;
  const haddr_t place = H5Dget_offset(set);
  const bool good = place != HADDR_UNDEF && (!old || fits(set, extents));
  H5Dclose(set);
  v->places[snapshot] = (int64_t)place;
  v->written[snapshot] = v->written[snapshot] && old;
  return good;
}

static bool make_file(volume* v, const char* path, bool restart) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* it would print a stack of calls */
  hid_t file = restart ? H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT) : H5I_INVALID_HID;
  if (file < 0) file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  bool good = file >= 0;
  for (int i = 0; good && i < snapshots(v); i++) good = add_snapshot(v, file, i);
  return (file < 0 || H5Fclose(file) >= 0) && good;
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
  FILE* const to = fopen(part, "we");
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
  v->places = calloc(count + 1, sizeof *v->places);
  v->written = calloc(count + 1, sizeof *v->written);
  team_agree(team, v->places != NULL && v->written != NULL, TEAM_BAD_INPUT, "no memory for a list of snapshots");
  for (size_t i = 0; i < count; i++) v->written[i] = (int)(i + 1) * v->every <= restart;
  const bool made = team->rank != 0 || make_file(v, path, restart > 0);
  team_agree(team, made, TEAM_BAD_INPUT,
             "cannot make %s, or it is there from a run with another size; remove it, or use another folder", path);
  v->file = open(path, O_WRONLY | O_CLOEXEC);
  team_agree(team, v->file >= 0, TEAM_BAD_INPUT, "cannot write %s: %s", path, strerror(errno));
}

void volume_write(const team* team, volume* v, int step, const slab* planes) {
  const int snapshot = step / v->every - 1;
  const int64_t place = (int64_t)team_max(team, team->rank == 0 ? (double)v->places[snapshot] : 0);
  const bool good = files_write_planes(v->file, planes, (off_t)place);
  team_agree(team, good, TEAM_WRONG, "cannot write %s/%s.h5: %s", v->folder, v->name, strerror(errno));
  v->written[snapshot] = true;
  const bool listed = team->rank != 0 || write_xmf(v);
  team_agree(team, listed, TEAM_WRONG, "cannot write %s/%s.xmf: %s", v->folder, v->name, strerror(errno));
}

void volume_close(volume* v) {
  if (v->places != NULL) close(v->file);
  free(v->places);
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
