// The start and end of a job for the Python package, whose programs call none of the functions of sms.h by their names.
#include "base/tables/phrases.hpp"
#include "process/process.hpp"
#include "sms.h"

extern "C" __attribute__((visibility("default"))) void hiroba_start_interpreted();

// Like sms_startup. The process leaves the job when it exits, which is after all that the interpreter does at its end.
// Only there its status is known: a rank that exits with another one than 0 ends a job of several with that.
void hiroba_start_interpreted() {
  hiroba::phrases() = {.end = "the end of the job",
                       .exit = "sys.exit or SystemExit",
                       .bring_pages = "preload",
                       .free_object = "free",
                       .resize_object = "resize",
                       .allocate_array = "hiroba.zeros",
                       .set_homes = "homes=\"migrating\"",
                       .move_homes = "redistribute",
                       .set_scalar = "fields of the dtype",
                       .one_thread = "make it when the other threads are joined, or in one of them for all"};
  sms_startup(nullptr, nullptr);
  hiroba::end_at_exit([](int status) {
    if (status == 0 || sms_nprocs == 1) sms_shutdown();
  });
}
