# jemalloc for the heap of the memory floor, as one object file. Debian's library has the names malloc, free and
# operator new, and would replace those of the user's program; and it cannot be loaded with dlopen, because its
# variables of threads do not fit. So what the heap calls is renamed to hiroba_je_NAME, and all other names become
# local. docs/dependencies.md says why jemalloc.
find_library(HIROBA_JEMALLOC NAMES libjemalloc_pic.a REQUIRED
  DOC "jemalloc as an archive of position-independent code (Debian: libjemalloc-dev)")
set(jemalloc_object ${CMAKE_BINARY_DIR}/jemalloc/jemalloc.o)
set(jemalloc_names malloc free mallocx dallocx sallocx mallctl malloc_conf)
list(TRANSFORM jemalloc_names REPLACE "(.+)" "--redefine-sym=\\1=hiroba_je_\\1" OUTPUT_VARIABLE jemalloc_renames)
add_custom_command(OUTPUT ${jemalloc_object}
  COMMAND ${CMAKE_COMMAND} -E copy ${HIROBA_JEMALLOC} all.a
  COMMAND ${CMAKE_AR} d all.a jemalloc_cpp.pic.o jemalloc_cpp.o
  COMMAND ${CMAKE_LINKER} -r -o all.o --whole-archive all.a
  COMMAND ${CMAKE_OBJCOPY} ${jemalloc_renames} all.o renamed.o
  COMMAND ${CMAKE_OBJCOPY} -w --keep-global-symbol=hiroba_je_* renamed.o ${jemalloc_object}
  DEPENDS ${HIROBA_JEMALLOC} WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/jemalloc
  COMMENT "Renaming jemalloc" VERBATIM)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/jemalloc)
add_custom_target(hiroba_jemalloc_object DEPENDS ${jemalloc_object})
add_library(hiroba_jemalloc OBJECT IMPORTED GLOBAL)
set_target_properties(hiroba_jemalloc PROPERTIES IMPORTED_OBJECTS ${jemalloc_object})
add_dependencies(hiroba_jemalloc hiroba_jemalloc_object)
