// Sections of an ELF file by name, read without running anything of it.
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

// Why a file cannot be read, in words that follow its name.
class DamagedFile : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ElfFile {
 public:
  // Throws DamagedFile when it is not a shared object of this machine, or shorter than its own headers say.
  explicit ElfFile(const std::filesystem::path& path);

  // The bytes of a section up to the first zero; nullopt when there is no section of this name.
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
