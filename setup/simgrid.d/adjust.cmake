# SPDX-License-Identifier: LGPL-2.1-only
# Read by SimGrid's CMake files (CMAKE_PROJECT_INCLUDE), and carried out at their end. SimGrid's sources stay as they are:
#   - several of them are compiled at a time: reading the same headers 300 times took most of the time;
#   - with -O2 instead of its -O3, which takes longer to compile and makes no run faster, and -O1 where runs spend no time;
#   - the empty queues of a rank's mailbox and lock take 0.2 KiB instead of 1.7: libstdc++'s deques have room for 512 bytes;
#   - Fortran programs get their arguments in a way that does not need libgfortran where there is no Fortran program.

# Of SimGrid's sources those that match, compiled apart from the others, but as they are. Their names go into `result`.
function(weft_compile_apart name pattern result)
  get_target_property(sources simgrid SOURCES)
  set(apart ${sources})
  list(FILTER apart INCLUDE REGEX ${pattern})
  list(REMOVE_ITEM sources ${apart})
  set_property(TARGET simgrid PROPERTY SOURCES ${sources})
  add_library(${name} OBJECT ${apart})
  add_dependencies(${name} maintainer_files)
  target_include_directories(${name} PRIVATE $<TARGET_PROPERTY:simgrid,INCLUDE_DIRECTORIES>)
  target_compile_definitions(${name} PRIVATE simgrid_EXPORTS)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_sources(simgrid PRIVATE $<TARGET_OBJECTS:${name}>)
  set(${result} ${apart} PARENT_SCOPE)
endfunction()

# Each file has a default category of log messages, under a name that is the same in all of them. Here each gets its own.
function(weft_compile_together name batch)
  set(category _misuse_of_XBT_LOG_macros_detected__default)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch}
                        UNITY_BUILD_UNIQUE_ID weft_unique
                        UNITY_BUILD_CODE_BEFORE_INCLUDE "#undef ${category}\n#define ${category} weft_unique\n")
endfunction()

function(weft_adjust)
  set(here ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  set(gcc $<$<COMPILE_LANG_AND_ID:CXX,GNU>)

  # The algorithms of collectives have their category from the header that they share. Some define the same names.
  weft_compile_apart(algorithms "src/smpi/colls/([a-z_]+/.*|smpi_.*_selector|smpi_nbc_impl)\\.cpp$" algorithms)
  set_target_properties(algorithms PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(number 0)
  foreach(source ${algorithms})
    math(EXPR group "${number} % 4")
    math(EXPR number "${number} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()

  weft_compile_apart(seldom "src/(plugins|instr|mc|sthread|smo|xbt|dag|kernel/xml|smpi/plugins|smpi/bindings/smpi_f77)[/_.].*cpp$" seldom)
  weft_compile_together(seldom 24)
  target_compile_options(seldom PRIVATE -O1)

  weft_compile_together(simgrid 24)
  # GCC limits how much it inlines by the size of a unit. With its limits for one file runs took a fifth longer than with
  # each file alone; with these they take as long.
  target_compile_options(algorithms PRIVATE -O2)
  target_compile_options(simgrid PRIVATE -O2 ${gcc}:--param=inline-unit-growth=400> ${gcc}:--param=large-unit-insns=1000000>)
  # They give names to their own things that others give to theirs, or define what headers otherwise only declare.
  set_source_files_properties(src/plugins/host_load.cpp src/plugins/link_energy.cpp src/plugins/link_energy_wifi.cpp
                              src/plugins/link_load.cpp src/plugins/vm_load.cpp src/smpi/internals/smpi_utils.cpp
                              src/smpi/colls/smpi_coll.cpp src/smpi/colls/colls_global.cpp src/xbt/xbt_misc.cpp
                              PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

  # A program's own deques have room for 512 bytes: they must not find these.
  foreach(target simgrid algorithms seldom)
    target_compile_definitions(${target} PRIVATE _GLIBCXX_DEQUE_BUF_SIZE=64)
  endforeach()
  target_link_options(simgrid PRIVATE -Wl,--version-script=${here}/hidden.map)
  set_property(TARGET simgrid APPEND PROPERTY LINK_DEPENDS ${here}/hidden.map)

  target_sources(simgrid PRIVATE ${here}/fortran_arguments.c)
  set_source_files_properties(src/smpi/internals/smpi_global.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
                              COMPILE_DEFINITIONS _gfortran_set_args=weft_gfortran_set_args)
  target_link_options(simgrid PRIVATE -Wl,--as-needed)
endfunction()
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL weft_adjust)
