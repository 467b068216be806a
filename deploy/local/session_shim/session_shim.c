/* Keeps a server's processes in the session of its owner: preloaded, it makes setsid() begin a group
 * of processes, which is what a server wants of it, and no session.
 *
 * PostgreSQL begins a session for each connection. Linux shares the processor between sessions
 * (sched_autogroup), and beside a build of this project some connections did not run for seconds.
 */
#include <unistd.h>

pid_t setsid(void) {
  return setpgid(0, 0) == 0 ? getpid() : -1;
}
