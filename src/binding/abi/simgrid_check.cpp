// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/abi/simgrid_check.hpp"

#include "base/error.hpp"
#include "binding/abi/interposed_symbol.hpp"
#include "binding/abi/smpi/datatypes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <simgrid/version.h>
#include <smpi/smpi.h>
#include <string>
#include <string_view>
#include <utility>

namespace weft {
namespace {

static_assert(SIMGRID_VERSION >= 40000 && SIMGRID_VERSION < 50000,
              "weft knows the private symbols of SimGrid 4; compare kernel/ and smpi/ with another version's sources");

/** Versions whose sources kernel/ and smpi/ were compared with; src/smpi/include is identical in both. */
constexpr std::array CHECKED{std::pair{4, 0}, std::pair{4, 1}};

[[noreturn]] void refuse(const std::string& difference)
{
  throw UserError(
      "SimGrid: " + difference +
      "; weft works with SimGrid 4.0 and 4.1 as they were released: `setup/simgrid` in weft's sources builds "
      "one, and SIMGRID_PREFIX=/path/of/simgrid pip install . builds weft for another");
}

void check_version()
{
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  const std::string running = std::to_string(major) + "." + std::to_string(minor);
  if (std::ranges::count(CHECKED, std::pair{major, minor}) == 0)
    refuse("version " + running + " runs, which weft has not been checked with");
  if (major != SIMGRID_VERSION_MAJOR || minor != SIMGRID_VERSION_MINOR)
    refuse("version " + running + " runs, and weft was built for " + std::to_string(SIMGRID_VERSION_MAJOR) + "." +
           std::to_string(SIMGRID_VERSION_MINOR));
}

/** Tables of dynamic symbols of this library, as the loader has mapped them. */
class OwnSymbols {
  const ElfW(Sym) * symbols_    = nullptr;
  const char* names_            = nullptr;
  const std::uint32_t* buckets_ = nullptr; ///< of DT_GNU_HASH: number, first hashed symbol, words of the filter, …

public:
  OwnSymbols()
  {
    Dl_info info;
    link_map* map = nullptr;
    if (dladdr1(reinterpret_cast<void*>(&check_simgrid), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0)
      return;
    for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
      // NOLINTBEGIN(performance-no-int-to-ptr): addresses in the loader's tables
      if (entry->d_tag == DT_SYMTAB)
        symbols_ = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
      else if (entry->d_tag == DT_STRTAB)
        names_ = reinterpret_cast<const char*>(entry->d_un.d_ptr);
      else if (entry->d_tag == DT_GNU_HASH)
        buckets_ = reinterpret_cast<const std::uint32_t*>(entry->d_un.d_ptr);
      // NOLINTEND(performance-no-int-to-ptr)
    }
  }

  /** Calls @p visit with the name of each function that this library defines and exports, except inline ones. */
  template <class Visit> void each_function(const Visit& visit) const
  {
    if (not symbols_ || not names_ || not buckets_)
      return;
    const std::uint32_t count        = buckets_[0];
    const std::uint32_t first        = buckets_[1];
    constexpr std::uint32_t PER_WORD = sizeof(ElfW(Addr)) / sizeof(std::uint32_t);
    const std::uint32_t* bucket      = buckets_ + 4 + static_cast<std::size_t>(buckets_[2]) * PER_WORD;
    const std::uint32_t* chains      = bucket + count;
    for (std::uint32_t one = 0; one < count; ++one) {
      std::uint32_t index = bucket[one];
      if (index < first)
        continue; // an empty bucket
      do {
        const ElfW(Sym) & symbol = symbols_[index];
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL)
          visit(names_ + symbol.st_name);
      } while ((chains[index++ - first] & 1U) == 0); // the last entry of a bucket
    }
  }
};

/** Checks that each function that interposes on a function of SimGrid has an original. */
void check_symbols()
{
  OwnSymbols().each_function([](const char* name) {
    const std::string_view text(name);
    if ((text.starts_with("_ZN7simgrid") || text.starts_with("_ZNK7simgrid")) && not dlsym(RTLD_NEXT, name))
      refuse("it has no function " + std::string(name) + ", which weft replaces");
  });
}

/** Compares fields of a datatype with the results of SMPI's own functions. The layouts of requests and of actors'
 * extensions are checked when the first ones are made (require_layout(), started_ranks.cpp). */
void check_layouts()
{
  // Volatile, since compilers that know the object assume the size of its declaration here, which has no fields.
  const volatile MPI_Datatype known = MPI_DOUBLE_INT;
  const MPI_Datatype type           = known;
  const auto& fields                = *reinterpret_cast<const simgrid::smpi::DatatypeLayout*>(type);
  int size                          = 0;
  MPI_Aint low                      = 0;
  MPI_Aint extent                   = 0;
  PMPI_Type_size(type, &size);
  PMPI_Type_get_extent(type, &low, &extent);
  constexpr unsigned KNOWN_FLAGS = simgrid::smpi::PREDEFINED_FLAG | simgrid::smpi::COMMITTED_FLAG;
  if (std::cmp_not_equal(fields.size, size) || fields.low != low || fields.high != low + extent ||
      (fields.flags & KNOWN_FLAGS) == 0 || fields.handle.deleted)
    refuse("the fields of a datatype lie elsewhere than in versions 4.0 and 4.1");
}

} // namespace

void check_simgrid()
{
  check_version();
  check_symbols();
  check_layouts();
}

} // namespace weft
