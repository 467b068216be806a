// Redisson's locks. Newest and 3.52 alike: their API for locks is the same.
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
// NatMapper is in one of these packages in 3.52 and in the other in 4.
import org.redisson.api.*;
import org.redisson.config.*;
import org.redisson.misc.RedisURI;

public final class RedissonAdapter extends Adapter {
  private RedissonClient redisson;
  private String kind;

  public static void main(String[] args) throws Exception { new RedissonAdapter().run(); }

  @Override
  String connect() {
    kind = hello.option("kind", "lock");
    redisson = Redisson.create(config());
    redisson.getBucket(names.isEmpty() ? "lockmark" : names.get(0)).isExists();
    return "Redisson " + versionOf(Redisson.class) + ", " + kind;
  }

  private Config config() {
    Config config = new Config();
    Server s = hello.server;
    String scheme = s.tls ? "rediss://" : "redis://";
    List<String> addresses = new ArrayList<>();
    for (String host : s.hosts) addresses.add(scheme + host);
    if (s.scheme.endsWith("+cluster")) {
      ClusterServersConfig cluster = config.useClusterServers();
      for (String address : addresses) cluster.addNodeAddress(address);
      cluster.setNatMapper(nat());
      login(cluster);
    } else if (s.scheme.endsWith("+sentinel")) {
      SentinelServersConfig sentinel = config.useSentinelServers().setMasterName(s.path);
      for (String address : addresses) sentinel.addSentinelAddress(address);
      sentinel.setCheckSentinelsList(addresses.size() > 1);
      sentinel.setNatMapper(nat());
      login(sentinel);
    } else {
      var single = config.useSingleServer().setAddress(addresses.get(0));
      if (!s.path.isEmpty()) single.setDatabase(Integer.parseInt(s.path));
      login(single);
    }
    return config;
  }

  private void login(BaseConfig<?> c) {
    if (!hello.server.user.isEmpty()) c.setUsername(hello.server.user);
    if (!hello.server.password.isEmpty()) c.setPassword(hello.server.password);
  }

  private NatMapper nat() {
    Map<String, String> reached = hello.server.nat;
    return uri -> {
      String at = reached.get(uri.getHost() + ":" + uri.getPort());
      return at == null ? uri : new RedisURI(uri.getScheme() + "://" + at);
    };
  }

  private RLock lock(String name) {
    switch (kind) {
      case "fair": return redisson.getFairLock(name);
      case "spin": return redisson.getSpinLock(name);
      case "read": return redisson.getReadWriteLock(name).readLock();
      case "write": return redisson.getReadWriteLock(name).writeLock();
      case "fenced": return redisson.getFencedLock(name);
      case "multi": return multi(name);
      default: return redisson.getLock(name);
    }
  }

  private RLock multi(String name) {
    List<RLock> locks = new ArrayList<>();
    for (String part : parts(name)) locks.add(redisson.getLock(part));
    return redisson.getMultiLock(locks.toArray(new RLock[0]));
  }

  // As lockmark's own redis/redisson_multi calls them.
  private List<String> parts(String name) {
    List<String> all = new ArrayList<>();
    int count = Integer.parseInt(hello.option("parts", "3"));
    for (int n = 1; n <= count; ++n) all.add(name + ":" + n);
    return all;
  }

  @Override
  Client client(int number) {
    Map<Integer, RLock> locks = new HashMap<>();
    return new Client() {
      private RLock lockOf(Call c) {
        return locks.computeIfAbsent(c.key(), key -> lock(names.get(key)));
      }

      @Override
      public Ending acquire(Call c) throws Exception {
        RLock lock = lockOf(c);
        if (lock instanceof RFencedLock fenced) {
          Long token = fenced.tryLockAndGetToken(c.waitMs(), c.leaseMs(), TimeUnit.MILLISECONDS);
          return token == null ? Ending.refused("deadline") : Ending.granted(token, c.leaseMs());
        }
        boolean got = lock.tryLock(c.waitMs(), c.leaseMs(), TimeUnit.MILLISECONDS);
        return got ? Ending.granted(0, c.leaseMs()) : Ending.refused("deadline");
      }

      @Override
      public Ending release(Call c) {
        lockOf(c).unlock();
        return Ending.granted();
      }
    };
  }

  // By name, without a look at anybody else's keys. What has other names (latches, the timeouts of
  // readers) ends by itself with its lease.
  @Override
  void wipe() {
    List<String> all = new ArrayList<>();
    for (String name : names) {
      List<String> locks = new ArrayList<>(parts(name));
      locks.add(name);
      for (String lock : locks) {
        String tagged = lock.contains("{") ? lock : "{" + lock + "}";
        all.add(lock);
        all.add("redisson_lock_queue:" + tagged);
        all.add("redisson_lock_timeout:" + tagged);
        all.add("redisson_lock_token:" + tagged);
      }
    }
    for (int from = 0; from < all.size(); from += 1000) {
      List<String> batch = all.subList(from, Math.min(all.size(), from + 1000));
      redisson.getKeys().delete(batch.toArray(new String[0]));
    }
  }

  @Override
  void close() {
    if (redisson != null) redisson.shutdown(0, 500, TimeUnit.MILLISECONDS);
  }
}
