// The C entry points of example.h.
#include "example.h"

#include "example/example.hpp"
#include "process/process.hpp"

namespace {

class ExampleModel final : public hiroba::Model {
 public:
  hiroba::Example example;

  hiroba::Status before_barrier() override {
    example.at_barrier();
    return {};
  }
};

}  // namespace

hiroba::Model& hiroba::example_model() { return instance<ExampleModel>(); }

extern "C" __attribute__((visibility("default"))) int64_t hiroba_example_barriers(void) {
  (void)hiroba::process_memory("hiroba_example_barriers");
  return hiroba::instance<ExampleModel>().example.barriers();
}
