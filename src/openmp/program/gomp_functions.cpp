#include "openmp/program/gomp_functions.hpp"

#include <algorithm>

#include "openmp/program/imports.hpp"

namespace hiroba::openmp {

namespace {

constexpr auto replaced = GompKind::replaced, passed_on = GompKind::passed_on, refused = GompKind::refused;
constexpr std::string_view old = "which only code of GCC 4 calls: compile all of it by GCC 12 or newer";
constexpr std::string_view later_copy =
    "which makes a task that libgomp alone knows, and that waits for no task of other ranks: call it without _async";
constexpr std::string_view devices = "each rank has devices of its own";
constexpr std::string_view settings = "libgomp has the settings of each task, of all ranks' tasks, too";
constexpr std::string_view league = "a league has the threads of one rank";
constexpr std::string_view places = "each rank has places of its own";
constexpr std::string_view memory = "libgomp allocates by malloc, which is replaced";

// The first row counts.
constexpr GompFunctions table[] = {
    {"GOMP_parallel_start", refused, old},
    {"GOMP_parallel_end", refused, old},
    {"GOMP_parallel_loop_dynamic_start", refused, old},
    {"GOMP_parallel_loop_guided_start", refused, old},
    {"GOMP_parallel_loop_runtime_start", refused, old},
    {"GOMP_parallel_loop_static_start", refused, old},
    {"GOMP_parallel_sections_start", refused, old},
    {"GOMP_target", refused, old},
    {"GOMP_target_data", refused, old},
    {"GOMP_target_update", refused, old},
    {"omp_target_memcpy_async", refused, later_copy},
    {"omp_target_memcpy_rect_async", refused, later_copy},
    {"omp_target_memset_async", refused, later_copy},

    {"GOMP_PLUGIN_*", passed_on, "plugins for devices call them"},
    {"GOMP_offload_*", passed_on, devices},
    {"GOMP_target_data_ext", passed_on, devices},
    {"GOMP_target_end_data", passed_on, devices},
    {"GOMP_target_map_indirect_ptr", passed_on, devices},
    {"GOMP_interop", passed_on, devices},
    {"GOMP_teams*", passed_on, league},
    {"GOMP_taskyield", passed_on, "a thread need not change to another task"},
    {"GOMP_taskgroup_reduction_unregister", passed_on, "such a group is of one rank"},
    {"GOMP_alloc", passed_on, memory},
    {"GOMP_free", passed_on, memory},
    {"GOMP_add_alloc", passed_on, memory},
    {"GOMP_is_alloc", passed_on, memory},
    {"GOMP_error", passed_on, "it prints"},
    {"GOMP_warning", passed_on, "it prints"},
    {"GOACC_*", passed_on, devices},
    {"acc_*", passed_on, devices},

    {"GOMP_atomic_*", replaced, {}},
    {"GOMP_barrier", replaced, {}},
    {"GOMP_barrier_cancel", replaced, {}},
    {"GOMP_cancel", replaced, {}},
    {"GOMP_cancellation_point", replaced, {}},
    {"GOMP_critical_*", replaced, {}},
    {"GOMP_doacross_*", replaced, {}},
    {"GOMP_loop_*", replaced, {}},
    {"GOMP_ordered_*", replaced, {}},
    {"GOMP_parallel*", replaced, {}},
    {"GOMP_scope_start", replaced, {}},
    {"GOMP_sections*", replaced, {}},
    {"GOMP_single_*", replaced, {}},
    {"GOMP_target_*", replaced, {}},
    {"GOMP_task*", replaced, {}},
    {"GOMP_workshare_*", replaced, {}},

    {"omp_get_level*", passed_on, settings},
    {"omp_get_nested*", passed_on, settings},
    {"omp_set_nested*", passed_on, settings},
    {"omp_get_schedule*", passed_on, settings},
    {"omp_set_schedule*", passed_on, settings},
    {"omp_get_max_active_levels*", passed_on, settings},
    {"omp_set_max_active_levels*", passed_on, settings},
    {"omp_get_supported_active_levels*", passed_on, settings},
    {"omp_in_final*", passed_on, settings},
    {"omp_in_explicit_task*", passed_on, settings},
    {"omp_get_cancellation*", passed_on, settings},
    {"omp_get_max_task_priority*", passed_on, settings},
    {"omp_get_proc_bind*", passed_on, settings},
    {"omp_get_affinity_format*", passed_on, settings},
    {"omp_set_affinity_format*", passed_on, settings},
    {"omp_display_env*", passed_on, settings},
    {"omp_pause_resource*", passed_on, "threads of rank 0 end"},
    {"omp_fulfill_event*", passed_on, "tasks of a program that detaches some are of one rank"},
    {"omp_control_tool*", passed_on, "there is no tool"},
    {"omp_get_wtick*", passed_on, "hosts tell the time"},
    {"omp_get_wtime*", passed_on, "hosts tell the time"},
    {"omp_get_num_places*", passed_on, places},
    {"omp_get_partition_*", passed_on, places},
    {"omp_get_place_*", passed_on, places},
    {"omp_get_max_teams*", passed_on, league},
    {"omp_set_num_teams*", passed_on, league},
    {"omp_get_teams_thread_limit*", passed_on, league},
    {"omp_set_teams_thread_limit*", passed_on, league},
    {"omp_get_default_device*", passed_on, devices},
    {"omp_set_default_device*", passed_on, devices},
    {"omp_get_num_devices*", passed_on, devices},
    {"omp_get_initial_device*", passed_on, devices},
    {"omp_get_device_num*", passed_on, devices},
    {"omp_get_device_from_uid*", passed_on, devices},
    {"omp_get_uid_from_device*", passed_on, devices},
    {"omp_get_interop_*", passed_on, devices},
    {"omp_get_num_interop_properties", passed_on, devices},
    {"omp_get_mapped_ptr", passed_on, devices},
    {"omp_is_initial_device*", passed_on, devices},
    {"omp_target_*", passed_on, devices},
    {"omp_alloc", passed_on, memory},
    {"omp_free", passed_on, memory},
    {"omp_calloc", passed_on, memory},
    {"omp_realloc", passed_on, memory},
    {"omp_aligned_*", passed_on, memory},
    {"omp_init_allocator*", passed_on, memory},
    {"omp_destroy_allocator*", passed_on, memory},
    {"omp_get_default_allocator*", passed_on, memory},
    {"omp_set_default_allocator*", passed_on, memory},

    {"omp_capture_affinity*", replaced, {}},
    {"omp_display_affinity*", replaced, {}},
    {"omp_destroy_*", replaced, {}},
    {"omp_init_*", replaced, {}},
    {"omp_set_lock*", replaced, {}},
    {"omp_set_nest_lock*", replaced, {}},
    {"omp_test_*", replaced, {}},
    {"omp_unset_*", replaced, {}},
    {"omp_get_active_level*", replaced, {}},
    {"omp_get_ancestor_thread_num*", replaced, {}},
    {"omp_get_dynamic*", replaced, {}},
    {"omp_set_dynamic*", replaced, {}},
    {"omp_get_max_threads*", replaced, {}},
    {"omp_get_num_*", replaced, {}},
    {"omp_get_team_*", replaced, {}},
    {"omp_get_thread_*", replaced, {}},
    {"omp_in_parallel*", replaced, {}},
    {"omp_set_num_threads*", replaced, {}},
};

}  // namespace

std::span<const GompFunctions> gomp_table() { return table; }

const GompFunctions* gomp_functions(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(table, [name](const GompFunctions& row) { return is_meant_by(name, row.names); });
  return found != std::end(table) ? found : nullptr;
}

std::string_view why_not(std::string_view name) {
  const GompFunctions* const row = gomp_functions(name);
  if (row != nullptr && row->kind == passed_on) return {};
  if (row != nullptr && row->kind == refused) return row->why;
  return "which came with a GCC that this library does not know yet: compile the program by GCC 12 to 15";
}

}  // namespace hiroba::openmp
