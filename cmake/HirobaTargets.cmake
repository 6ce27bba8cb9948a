# What all our targets share: warnings, sanitizers, include folders.
add_library(hiroba_flags INTERFACE)
target_compile_options(hiroba_flags INTERFACE -Wall -Wextra -Wpointer-arith
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual -fno-exceptions -fno-rtti -fvisibility=hidden>
  $<$<BOOL:${HIROBA_WERROR}>:-Werror>
  $<$<CONFIG:RelWithDebInfo>:-g1>) # functions and lines: what a stack needs, in two thirds of the compiler's time
target_compile_definitions(hiroba_flags INTERFACE HIROBA_VERSION="${PROJECT_VERSION}")
target_include_directories(hiroba_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include/hiroba
  ${CMAKE_BINARY_DIR}/generated)
target_link_libraries(hiroba_flags INTERFACE Threads::Threads)
if(HIROBA_SANITIZE)
  add_compile_options(-fsanitize=${HIROBA_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HIROBA_SANITIZE})
endif()
add_compile_options(-fno-omit-frame-pointer)

# hiroba_floor(NAME [LIBRARY name] [MODEL] [PURPOSE text] USES floors... SHOWS headers... SOURCES files...): one floor
# of src/, or FLOOR/ROOM of it, as an object library, which goes into libhiroba, or into the library that is named.
# Floors are declared bottom up. PURPOSE is for the picture, SHOWS has what its contract may include of its own. What a
# floor uses is this one line; tests/tidy checks that its includes agree. MODEL: a notation of libhiroba has
# NAME_model(), which takes part in the events of the process (process/process.hpp).
function(hiroba_floor name)
  cmake_parse_arguments(F "MODEL" "LIBRARY;PURPOSE" "SOURCES;USES;SHOWS" ${ARGN})
  string(REPLACE / _ name ${name})
  if(NOT F_SOURCES)  # a contract alone, which is compiled
    set(F_SOURCES ${CMAKE_BINARY_DIR}/generated/${name}.cpp)
    file(CONFIGURE OUTPUT ${F_SOURCES} CONTENT "#include \"${name}/${name}.hpp\"\n")
  endif()
  add_library(hiroba_${name} OBJECT ${F_SOURCES})
  target_link_libraries(hiroba_${name} PUBLIC hiroba_flags)
  foreach(u ${F_USES})
    target_link_libraries(hiroba_${name} PUBLIC hiroba_${u})
  endforeach()
  # Read once, because they take a third of the compiler's time. Each file names what it needs all the same: the preset
  # asan compiles without.
  if(name STREQUAL base)
    target_precompile_headers(hiroba_base PRIVATE <algorithm> <array> <atomic> <functional> <map> <memory> <mutex>
      <span> <string> <vector>)
  else()
    target_precompile_headers(hiroba_${name} REUSE_FROM hiroba_base)
  endif()
  if(NOT F_LIBRARY)
    set(F_LIBRARY hiroba)
  endif()
  set_property(GLOBAL APPEND PROPERTY floors_of_${F_LIBRARY} hiroba_${name})
  if(F_MODEL)
    set_property(GLOBAL APPEND PROPERTY HIROBA_MODELS ${name})
  endif()
  if(F_LIBRARY MATCHES "sparse|openmp")  # calls what libhiroba shows
    target_compile_definitions(hiroba_${name} PRIVATE HIROBA_OUTSIDE)
  endif()
endfunction()

# hiroba_some_objects(TARGET NAMES VARIABLE): the object files of these sources, alternatives of a regular expression.
function(hiroba_some_objects target names variable)
  set(${variable} "$<FILTER:$<TARGET_OBJECTS:${target}>,INCLUDE,/(${names})[.]cpp>" PARENT_SCOPE)
endfunction()

# For process/process.hpp, after the last floor of libhiroba. All ranks have this list, whatever a program links.
function(hiroba_models_end)
  get_property(models GLOBAL PROPERTY HIROBA_MODELS)
  list(TRANSFORM models REPLACE "(.+)" "of(\\1)")
  list(JOIN models " " models)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/hiroba_models.inc @ONLY CONTENT
"// Written by CMake from the lines hiroba_floor(... MODEL).
#define HIROBA_MODELS(of) @models@
")
endfunction()

# hiroba_objects(LIBRARY VARIABLE): the object files of its floors.
function(hiroba_objects library variable)
  get_property(floors GLOBAL PROPERTY floors_of_${library})
  list(TRANSFORM floors REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  set(${variable} ${floors} PARENT_SCOPE)
endfunction()
