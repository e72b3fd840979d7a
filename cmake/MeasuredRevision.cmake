# Writes the sources that are measured, as protocol/sources.cpp reads them: the commit, a hash of these sources, and
# whether they differ from the commit. Measured is what a worker runs: allocators, workloads, executor, worker, their
# inputs, and the files that build them. Results have their config and the commit of the front end beside the hash.
# Comments do not count, so an edit of a text does not change the hash. Without git the hash is the same.

set(measured_folders allocators cmake data harness/plugins harness/worker peers protocol simt traces workloads)
set(measured_files CMakeLists.txt CMakePresets.json)
set(texts "\\.md$|(^|/)\\.gitignore$")

set(places ${measured_folders} ${measured_files})
execute_process(
  COMMAND git -C "${SOURCE}" -c core.quotePath=false ls-files --cached --others --exclude-standard -- ${places}
  OUTPUT_VARIABLE listed RESULT_VARIABLE without_git OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(without_git)
  set(paths ${measured_files})
  foreach(folder IN LISTS measured_folders)
    file(GLOB_RECURSE found LIST_DIRECTORIES FALSE RELATIVE "${SOURCE}" "${SOURCE}/${folder}/*")
    list(APPEND paths ${found})
  endforeach()
  list(FILTER paths EXCLUDE REGEX "(^|/)(__pycache__|checkouts)/|\\.pyc$")
  set(commit "unknown")
  set(dirty "unknown")
else()
  string(REPLACE "\n" ";" paths "${listed}")
  execute_process(
    COMMAND git -C "${SOURCE}" describe --always --tags
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(
    COMMAND git -C "${SOURCE}" status --porcelain --untracked-files=all -- ${places}
    OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(dirty "false")
  if(changes)
    set(dirty "true")
  endif()
  if(NOT commit)
    set(commit "unknown")
  endif()
endif()

# Removes comments that fill a line, comments behind code, and empty lines. A comment with a quotation mark behind code
# stays, because it could be a part of a string.
function(without_comments text result)
  string(REGEX REPLACE "\n[ \t]*//[^\n]*" "" text "\n${text}")
  string(REGEX REPLACE "[ \t]+// [^\"\n]*\n" "\n" text "${text}\n")
  string(REGEX REPLACE "(\n[ \t]*)+\n" "\n" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

list(FILTER paths EXCLUDE REGEX "${texts}")
list(REMOVE_DUPLICATES paths)
list(SORT paths)
set(digests "")
foreach(path IN LISTS paths)
  if(EXISTS "${SOURCE}/${path}" AND NOT IS_DIRECTORY "${SOURCE}/${path}")  # a deleted file is still in git's index
    if(path MATCHES "\\.(hpp|cpp|cu)(\\.in)?$")
      file(READ "${SOURCE}/${path}" text)
      without_comments("${text}" text)
      string(SHA256 digest "${text}")
    else()
      file(SHA256 "${SOURCE}/${path}" digest)
    endif()
    string(APPEND digests "${digest} ${path}\n")
  endif()
endforeach()
string(SHA256 measured "${digests}")
string(SUBSTRING "${measured}" 0 12 measured)

# The text is as long as the section of the programs. The file is only written if the text changed.
set(bytes 256)
string(SUBSTRING "${commit}" 0 200 commit)
set(text "${commit}\n${measured}\n${dirty}\n")
string(LENGTH "${text}" length)
math(EXPR missing "${bytes} - ${length}")
string(REPEAT "\n" ${missing} padding)
string(APPEND text "${padding}")
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[@text@]] @ONLY)
