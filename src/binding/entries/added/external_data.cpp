// SPDX-License-Identifier: LGPL-2.1-only
/* Packed data in MPI's portable format, "external32" (MPI 4.1, sections 5.3 and 14.5.2), which SMPI
 * lacks: big-endian, MPI_LONG and MPI_UNSIGNED_LONG in four bytes, long double in IEEE's quadruple
 * precision. */
#include "binding/abi/original.hpp"
#include "binding/data/elements.hpp"
#include "binding/datatypes/fortran_types.hpp"
#include "binding/entries/added/basic_runs.hpp"
#include "binding/entries/frame/own_function.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

static_assert(std::endian::native == std::endian::little);

namespace weft {
namespace {

__extension__ using Quadruple = __float128;
static_assert(sizeof(Quadruple) == sizeof(long double) && std::numeric_limits<long double>::digits == 64);

/** Format of the numbers of a predefined type. */
struct NumberFormat {
  std::size_t here;      ///< bytes of a number in memory
  std::size_t external;  ///< bytes of a number in external32
  int numbers   = 1;     ///< numbers per element
  bool signed_  = false; ///< for sign extension, if a number has more bytes in memory
  bool extended = false; ///< long double
};

NumberFormat format_of(MPI_Datatype predefined)
{
  const MPI_Datatype type = equal_of_smpi(predefined);
  const std::size_t size  = element_size(type);
  if (type == MPI_LONG)
    return {size, 4, 1, true};
  if (type == MPI_UNSIGNED_LONG)
    return {size, 4};
  if (type == MPI_WCHAR)
    return {size, 2};
  if (type == MPI_LONG_DOUBLE || type == MPI_REAL16)
    return {size, size, 1, true, true};
  if (type == MPI_C_LONG_DOUBLE_COMPLEX)
    return {size / 2, size / 2, 2, true, true};
  if (type == MPI_C_FLOAT_COMPLEX || type == MPI_C_DOUBLE_COMPLEX || type == MPI_COMPLEX8 || type == MPI_COMPLEX16 ||
      type == MPI_COMPLEX32)
    return {size / 2, size / 2, 2};
  return {size, size};
}

void write_external(const std::byte* number, const NumberFormat& format, std::byte* to)
{
  std::byte wide[sizeof(Quadruple)]; // NOLINT(modernize-avoid-c-arrays)
  if (format.extended) {
    long double value = 0;
    std::memcpy(&value, number, sizeof value);
    const auto quadruple = static_cast<Quadruple>(value);
    std::memcpy(wide, &quadruple, sizeof quadruple);
    number = wide;
  }
  std::reverse_copy(number, number + format.external, to);
}

void read_external(const std::byte* from, const NumberFormat& format, std::byte* number)
{
  std::reverse_copy(from, from + format.external, number);
  const bool negative = format.signed_ && (from[0] & std::byte{0x80}) != std::byte{0};
  std::fill(number + format.external, number + format.here, negative ? std::byte{0xff} : std::byte{0});
  if (format.extended) {
    Quadruple quadruple = 0;
    std::memcpy(&quadruple, number, sizeof quadruple);
    const auto value = static_cast<long double>(quadruple);
    std::memcpy(number, &value, sizeof value);
  }
}

std::size_t external_size(std::size_t count, MPI_Datatype type)
{
  std::size_t each = 0;
  for (const BasicRun& run : basic_runs(type)) {
    const NumberFormat format = format_of(run.type);
    each += run.count * format.external * static_cast<std::size_t>(format.numbers);
  }
  return count * each;
}

/** Calls @p convert(packed number, format, external number) for each number of @p count elements. */
template <class Convert>
void convert_numbers(int count, MPI_Datatype type, std::byte* packed, std::byte* external, Convert&& convert)
{
  const auto runs = basic_runs(type);
  for (int element = 0; element < count; ++element) {
    for (const BasicRun& run : runs) {
      const NumberFormat format = format_of(run.type);
      for (std::size_t place = 0; place < run.count; ++place, packed += run.size) {
        for (int number = 0; number < format.numbers; ++number, external += format.external)
          convert(packed + static_cast<std::size_t>(number) * format.here, format, external);
      }
    }
  }
}

int check_external(const char* representation, MPI_Count count, MPI_Datatype type)
{
  if (not representation || std::string_view(representation) != "external32")
    return wrong(MPI_ERR_ARG, "the data representation is not external32");
  if (count < 0)
    return wrong(MPI_ERR_COUNT, "a count is " + std::to_string(count));
  return check_type(type);
}

/** Checks the space after @p position. */
template <class Place> int check_space(MPI_Count count, MPI_Datatype type, Place size, const Place* position)
{
  if (const int result = check_present(position, "position"); result != MPI_SUCCESS)
    return result;
  const auto needed = static_cast<Place>(external_size(static_cast<std::size_t>(count), type));
  return *position < 0 || *position + needed > size
             ? wrong(MPI_ERR_TRUNCATE, "the packed data has " + std::to_string(size) + " bytes, " +
                                           std::to_string(needed) + " are needed from byte " +
                                           std::to_string(*position) + " on")
             : static_cast<int>(MPI_SUCCESS);
}

/** Bytes of elements converted at a time. */
constexpr std::size_t PIECE = 1'048'576;

template <class Step> void by_pieces(MPI_Count count, MPI_Datatype type, Step&& step)
{
  const auto piece =
      static_cast<MPI_Count>(std::max(std::size_t{1}, PIECE / std::max(std::size_t{1}, element_size(type))));
  for (MPI_Count done = 0; done < count; done += piece)
    step(done, static_cast<int>(std::min(piece, count - done)));
}

template <class Place>
int pack_external(const char* representation, const void* from, MPI_Count count, MPI_Datatype type, void* to,
                  Place size, Place* position)
{
  return first_error([&] { return check_external(representation, count, type); },
                     [&] { return check_space(count, type, size, position); },
                     [&] {
                       by_pieces(count, type, [&](MPI_Count first, int number) {
                         std::vector<std::byte> packed(static_cast<std::size_t>(number) * element_size(type));
                         pack(moved(from, first * extent_of(type)), number, type, packed.data());
                         convert_numbers(number, type, packed.data(), static_cast<std::byte*>(to) + *position,
                                         [](const std::byte* one, const NumberFormat& format, std::byte* external) {
                                           write_external(one, format, external);
                                         });
                         *position += static_cast<Place>(external_size(static_cast<std::size_t>(number), type));
                       });
                       return MPI_SUCCESS;
                     });
}

template <class Place>
int unpack_external(const char* representation, const void* from, Place size, Place* position, void* to,
                    MPI_Count count, MPI_Datatype type)
{
  return first_error([&] { return check_external(representation, count, type); },
                     [&] { return check_space(count, type, size, position); },
                     [&] {
                       by_pieces(count, type, [&](MPI_Count first, int number) {
                         const auto bytes = external_size(static_cast<std::size_t>(number), type);
                         std::vector<std::byte> external(bytes);
                         if (bytes > 0)
                           std::memcpy(external.data(), static_cast<const std::byte*>(from) + *position, bytes);
                         std::vector<std::byte> packed(static_cast<std::size_t>(number) * element_size(type));
                         convert_numbers(number, type, packed.data(), external.data(),
                                         [](std::byte* one, const NumberFormat& format, const std::byte* external_one) {
                                           read_external(external_one, format, one);
                                         });
                         unpack(packed.data(), moved(to, first * extent_of(type)), number, type);
                         *position += static_cast<Place>(bytes);
                       });
                       return MPI_SUCCESS;
                     });
}

template <class Place>
int pack_external_size(const char* representation, MPI_Count count, MPI_Datatype type, Place* size)
{
  return first_error([&] { return check_external(representation, count, type); },
                     [&] { return check_present(size, "size"); },
                     [&] {
                       *size = static_cast<Place>(external_size(static_cast<std::size_t>(count), type));
                       return MPI_SUCCESS;
                     });
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Pack_external(char* datarep, void* inbuf, int count, MPI_Datatype type, void* outbuf,
                                       MPI_Aint size, MPI_Aint* position)
{
  return pack_external(datarep, inbuf, count, type, outbuf, size, position);
}

WEFT_INTERPOSED int PMPI_Unpack_external(char* datarep, void* inbuf, MPI_Aint size, MPI_Aint* position, void* outbuf,
                                         int count, MPI_Datatype type)
{
  return unpack_external(datarep, inbuf, size, position, outbuf, count, type);
}

WEFT_INTERPOSED int PMPI_Pack_external_size(char* datarep, int count, MPI_Datatype type, MPI_Aint* size)
{
  return pack_external_size(datarep, count, type, size);
}

WEFT_INTERPOSED int PMPI_Pack_external_c(const char* datarep, const void* inbuf, MPI_Count count, MPI_Datatype type,
                                         void* outbuf, MPI_Count size, MPI_Count* position)
{
  return pack_external(datarep, inbuf, count, type, outbuf, size, position);
}

WEFT_INTERPOSED int PMPI_Unpack_external_c(const char* datarep, const void* inbuf, MPI_Count size, MPI_Count* position,
                                           void* outbuf, MPI_Count count, MPI_Datatype type)
{
  return unpack_external(datarep, inbuf, size, position, outbuf, count, type);
}

WEFT_INTERPOSED int PMPI_Pack_external_size_c(const char* datarep, MPI_Count count, MPI_Datatype type, MPI_Count* size)
{
  return pack_external_size(datarep, count, type, size);
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
