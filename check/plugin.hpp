// A plug-in exports this function. Checking workers call it to get the plug-in's subjects (subject.hpp).
#pragma once

namespace allocbench::check {
class SubjectList;
}

// This attribute exports the function, because plug-ins are compiled with hidden symbols.
extern "C" [[gnu::visibility("default")]] void allocbench_add_subjects(allocbench::check::SubjectList* subjects);
