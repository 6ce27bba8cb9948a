/* Each rank keeps a lock for a while, again and again, and comes to no other call: such a job advances. */
#include <sms.h>
#include <unistd.h>

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  for (int i = 0; i < 40; i++) {
    sms_lock(3);
    usleep(30000);
    sms_unlock(3);
  }
  sms_shutdown();
  return 0;
}
