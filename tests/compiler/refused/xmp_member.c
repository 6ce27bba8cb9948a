#include <xmp.h>
struct s {
  int a[4]:[*];
};
int main(void) { return sizeof(struct s); }
// expected: 3:11: codimensions stand behind the name of a variable, and a member of a struct cannot be a coarray by
//     itself
// remedy: declare a variable with them: int a[4]:[*]; an image is named by an index, as in a[0]:[1]
