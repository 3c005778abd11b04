# SPDX-License-Identifier: LGPL-2.1-only
# Read by SimGrid's CMake files (CMAKE_PROJECT_INCLUDE), and carried out at their end. SimGrid's sources stay as they are:
#   - several of them are compiled at a time: reading the same headers 300 times took most of the time;
#   - Fortran programs get their arguments in a way that does not need libgfortran where there is no Fortran program.
function(weft_adjust)
  set(here ${CMAKE_CURRENT_FUNCTION_LIST_DIR})

  # Each file has a default category of log messages, under a name that is the same in all of them. Here each gets its
  # own, but for the algorithms of collectives, which have it from the header that they share.
  get_target_property(sources simgrid SOURCES)
  set(algorithms ${sources})
  list(FILTER algorithms INCLUDE REGEX "src/smpi/colls/([a-z_]+/.*|smpi_.*_selector|smpi_nbc_impl)\\.cpp$")
  list(REMOVE_ITEM sources ${algorithms})
  set_property(TARGET simgrid PROPERTY SOURCES ${sources})
  add_library(algorithms OBJECT ${algorithms})
  add_dependencies(algorithms maintainer_files)
  target_include_directories(algorithms PRIVATE $<TARGET_PROPERTY:simgrid,INCLUDE_DIRECTORIES>)
  target_compile_definitions(algorithms PRIVATE simgrid_EXPORTS)
  set_target_properties(algorithms PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 28)
  target_sources(simgrid PRIVATE $<TARGET_OBJECTS:algorithms>)
  set(alone ${algorithms})
  list(FILTER alone INCLUDE REGEX "arrival|NTSL|mvapich2_selector|intel_mpi_selector")
  set(category _misuse_of_XBT_LOG_macros_detected__default)
  set_target_properties(simgrid PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16 UNITY_BUILD_UNIQUE_ID weft_unique
                        UNITY_BUILD_CODE_BEFORE_INCLUDE "#undef ${category}\n#define ${category} weft_unique\n")
  # GCC limits how much it inlines by the size of a unit. With its limits for one file runs took a fifth longer than with
  # each file alone; with these they take as long.
  target_compile_options(simgrid PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=inline-unit-growth=400
                                         --param=large-unit-insns=1000000>)
  # They give names to their own things that others give to theirs, or define what headers otherwise only declare.
  set_source_files_properties(src/plugins/host_load.cpp src/plugins/link_energy.cpp src/plugins/link_energy_wifi.cpp
                              src/plugins/link_load.cpp src/plugins/vm_load.cpp src/smpi/internals/smpi_utils.cpp
                              src/smpi/colls/smpi_coll.cpp src/smpi/colls/colls_global.cpp src/xbt/xbt_misc.cpp ${alone}
                              PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

  target_sources(simgrid PRIVATE ${here}/fortran_arguments.c)
  set_source_files_properties(src/smpi/internals/smpi_global.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
                              COMPILE_DEFINITIONS _gfortran_set_args=weft_gfortran_set_args)
  target_link_options(simgrid PRIVATE -Wl,--as-needed)
endfunction()
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL weft_adjust)
