# SPDX-License-Identifier: LGPL-2.1-only
# Bundles the parts of SimGrid that weft uses into the package, as weft/simgrid: libraries, launchers, headers, compilers.
# The bundle is relocatable: the compilers' scripts determine their prefix at run time.
set(BUNDLE ${CMAKE_CURRENT_BINARY_DIR}/simgrid)
set(SIMGRID_PREFIX_TEXT simgrid) # beside _core
set(COMPILERS_SIMGRID "\$here/simgrid")
set(COMPILERS_LIBRARY "\$here/simgrid/lib")
set(COMPILERS_CC "\${WEFT_CC:-cc gcc clang}")
set(COMPILERS_CXX "\${WEFT_CXX:-c++ g++ clang++}")
set(COMPILERS_FORTRAN "\${WEFT_FC:-gfortran}")
set(COMPILERS_OR_NAME ", or name it in the environment variable \$variable")
file(REMOVE_RECURSE ${BUNDLE})

# Wheels cannot hold symbolic links: the name that linkers look for is a linker script.
file(REAL_PATH ${SIMGRID_LIBRARY} library)
get_filename_component(soname ${library} NAME)
file(COPY ${library} ${SIMGRID_LIBRARY_DIRECTORY}/simgrid DESTINATION ${BUNDLE}/lib)
file(WRITE ${BUNDLE}/lib/libsimgrid.so "INPUT(-l:${soname})\n")
file(COPY ${SIMGRID_PREFIX}/include DESTINATION ${BUNDLE})
execute_process(COMMAND ${CMAKE_STRIP} --strip-unneeded ${BUNDLE}/lib/${soname} ${BUNDLE}/lib/simgrid/smpimain
                        ${BUNDLE}/lib/simgrid/smpireplaymain COMMAND_ERROR_IS_FATAL ANY)

# For C++ programs, mpi.h includes forward.h, which only declares Boost's pointers; without Boost, stubs suffice.
file(READ ${BUNDLE}/include/simgrid/forward.h text)
string(REPLACE "#include <boost/intrusive_ptr.hpp>" [[#if __has_include(<boost/intrusive_ptr.hpp>)
#include <boost/intrusive_ptr.hpp>
#else
#include <functional>
#include <string>
namespace boost { template <class T> class intrusive_ptr; }
#endif]] without_boost "${text}")
if(without_boost STREQUAL text)
  message(FATAL_ERROR "simgrid/forward.h does not include Boost's intrusive_ptr.hpp any more: take this replacement out")
endif()
file(WRITE ${BUNDLE}/include/simgrid/forward.h "${without_boost}")

# smpicc and similar scripts: their prefix is their folder's parent, and their compiler is the one that weft-compiler found.
file(READ ${BUNDLE}/include/simgrid/version.h text)
string(REPLACE "${SIMGRID_PREFIX}" "" text "${text}")
file(WRITE ${BUNDLE}/include/simgrid/version.h "${text}")
foreach(wrapper smpicc:CC:WEFT_CC:cc smpicxx:CXX:WEFT_CXX:c++ smpif90:REAL_FORTRAN_COMPILER:WEFT_FC:gfortran
        smpiff:REAL_FORTRAN_COMPILER:WEFT_FC:gfortran)
  string(REPLACE ":" ";" wrapper ${wrapper})
  list(POP_FRONT wrapper name assigned variable compiler)
  # Not file(READ): CMake lists would garble semicolons and brackets of a shell script.
  execute_process(
    COMMAND sed -e "s|${SIMGRID_PREFIX}|$weft_simgrid|g" -e "s|^${assigned}=.*|${assigned}=\"\${${variable}:-${compiler}}\"|"
            -e "1a weft_simgrid=$(cd \"$(dirname \"$0\")/..\" && pwd)" ${SIMGRID_PREFIX}/bin/${name}
    OUTPUT_FILE ${BUNDLE}/${name} COMMAND_ERROR_IS_FATAL ANY)
  install(PROGRAMS ${BUNDLE}/${name} DESTINATION weft/simgrid/bin)
endforeach()

set_target_properties(weft replayer PROPERTIES INSTALL_RPATH "$ORIGIN/simgrid/lib")
install(DIRECTORY ${BUNDLE}/include ${BUNDLE}/lib DESTINATION weft/simgrid USE_SOURCE_PERMISSIONS PATTERN pkgconfig EXCLUDE)
foreach(text COPYING LICENSE-LGPL-2.1 AUTHORS)
  install(FILES ${SIMGRID_PREFIX}/${text} DESTINATION weft/simgrid/licences OPTIONAL)
endforeach()
