#include <xmp.h>
int main(void) {
#pragma xmp
  return 0;
}
// expected: 3:1: unknown directive #pragma xmp
// remedy: known are nodes, coarray, template, distribute, template_fix, align, shadow, static_desc, loop, array,
//     reflect, reduce_shadow, task, tasks, gmove, barrier, reduction, bcast, wait_async, post, wait, lock, unlock,
//     sync_memory, sync_all, sync_image, sync_images, sync_images_all
