extern "C" int nobody_has_this_function();
extern "C" int plugin_file_answer() { return nobody_has_this_function(); }
