// The program's name of a task, and the place of its creation: "update", "main.c:12". Lives as long as the program.
#pragma once

namespace hiroba {

struct TaskLabel {
  const char* name;
  const char* place;
};

}  // namespace hiroba
