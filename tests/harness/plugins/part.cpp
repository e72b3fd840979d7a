extern "C" int plugin_file_answer() { return 42; }
