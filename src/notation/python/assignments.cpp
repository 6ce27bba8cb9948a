// Assignments to elements of arrays of `import hiroba` execute the function here (python/hiroba/assignments.py).
// It calls NumPy's function, after Python has looked at the statement, which it does some times for each. A method of
// Python instead would make an assignment to one element take ten times as long. Python's functions are found by name,
// because this library is also for processes without an interpreter. They are of its stable interface, but for
// PyFrame_GetLasti, which 3.11 and later have.
//
// The interpreter's lock orders all that is here.
#include <dlfcn.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace hiroba {

namespace {

using Object = void;  // PyObject

struct Interpreter {
  Object* (*frame)();
  Object* (*code)(Object*);
  int (*instruction)(Object*);
  Object* (*call)(Object*, ...);
  void (*release)(Object*);

  bool find() {
    const auto function = []<typename Function>(Function*& out, const char* name) {
      out = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
      return out != nullptr;
    };
    return function(frame, "PyEval_GetFrame") && function(code, "PyFrame_GetCode") &&
           function(instruction, "PyFrame_GetLasti") && function(call, "PyObject_CallFunctionObjArgs") &&
           function(release, "Py_DecRef");
  }
};

using Assign = int (*)(Object* array, Object* index, Object* value);

Interpreter python = {};
Assign assign = nullptr;  // NumPy's
Object* look = nullptr;

// A statement, as the instruction that assigns, and how often it has been executed. Two that have one place take turns,
// so both are looked at more often.
struct Statement {
  const Object* code = nullptr;
  int instruction = 0;
  uint64_t count = 0;
};
std::array<Statement, 4096> statements;

// As often as is_due() in watch.py.
bool is_due(uint64_t count) { return count <= 8 || std::has_single_bit(count) || std::has_single_bit(count + 1); }

bool is_due() {
  Object* const frame = python.frame();
  if (frame == nullptr) return false;
  Object* const code = python.code(frame);
  python.release(code);  // the frame has it, too
  const int instruction = python.instruction(frame);
  const size_t place = (reinterpret_cast<uintptr_t>(code) >> 4) * 31 + static_cast<size_t>(instruction);
  Statement& statement = statements[place % statements.size()];
  if (statement.code != code || statement.instruction != instruction) statement = {code, instruction, 0};
  return is_due(++statement.count);
}

int look_and_assign(Object* array, Object* index, Object* value) {
  if (value != nullptr && is_due()) {
    Object* const looked = python.call(look, array, index, static_cast<Object*>(nullptr));
    if (looked == nullptr) return -1;  // an exception
    python.release(looked);
  }
  return assign(array, index, value);
}

}  // namespace

}  // namespace hiroba

// Returns the function for the slot mp_ass_subscript of a type whose base has `plain` there; null if the interpreter
// lacks a function that it needs. `look(array, index)`, an object of Python, is called before assignments; it must live
// as long as the type.
extern "C" __attribute__((visibility("default"))) void* hiroba_watched_assignments(void* plain, void* look) {
  if (!hiroba::python.find()) return nullptr;
  hiroba::assign = reinterpret_cast<hiroba::Assign>(plain);
  hiroba::look = look;
  return reinterpret_cast<void*>(hiroba::look_and_assign);
}
