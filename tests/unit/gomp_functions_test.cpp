// The table of libgomp's functions has all that libgomp offers, and says of each what libhiroba_openmp does.
#include "openmp/program/gomp_functions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>

namespace hiroba::openmp {
namespace {

// Returns the names of the functions that a shared library offers, without their versions.
[[maybe_unused]] std::set<std::string> functions_of(const std::string& nm, const std::string& library) {
  std::set<std::string> names;
  char name[256], kind = 0;
  FILE* const output = popen((nm + " -D --defined-only " + library).c_str(), "r");
  while (output != nullptr && std::fscanf(output, "%*s %c %255s", &kind, name) == 2)
    if (kind == 'T' || kind == 'W') names.emplace(std::string_view(name).substr(0, std::string_view(name).find('@')));
  if (output != nullptr) pclose(output);
  return names;
}

GompKind kind_of(std::string_view name) {
  const GompFunctions* const row = gomp_functions(name);
  return row != nullptr ? row->kind : GompKind::refused;
}

TEST(GompFunctions, AreThoseOfBothLibraries) {
#ifndef LIBGOMP
  GTEST_SKIP() << "OpenMP over ranks is for x86-64";
#else
  const auto libgomp = functions_of(NM, LIBGOMP), ours = functions_of(NM, LIBHIROBA_OPENMP);
  ASSERT_GT(libgomp.size(), 400U);
  for (const std::string& name : libgomp) {
    EXPECT_NE(gomp_functions(name), nullptr) << name << " is in no row: is it to be replaced?";
    EXPECT_EQ(kind_of(name) == GompKind::replaced, ours.contains(name)) << name;
  }
#endif
}

// A row that stands behind another one that has all of its functions is never read.
TEST(GompFunctions, HaveEachRowRead) {
  for (const GompFunctions& row : gomp_table()) {
    const std::string_view least = row.names.substr(0, row.names.find('*'));
    EXPECT_EQ(gomp_functions(least), &row) << row.names;
    EXPECT_EQ(row.why.empty(), row.kind == GompKind::replaced) << row.names;
  }
}

// Looks at functions that libgomp has got since GCC 12, which is what this machine may have.
TEST(GompFunctions, OfNewerCompilersAreKnownOrRefused) {
  for (const auto* const name : {"omp_in_explicit_task", "omp_in_explicit_task_", "omp_get_mapped_ptr",
                                 "omp_target_is_accessible", "omp_target_memset", "omp_get_uid_from_device_8_",
                                 "omp_get_interop_int", "GOMP_interop", "GOMP_add_alloc", "omp_control_tool"})
    EXPECT_EQ(why_not(name), "") << name;
  EXPECT_EQ(kind_of("GOMP_taskwait_depend_nowait"), GompKind::replaced);
  for (const auto* const name : {"omp_target_memcpy_async", "omp_target_memset_async"})
    EXPECT_TRUE(why_not(name).ends_with("without _async")) << name;
  // GCC in development has these: barriers and loops of one rank, if libgomp performed them.
  for (const auto* const name : {"GOMP_barrier_ext", "GOMP_loop_static_worksharing", "GOMP_has_masked_thread_num",
                                 "GOMP_single_end", "omp_get_num_threads_dim", "GOMP_of_a_later_year"})
    EXPECT_TRUE(why_not(name).starts_with("which came with a GCC")) << name;
}

}  // namespace
}  // namespace hiroba::openmp
