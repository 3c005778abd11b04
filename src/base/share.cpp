// SPDX-License-Identifier: LGPL-2.1-only
#include "base/share.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <filesystem>
#include <string_view>

namespace weft {
namespace fs = std::filesystem;

std::string share_directory()
{
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&share_directory), &here) != 0 && here.dli_fname) {
    const fs::path beside = fs::path(here.dli_fname).parent_path();
    if (fs::is_directory(beside / "presets"))
      return beside.string();
  }
  return WEFT_SOURCE_DIRECTORY;
}

std::optional<std::string> find_shared(const std::string& folder, const std::string& name)
{
  // A name with a slash would reach outside the folder.
  if (name.find('/') != std::string::npos)
    return std::nullopt;
  const fs::path path = fs::path(share_directory()) / folder / (name + ".toml");
  std::error_code ignored; // a name may be too long for a file name
  return fs::is_regular_file(path, ignored) ? std::optional(path.string()) : std::nullopt;
}

std::string name_of_file(const std::string& path)
{
  const fs::path relative  = fs::path(path).lexically_relative(share_directory());
  const std::string folder = relative.parent_path().string();
  if (relative.extension() != ".toml")
    return path;
  if (folder == "fabrics")
    return "fabric " + relative.stem().string();
  constexpr std::string_view PRESETS = "presets/";
  if (folder.starts_with(PRESETS))
    return folder.substr(PRESETS.size()) + " preset " + relative.stem().string();
  return path;
}

std::vector<std::string> list_shared(const std::string& folder)
{
  std::vector<std::string> names;
  std::error_code ignored; // an absent folder contains no names
  for (const auto& entry : fs::directory_iterator(fs::path(share_directory()) / folder, ignored))
    if (entry.path().extension() == ".toml")
      names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

} // namespace weft
