# Writes the sources that are measured, as protocol/sources.cpp reads them: the commit, a hash of all files except
# results/ and docs/, and whether these files differ from the commit. A commit of results or pages does not change the
# hash. Without git the hash is the same, over all files of the tree.

set(not_measured "^(results|docs)/")

execute_process(
  COMMAND git -C "${SOURCE}" -c core.quotePath=false ls-files --cached --others --exclude-standard
  OUTPUT_VARIABLE listed RESULT_VARIABLE without_git OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(without_git)
  file(GLOB_RECURSE paths LIST_DIRECTORIES FALSE RELATIVE "${SOURCE}" "${SOURCE}/*" "${SOURCE}/.*")
  file(RELATIVE_PATH build_folder "${SOURCE}" "${BINARY}")
  list(FILTER paths EXCLUDE REGEX "^${build_folder}/|^\\.git/|(^|/)(__pycache__|\\.pytest_cache|\\.cache)/|\\.pyc$|^compile_commands.json$")
  set(commit "unknown")
  set(dirty "unknown")
else()
  string(REPLACE "\n" ";" paths "${listed}")
  execute_process(
    COMMAND git -C "${SOURCE}" describe --always --tags
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(
    COMMAND git -C "${SOURCE}" status --porcelain --untracked-files=all -- . ":(exclude)results" ":(exclude)docs"
    OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(dirty "false")
  if(changes)
    set(dirty "true")
  endif()
  if(NOT commit)
    set(commit "unknown")
  endif()
endif()

list(FILTER paths EXCLUDE REGEX "${not_measured}")
list(REMOVE_DUPLICATES paths)
list(SORT paths)
set(digests "")
foreach(path IN LISTS paths)
  if(EXISTS "${SOURCE}/${path}" AND NOT IS_DIRECTORY "${SOURCE}/${path}")  # a deleted file is still in git's index
    file(SHA256 "${SOURCE}/${path}" digest)
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
