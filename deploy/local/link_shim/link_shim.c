/* Sends one process's connections another way: preloaded, it makes connect() to a port of loopback
 * (IPv4) go to the port that $LOCKMARK_WAYS names for it, "2888>40001,3888>40002".
 *
 * So a proxy stands between two servers although they tell each other their real addresses, as
 * ZooKeepers do in the first message of an election, and Redis does all the time. What a server
 * listens on, writes and says stays as it is.
 *
 * Who was reached tells getpeername() the port of the proxy. Allocates nothing and looks no symbol
 * up, because a server may call it before its allocator is ready.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { most_ways = 256 };
static struct {
  in_port_t to, by; /* in the order of the network */
} ways[most_ways];
static int count;

__attribute__((constructor)) static void read_ways(void) {
  const char *at = getenv("LOCKMARK_WAYS");
  while (at != NULL && count < most_ways) {
    char *end;
    const unsigned long to = strtoul(at, &end, 10);
    if (*end != '>') return;
    const unsigned long by = strtoul(end + 1, &end, 10);
    ways[count].to = htons((in_port_t)to);
    ways[count].by = htons((in_port_t)by);
    ++count;
    at = *end == ',' ? end + 1 : NULL;
  }
}

int connect(int socket, const struct sockaddr *address, socklen_t size) {
  struct sockaddr_in other;
  if (address->sa_family != AF_INET || size < sizeof other) {
    return (int)syscall(SYS_connect, socket, address, size);
  }
  memcpy(&other, address, sizeof other);
  const int is_loopback = ntohl(other.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  for (int i = 0; is_loopback && i < count; ++i) {
    if (ways[i].to != other.sin_port) continue;
    other.sin_port = ways[i].by;
    break;
  }
  return (int)syscall(SYS_connect, socket, &other, sizeof other);
}
