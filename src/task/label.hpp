// What a program calls a task, and where it makes it: "update", "main.c:12". Lives as long as the program.
#pragma once

namespace hiroba {

struct TaskLabel {
  const char* name;
  const char* place;
};

}  // namespace hiroba
