// ElfFile reads sections of an ELF file by name, without running its code.
#pragma once

#include <elf.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace allocbench {

// Reports that a file cannot be read, with the reason. The text follows the file's name in a message.
class DamagedFile : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ElfFile {
 public:
  // Throws DamagedFile if the file cannot be read, is not a 64-bit shared object, is shorter than its headers state, or
  // has no names of sections.
  explicit ElfFile(const std::filesystem::path& path);

  // Returns the bytes of a section up to the first zero, or nullopt if there is no section with this name.
  std::optional<std::string> text_of(const std::string& section);

 private:
  std::string bytes(std::uint64_t offset, std::uint64_t count);
  template <class Entry>
  std::vector<Entry> table(std::uint64_t offset, std::uint64_t count);
  void require(std::uint64_t offset, std::uint64_t count) const;

  std::ifstream file_;
  std::uint64_t size_ = 0;
  std::vector<Elf64_Shdr> sections_;
  std::string names_;
};

}  // namespace allocbench
