#include "harness/plugins/elf_file.hpp"

#include <cerrno>
#include <cstring>

namespace allocbench {

ElfFile::ElfFile(const std::filesystem::path& path) : file_(path, std::ios::binary | std::ios::ate) {
  if (!file_) throw DamagedFile(std::string("it cannot be read: ") + std::strerror(errno));
  size_ = static_cast<std::uint64_t>(file_.tellg());
  if (size_ < sizeof(Elf64_Ehdr) || bytes(0, SELFMAG) != ELFMAG) throw DamagedFile("it is not a shared object");
  const Elf64_Ehdr header = table<Elf64_Ehdr>(0, 1).front();
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN) {
    throw DamagedFile("it is not a shared object of this machine");
  }
  // Linkers write the table of sections last, so a file that was cut has no complete table.
  sections_ = table<Elf64_Shdr>(header.e_shoff, header.e_shnum);
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type != SHT_NOBITS) require(section.sh_offset, section.sh_size);
  }
  for (const Elf64_Phdr& segment : table<Elf64_Phdr>(header.e_phoff, header.e_phnum)) {
    require(segment.p_offset, segment.p_filesz);
  }
  if (header.e_shstrndx >= sections_.size()) throw DamagedFile("its sections have no names");
  const Elf64_Shdr& names = sections_[header.e_shstrndx];
  names_ = bytes(names.sh_offset, names.sh_size);
}

std::optional<std::string> ElfFile::text_of(const std::string& section) {
  for (const Elf64_Shdr& each : sections_) {
    if (each.sh_name >= names_.size() || names_.c_str() + each.sh_name != section) continue;
    const std::string text = bytes(each.sh_offset, each.sh_size);
    return text.substr(0, text.find('\0'));
  }
  return std::nullopt;
}

void ElfFile::require(std::uint64_t offset, std::uint64_t count) const {
  if (offset <= size_ && count <= size_ - offset) return;
  throw DamagedFile("it is damaged: it has " + std::to_string(size_) + " bytes, but a part of " +
                    std::to_string(count) + " bytes should begin at byte " + std::to_string(offset));
}

std::string ElfFile::bytes(std::uint64_t offset, std::uint64_t count) {
  require(offset, count);
  std::string result(count, '\0');
  file_.seekg(static_cast<std::streamoff>(offset));
  if (!file_.read(result.data(), static_cast<std::streamsize>(count))) {
    throw DamagedFile(std::string("it cannot be read: ") + std::strerror(errno));
  }
  return result;
}

template <class Entry>
std::vector<Entry> ElfFile::table(std::uint64_t offset, std::uint64_t count) {
  const std::string raw = bytes(offset, count * sizeof(Entry));
  std::vector<Entry> entries(count);
  std::memcpy(entries.data(), raw.data(), raw.size());
  return entries;
}

}  // namespace allocbench
