// The same code for the CUDA back end: a source file has one language in a build.
#include "workloads/graph/arrays_state.cpp"
#include "workloads/graph/row_reader.cpp"
