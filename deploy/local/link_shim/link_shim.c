/* Sends one process's connections another way: preloaded, it makes connect() to a port of loopback
 * (IPv4) go to the port that $LOCKMARK_WAYS names for it, "2888>40001,3888>40002".
 *
 * So a proxy stands between two servers although they tell each other their real addresses, as
 * ZooKeepers do in the first message of an election, and Redis does all the time. What a server
 * listens on, writes and says stays as it is.
 *
 * A proxy takes a connection before it knows whether the server does. So that is looked up first:
 * where nobody listens, the connection is refused, as it would be without a proxy. Otherwise a
 * ZooKeeper that is quicker than the leader it has just elected would believe that it was thrown
 * out, and elect again, while the leader waits for it until initLimit is over.
 *
 * Who was reached tells getpeername() the port of the proxy. Allocates nothing and looks no symbol
 * up, because a server may call it before its allocator is ready.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { most_ways = 256 };
/* Both ports in the order of the network. */
static struct { in_port_t to, by; } ways[most_ways];
static int count;

__attribute__((constructor)) static void read_ways(void) {
  const char* at = getenv("LOCKMARK_WAYS");
  while (at != NULL && count < most_ways) {
    char* end;
    const unsigned long to = strtoul(at, &end, 10);
    if (*end != '>') return;
    const unsigned long by = strtoul(end + 1, &end, 10);
    ways[count].to = htons((in_port_t)to);
    ways[count].by = htons((in_port_t)by);
    ++count;
    at = *end == ',' ? end + 1 : NULL;
  }
}

/* "0: 0100007F:0B48 00000000:0000 0A ...": number, own address, the other one's, state. */
static int is_listener(const char* line, in_port_t port) {
  enum { listening = 0x0A };
  char* rest;
  const char* at = strchr(line, ':');
  if (at == NULL || (at = strchr(at + 1, ':')) == NULL) return 0;
  const unsigned long own = strtoul(at + 1, &rest, 16);
  if (own != ntohs(port) || (at = strchr(rest, ':')) == NULL) return 0;
  strtoul(at + 1, &rest, 16);
  return strtoul(rest, NULL, 16) == listening;
}

/* Of /proc/net/tcp or tcp6. What cannot be read is no reason to refuse. */
static int has_listener(const char* path, in_port_t port, int if_unknown) {
  enum { longest_line = 256 };
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return if_unknown;
  char room[4096], line[longest_line];
  size_t length = 0;
  int found = 0;
  ssize_t size;
  while (!found && (size = read(file, room, sizeof room)) > 0) {
    for (ssize_t i = 0; i < size && !found; ++i) {
      if (room[i] != '\n') {
        if (length < sizeof line - 1) line[length++] = room[i];
        continue;
      }
      line[length] = '\0';
      length = 0;
      found = is_listener(line, port);
    }
  }
  close(file);
  return found;
}

static int is_listened_to(in_port_t port) {
  return has_listener("/proc/net/tcp", port, 1) || has_listener("/proc/net/tcp6", port, 0);
}

int connect(int socket, const struct sockaddr* address, socklen_t size) {
  struct sockaddr_in other;
  if (address->sa_family != AF_INET || size < sizeof other) {
    return (int)syscall(SYS_connect, socket, address, size);
  }
  memcpy(&other, address, sizeof other);
  const int is_loopback = ntohl(other.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  for (int i = 0; is_loopback && i < count; ++i) {
    if (ways[i].to != other.sin_port) continue;
    if (!is_listened_to(other.sin_port)) {
      errno = ECONNREFUSED;
      return -1;
    }
    other.sin_port = ways[i].by;
    break;
  }
  return (int)syscall(SYS_connect, socket, &other, sizeof other);
}
