#include "workloads/common/page_screen_impl.hpp"
