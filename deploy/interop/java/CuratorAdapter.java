// Curator's lock recipes, newest and 5.4 alike.
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.KeeperException;

public final class CuratorAdapter extends Adapter {
  private CuratorFramework curator;
  private String kind;
  private String chroot;

  public static void main(String[] args) throws Exception { new CuratorAdapter().run(); }

  @Override
  String connect() throws Exception {
    kind = hello.option("kind", "mutex");
    chroot = hello.server.path;
    var builder = CuratorFrameworkFactory.builder()
        .connectString(String.join(",", hello.server.hosts))
        .sessionTimeoutMs(hello.session_ms > 0 ? hello.session_ms : 10_000)
        .connectionTimeoutMs(Math.max(1000, hello.within_ms))
        .retryPolicy(new ExponentialBackoffRetry(1000, 3));
    if (!hello.server.password.isEmpty()) {
      String login = hello.server.user + ":" + hello.server.password;
      builder.authorization("digest", login.getBytes("UTF-8"));
    }
    curator = builder.build();
    curator.getConnectionStateListenable().addListener((client, state) -> {
      // Curator's own rule: what is suspended is to be taken for lost.
      if (hello.clients > 0) sayAlive(state.isConnected());
    });
    curator.start();
    if (!curator.blockUntilConnected(Math.max(1000, hello.within_ms), TimeUnit.MILLISECONDS)) {
      throw new IllegalStateException("no session with " + hello.server.hosts);
    }
    return "Curator " + versionOf(InterProcessMutex.class) + ", " + kind;
  }

  private InterProcessLock lock(String path) {
    switch (kind) {
      case "semaphore_mutex": return new InterProcessSemaphoreMutex(curator, path);
      case "read": return new InterProcessReadWriteLock(curator, path).readLock();
      case "write": return new InterProcessReadWriteLock(curator, path).writeLock();
      case "downgraded": return new Downgraded(new InterProcessReadWriteLock(curator, path));
      default: return new InterProcessMutex(curator, path);
    }
  }

  @Override
  Client client(int number) {
    return kind.equals("semaphore") ? new SemaphoreClient() : new LockClient();
  }

  private final class LockClient implements Client {
    private final Map<Integer, InterProcessLock> locks = new HashMap<>();

    private InterProcessLock lockOf(Call c) {
      return locks.computeIfAbsent(c.key(), key -> lock(chroot + names.get(key)));
    }

    @Override
    public Ending acquire(Call c) throws Exception {
      boolean got = lockOf(c).acquire(c.waitMs(), TimeUnit.MILLISECONDS);
      return got ? Ending.granted() : Ending.refused("deadline");
    }

    @Override
    public Ending release(Call c) throws Exception {
      InterProcessLock lock = lockOf(c);
      if (!lock.isAcquiredInThisProcess()) return Ending.NOT_OWNER;
      lock.release();
      return Ending.granted();
    }
  }

  // The read lock of who had the write lock: it takes both, and gives up the write lock.
  private static final class Downgraded implements InterProcessLock {
    private final InterProcessLock reading;
    private final InterProcessLock writing;

    Downgraded(InterProcessReadWriteLock both) {
      reading = both.readLock();
      writing = both.writeLock();
    }

    @Override
    public boolean acquire(long time, TimeUnit unit) throws Exception {
      long end = System.nanoTime() + unit.toNanos(time);
      if (!writing.acquire(time, unit)) return false;
      try {
        return reading.acquire(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
      } finally {
        writing.release();
      }
    }

    @Override
    public void acquire() throws Exception { acquire(Long.MAX_VALUE / 2, TimeUnit.NANOSECONDS); }

    @Override
    public void release() throws Exception { reading.release(); }

    @Override
    public boolean isAcquiredInThisProcess() { return reading.isAcquiredInThisProcess(); }
  }

  private final class SemaphoreClient implements Client {
    private final Map<Integer, InterProcessSemaphoreV2> semaphores = new HashMap<>();
    private final Map<Integer, Lease> leases = new HashMap<>();

    @Override
    public Ending acquire(Call c) throws Exception {
      int permits = Integer.parseInt(hello.option("permits", "3"));
      var semaphore = semaphores.computeIfAbsent(
          c.key(), key -> new InterProcessSemaphoreV2(curator, chroot + names.get(key), permits));
      Lease lease = semaphore.acquire(c.waitMs(), TimeUnit.MILLISECONDS);
      if (lease == null) return Ending.refused("deadline");
      leases.put(c.key(), lease);
      return Ending.granted();
    }

    @Override
    public Ending release(Call c) {
      Lease lease = leases.remove(c.key());
      if (lease == null) return Ending.NOT_OWNER;
      semaphores.get(c.key()).returnLease(lease);
      return Ending.granted();
    }
  }

  @Override
  void wipe() throws Exception {
    String run = chroot + hello.prefix.substring(0, hello.prefix.length() - 1);
    try {
      curator.delete().guaranteed().deletingChildrenIfNeeded().forPath(run);
    } catch (KeeperException.NoNodeException e) {
      // nothing was left
    }
  }

  @Override
  void close() {
    if (curator != null) curator.close();
  }
}
