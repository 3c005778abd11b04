// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/files/open_file.hpp"

#include "binding/abi/smpi/error_handlers.hpp"
#include "binding/data/elements.hpp"
#include "binding/files/type_extents.hpp"

#include <utility>

namespace weft {

HandleObject::~HandleObject()
{
  if (number_ != simgrid::smpi::UNNUMBERED)
    simgrid::smpi::F2C::free_f(number_);
}

FileHandle::~FileHandle()
{
  simgrid::smpi::Datatype::unref(etype);
  simgrid::smpi::Datatype::unref(filetype);
  if (handler != MPI_ERRHANDLER_NULL)
    simgrid::smpi::Errhandler::unref(handler);
  if (group != MPI_GROUP_NULL)
    PMPI_Group_free(&group);
}

void FileHandle::set_view(std::int64_t displacement, MPI_Datatype its_etype, MPI_Datatype its_filetype,
                          std::string format)
{
  its_etype->ref();
  its_filetype->ref();
  simgrid::smpi::Datatype::unref(std::exchange(etype, its_etype));
  simgrid::smpi::Datatype::unref(std::exchange(filetype, its_filetype));
  data_format = std::move(format);
  view =
      FileView(displacement, static_cast<std::int64_t>(element_size(etype)), extents_of(filetype), extent_of(filetype));
  position = 0;
}

} // namespace weft
