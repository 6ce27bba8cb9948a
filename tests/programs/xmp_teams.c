/* Cases of xmp_images: node arrays as teams of collective.h. */
#include <hiroba/collective.h>

#include "xmp_images.h"

/* A team has these images in this order, or this image is in none of them; then it is freed. */
static void expect_team(hiroba_team team, int count, const int images[]) {
  int at = -1, sum = 0, before = 0;
  for (int i = 0; i < count; ++i) {
    if (images[i] == me) at = i;
    if (at < 0) before += images[i] + 1;
    sum += images[i] + 1;
  }
  EXPECT(team != HIROBA_NO_TEAM, at >= 0);
  if (at < 0) return;
  EXPECT(hiroba_team_size(team), count);
  EXPECT(hiroba_team_rank(team), at);
  for (int i = 0; i < count; ++i) EXPECT(hiroba_team_member(team, i), images[i]);
  int mine = me + 1, all = 0, scanned = 0, root = me;
  hiroba_request request;
  hiroba_iallreduce(&mine, &all, 1, HIROBA_INT, HIROBA_SUM, team, &request);
  hiroba_exscan(&mine, &scanned, 1, HIROBA_INT, HIROBA_SUM, team);
  hiroba_wait(&request);
  EXPECT(all, sum);
  EXPECT(scanned, before);
  hiroba_bcast(&root, 1, HIROBA_INT, count - 1, team);
  EXPECT(root, images[count - 1]);
  hiroba_team_free(&team);
  EXPECT(team == HIROBA_NO_TEAM, 1);
}

static void expect_nodes(hiroba_team parent, const xmp_nodes* nodes, int count, const int images[]) {
  hiroba_team team = HIROBA_ALL;
  hiroba_team_from_nodes(parent, nodes, &team);
  expect_team(team, count, images);
}

static xmp_nodes part_of(const char* name, int first_fastest, const xmp_node_reference* of) {
  xmp_nodes part = {.name = name, .dims = 1, .first_fastest = first_fastest, .of = of};
  xmp_nodes_define(&part);
  return part;
}

void teams_of_lines(void) {
  xmp_nodes line = {.name = "line", .dims = 1};
  xmp_nodes_define(&line);
  int images[16];
  for (int i = 0; i < n; ++i) images[i] = i;
  expect_nodes(HIROBA_ALL, &line, n, images);
  const xmp_node_reference first = {&line, {{0, 1, 1}}}, odd = {&line, {{0, XMP_REST, 2}}};
  const xmp_node_reference backwards = {&line, {{n - 1, n, -1}}};
  const xmp_nodes one = part_of("one", 0, &first), each_second = part_of("each_second", 1, &odd);
  const xmp_nodes turned = part_of("turned", 0, &backwards);
  expect_nodes(HIROBA_ALL, &one, 1, images);
  for (int i = 0; i < n; ++i) images[i] = 2 * i;
  expect_nodes(HIROBA_ALL, &each_second, (n + 1) / 2, images);
  for (int i = 0; i < n; ++i) images[i] = n - 1 - i;
  expect_nodes(HIROBA_ALL, &turned, n, images);
}

/* Rows and columns of a grid, each image its own; both orders of the indices. */
void teams_of_grids(void) {
  if (n % 2 != 0) return;
  const int across = n / 2;
  int images[16];
  for (int first_fastest = 0; first_fastest < 2; ++first_fastest) {
    xmp_nodes grid = {.name = "grid", .dims = 2, .extent = {2, 0}, .first_fastest = first_fastest};
    xmp_nodes_define(&grid);
    const int row = first_fastest ? me % 2 : me / across, column = first_fastest ? me / 2 : me % across;
    const int down = first_fastest ? 1 : across, right = first_fastest ? 2 : 1; /* from one image to the next */
    const xmp_node_reference my_row = {&grid, {{XMP_SELF, 1, 1}, {0, XMP_REST, 1}}};
    const xmp_node_reference my_column = {&grid, {{0, XMP_REST, 1}, {XMP_SELF, 1, 1}}};
    const xmp_nodes in_row = part_of("row", 0, &my_row), in_column = part_of("column", 0, &my_column);
    for (int i = 0; i < across; ++i) images[i] = row * down + i * right;
    expect_nodes(HIROBA_ALL, &in_row, across, images);
    for (int i = 0; i < 2; ++i) images[i] = i * down + column * right;
    expect_nodes(HIROBA_ALL, &in_column, 2, images);
    for (int i = 0; i < n; ++i) images[i] = i;
    expect_nodes(HIROBA_ALL, &grid, n, images);
  }
}

/* In a task, the team of its images makes those of parts of them. */
void teams_in_tasks(void) {
  xmp_nodes line = {.name = "line", .dims = 1};
  xmp_nodes_define(&line);
  const int begin = me < n / 2 ? 0 : n / 2, count = me < n / 2 ? n / 2 : n - n / 2;
  const xmp_node_reference mine = {&line, {{begin, count, 1}}};
  const xmp_nodes half = part_of("half", 0, &mine);
  hiroba_team outer;
  hiroba_team_from_nodes(HIROBA_ALL, &half, &outer);
  int images[16];
  for (int i = 0; i < count; ++i) images[i] = begin + i;
  if (xmp_task_begin(&mine, PLACE)) {
    const xmp_nodes executing = part_of("executing", 0, NULL);
    const xmp_node_reference last = {&executing, {{count - 1, 1, 1}}};
    const xmp_nodes end = part_of("end", 0, &last);
    expect_nodes(outer, &executing, count, images);
    expect_nodes(outer, &end, 1, &images[count - 1]);
    xmp_task_end();
  }
  expect_team(outer, count, images);
}
