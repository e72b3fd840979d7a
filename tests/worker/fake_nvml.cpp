// This library replaces libnvidia-ml.so.1. It has a GPU whose temperature query returns the code in FAKE_NVML_RESULT.
#include <cstdlib>

extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void**) { return 0; }
int nvmlDeviceGetClockInfo(void*, int, unsigned*) { return 0; }
int nvmlDeviceGetMaxClockInfo(void*, int, unsigned*) { return 0; }
int nvmlDeviceGetTemperature(void*, int, unsigned*) { return std::atoi(std::getenv("FAKE_NVML_RESULT")); }
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long*) { return 0; }
int nvmlSystemGetDriverVersion(char*, unsigned) { return 0; }
}
