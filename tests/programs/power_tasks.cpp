// Tasks whose energy is measured: "heavy" takes three times as long as "light", and one of them has regions.
#include <sms.h>

#include <chrono>
#include <power.hpp>
#include <task.hpp>

namespace {

void compute(double seconds) {
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  while (std::chrono::duration<double>(clock::now() - begin).count() < seconds) continue;
}

}  // namespace

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.1;
  const int dim[] = {64, -1}, div[] = {1, -1};
  double* const x = static_cast<double*>(sms_mapalloc(dim, div, sizeof(double), 0, 1));
  for (int i = 0; i < 3; ++i) {
    hiroba::task(hiroba::name("heavy"), hiroba::inout(x, 1), [=] { compute(3 * seconds); });
    hiroba::task(hiroba::name("light"), hiroba::inout(x, 1), [=] {
      hiroba::energy_region region("in light");
      compute(seconds);
    });
  }
  hiroba::taskwait();
  sms_shutdown();
}
