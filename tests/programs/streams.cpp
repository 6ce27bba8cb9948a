// C++ streams into shared memory of another rank and out of it.
#include <sms.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  constexpr size_t bytes = 1 << 20;
  char* const far = static_cast<char*>(sms_alloc(1, bytes, sms_nprocs - 1));
  if (sms_rank == 0) {
    std::string text(bytes, 'x');
    for (size_t i = 0; i < bytes; i += 7) text[i] = static_cast<char>(i);
    char name[] = "/tmp/hiroba-streams-XXXXXX";
    if (mkstemp(name) < 0) sms_abort(1, "streams: no file");
    std::ofstream(name, std::ios::binary).write(text.data(), bytes);
    if (!std::ifstream(name, std::ios::binary).read(far, bytes)) sms_abort(1, "streams: read stopped short");
    if (text != std::string(far, bytes)) sms_abort(1, "streams: read something else");
    sms_sync();
    if (!std::ofstream(name, std::ios::binary).write(far, bytes)) sms_abort(1, "streams: write stopped short");
    std::string again(bytes, 0);
    std::ifstream(name, std::ios::binary).read(again.data(), bytes);
    std::remove(name);
    if (text != again) sms_abort(1, "streams: wrote something else");
    std::puts("done");
  }
  sms_barrier();
  sms_shutdown();
}
