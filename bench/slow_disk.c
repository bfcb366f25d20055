/* Loaded before a server (LD_PRELOAD), this makes its disk slower: every synchronisation takes
 * SYNC_US microseconds more. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void wait_more(void) {
  const char *text = getenv("SYNC_US");
  long us = text ? atol(text) : 2000;
  struct timespec pause = {us / 1000000, (us % 1000000) * 1000};
  nanosleep(&pause, 0);
}

int fsync(int file) {
  static int (*real)(int);
  if (!real) real = dlsym(RTLD_NEXT, "fsync");
  wait_more();
  return real(file);
}

int fdatasync(int file) {
  static int (*real)(int);
  if (!real) real = dlsym(RTLD_NEXT, "fdatasync");
  wait_more();
  return real(file);
}
