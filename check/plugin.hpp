// Every plug-in for checking exports the function below. Checking workers call the function to get the plug-in's
// subjects, its allocators (subject.hpp).
#pragma once

namespace allocbench::check {
class SubjectList;
}

// This attribute exports the function, because plug-ins are compiled with hidden symbols.
extern "C" [[gnu::visibility("default")]] void allocbench_add_subjects(allocbench::check::SubjectList* subjects);
