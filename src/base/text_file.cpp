// SPDX-License-Identifier: LGPL-2.1-only
#include "base/text_file.hpp"

#include "base/error.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace weft {
namespace {

constexpr std::size_t MOST_BYTES = std::size_t{1} << 26U; // 64 MiB

std::function<void(const std::string&)>& observer()
{
  static std::function<void(const std::string&)> one;
  return one;
}

} // namespace

void observe_reads(std::function<void(const std::string& path)> observer)
{
  weft::observer() = std::move(observer);
}

std::string read_text_file(const std::string& path, const std::string& allowed)
{
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  if (observer())
    observer()(path);
  // NOLINTNEXTLINE(clang-analyzer-unix.Stream): closed by its owner, which the analyzer does not see
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  std::string text;
  std::array<char, 4096> block{};
  while (file && std::feof(file.get()) == 0 && std::ferror(file.get()) == 0) {
    text.append(block.data(), std::fread(block.data(), 1, block.size(), file.get()));
    if (text.size() > MOST_BYTES) // a device, or not a text file
      throw UserError(std::string(path).append(": has more than 64 MiB; allowed: ").append(allowed));
  }
  if (not file || std::ferror(file.get()) != 0)
    throw UserError(path + ": cannot be read: " + std::generic_category().message(errno));
  return text;
}

} // namespace weft
