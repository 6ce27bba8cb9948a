// Exceptions in transactions of GCC (-fgnu-tm) by libhiroba_tm: those that the C++ library looks into when they are
// thrown, those whose text it stores itself, caught ones, and ones that another thread's commit undoes.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

static void expect(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  std::exit(3);
}

static long thrown, count;

template <typename T>
static bool arrives(const T& value) {
  try {
    __transaction_atomic {
      ++thrown;
      throw value;
    }
  } catch (T got) {
    return got == value;
  }
  return false;
}

template <typename T>
static bool arrives_with(const std::string& text) {
  try {
    __transaction_atomic {
      ++thrown;
      throw T(text);
    }
  } catch (const T& got) {
    return got.what() == text;
  }
  return false;
}

// The transaction is cancelled after the exception's object has been made, and before it is thrown.
static bool is_cancelled() {
  try {
    __transaction_atomic {
      throw({
        if (thrown >= 0) __transaction_cancel;
        thrown;
      });
    }
  } catch (long) {
    return false;
  }
  return std::uncaught_exceptions() == 0;
}

// Both threads change `count` while they handle an exception, so that many attempts are undone there.
static void* handle(void* unused) {
  for (int i = 0; i < 20000; ++i) {
    __transaction_atomic {
      try {
        throw count;
      } catch (long seen) {
        count = seen + 1;
      }
    }
  }
  return unused;
}

int main() {
  void* const none = nullptr;
  expect(arrives(none) && arrives(&none) && arrives(5) && arrives(2.5L) && arrives('x'), "values");
  const std::string text = "a text that is longer than a string holds in itself";
  expect(arrives_with<std::logic_error>(text) && arrives_with<std::overflow_error>(text), "exceptions of the library");
  expect(thrown == 7, "an exception commits");
  expect(is_cancelled(), "an exception that is not thrown");
  pthread_t thread;
  pthread_create(&thread, nullptr, handle, nullptr);
  handle(nullptr);
  pthread_join(thread, nullptr);
  expect(count == 40000, "exceptions that are caught");
  expect(std::uncaught_exceptions() == 0 && std::current_exception() == nullptr, "nothing is left of them");
  std::printf("done\n");
}
