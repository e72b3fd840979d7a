// The shared object of a plug-in exports this function to the checking workers.
#pragma once

namespace allocbench::check {
class SubjectList;
}

// Plug-ins are compiled with hidden symbols.
extern "C" [[gnu::visibility("default")]] void allocbench_add_subjects(allocbench::check::SubjectList* subjects);
