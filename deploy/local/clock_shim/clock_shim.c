/* Moves the wall clock of one process: preloaded, it adds to the time that clock_gettime,
 * gettimeofday and time tell an amount that it reads from memory which it shares with whoever
 * writes the file $LOCKMARK_CLOCK_FILE: one int64_t of nanoseconds.
 *
 * The monotonic clocks stay true, and so does the kernel: what waits until a wall time (not Redis,
 * not ZooKeeper; MariaDB's timed waits do) waits for the host's.
 *
 * Allocates nothing and looks no symbol up, because it is called before the allocator of a server
 * is ready (Debian's Redis has jemalloc). The price is a system call for each look at a clock.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t *ahead_ns;

__attribute__((constructor)) static void find_file(void) {
  const char *path = getenv("LOCKMARK_CLOCK_FILE");
  if (path == NULL) return;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void *shared = mmap(NULL, sizeof *ahead_ns, PROT_READ, MAP_SHARED, file, 0);
  if (shared != MAP_FAILED) ahead_ns = shared;
  close(file);
}

int clock_gettime(clockid_t which, struct timespec *told) {
  const long error = syscall(SYS_clock_gettime, which, told);
  if (error != 0) return -1;
  if ((which != CLOCK_REALTIME && which != CLOCK_REALTIME_COARSE) || ahead_ns == NULL) return 0;
  const int64_t second = 1000000000;
  const int64_t ahead = __atomic_load_n(ahead_ns, __ATOMIC_RELAXED);
  int64_t ns = told->tv_nsec + ahead % second;
  told->tv_sec += ahead / second;
  if (ns < 0) {
    ns += second;
    told->tv_sec -= 1;
  } else if (ns >= second) {
    ns -= second;
    told->tv_sec += 1;
  }
  told->tv_nsec = ns;
  return 0;
}

int gettimeofday(struct timeval *restrict told, void *restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  told->tv_sec = now.tv_sec;
  told->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *told) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return (time_t)-1;
  if (told != NULL) *told = now.tv_sec;
  return now.tv_sec;
}
