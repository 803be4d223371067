// A disk that needs 4 ms longer to store something.
// cc -shared -fPIC -o slow-sync.so slow-sync.c -ldl; LD_PRELOAD=slow-sync.so node ...
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

static int slowly(const char *name, int file) {
  struct timespec left = {0, 4000000};
  while (nanosleep(&left, &left) != 0) {
  }
  return ((int (*)(int))dlsym(RTLD_NEXT, name))(file);
}

int fsync(int file) { return slowly("fsync", file); }

int fdatasync(int file) { return slowly("fdatasync", file); }
