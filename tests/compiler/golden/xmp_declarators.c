/* What may be declared as a coarray: several in one declaration, scalars, structs, typedefs, arrays of pointers, with
 * first values, and extents by macros, enumerators and constants. */
#include <xmp.h>
#include "check.h"

#define ROWS 3
enum { COLUMNS = 4 };
static const int DEPTH = 5, TWICE = 2 * DEPTH;
typedef struct point {
  double x, y;
} point;
typedef int row[COLUMNS];

int a[ROWS][COLUMNS]:[*], x:[*] = 7, plain = 3, b[TWICE] : [ * ];
row table[ROWS]:[*] = {{1}, {[2] = 2}};
point origin:[*] = {1, 2}, *nobody, points[DEPTH]:[*];
struct node {
  int value[2];
} nodes[2]:[*];
const long limits[2]:[*] = {-1, 1};
char letters[]:[*] = "coarray";
double cube[2][ROWS][DEPTH]:[*];

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n;
  int wrong = sizeof a != 12 * sizeof(int) || sizeof b != 10 * sizeof(int) || sizeof(letters) != 8 || plain != 3;
  wrong += sizeof points != 5 * sizeof(point) || sizeof(table[0]) != 4 * sizeof(int) || nobody != 0;
  wrong += x:[next] != 7 || table[1][2]:[next] != 2 || table[0][0]:[next] != 1 || table[1][1]:[next] != 0;
  wrong += origin.y:[next] != 2 || limits[0]:[next] != -1 || letters[6]:[next] != 'y' || cube[1][2][4]:[next] != 0;
  xmp_sync_all(0);
  a[2][3] = b[9] = nodes[1].value[1] = me + 10;
  points[4].x = cube[1][2][4] = me + 0.5;
  xmp_sync_all(0);
  wrong += a[2][3]:[next] != next + 10 || b[9]:[next] != next + 10 || nodes[1].value[1]:[next] != next + 10;
  wrong += points[4].x:[next] != next + 0.5 || cube[1][2][4]:[next] != next + 0.5;
  return verdict(wrong);
}
