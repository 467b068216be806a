// ShedLock's JDBC provider, on a pool of connections as an application has one.
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbc.JdbcLockProvider;
import org.mariadb.jdbc.MariaDbPoolDataSource;

public final class ShedLockAdapter extends Adapter {
  private MariaDbPoolDataSource pool;
  private JdbcLockProvider provider;
  private String table;
  private boolean ours;  // the table is this run's alone

  public static void main(String[] args) throws Exception { new ShedLockAdapter().run(); }

  @Override
  String connect() throws Exception {
    ours = hello.option("table", "").isEmpty();
    table = hello.option("table", "lockmark_" + hello.run + "_shedlock");
    pool = new MariaDbPoolDataSource();
    pool.setUrl("jdbc:mariadb://" + String.join(",", hello.server.hosts) + "/" + hello.server.path
        + "?minPoolSize=1&maxPoolSize=" + Math.max(1, hello.clients)
        + "&connectTimeout=" + Math.max(500, hello.within_ms));
    pool.setUser(hello.server.user);
    pool.setPassword(hello.server.password);
    try (Connection c = pool.getConnection(); Statement s = c.createStatement()) {
      s.execute("CREATE TABLE IF NOT EXISTS " + table + "(name VARCHAR(64) NOT NULL PRIMARY KEY,"
          + " lock_until TIMESTAMP(3) NOT NULL,"
          + " locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),"
          + " locked_by VARCHAR(255) NOT NULL)");
    }
    provider = new JdbcLockProvider(pool, table);
    return "ShedLock " + versionOf(JdbcLockProvider.class);
  }

  @Override
  Client client(int number) {
    Map<Integer, SimpleLock> held = new HashMap<>();
    return new Client() {
      @Override
      public Ending acquire(Call c) {
        Optional<SimpleLock> got = provider.lock(new LockConfiguration(
            Instant.now(), names.get(c.key()), Duration.ofMillis(c.leaseMs()), Duration.ZERO));
        if (got.isEmpty()) return Ending.refused("busy");
        held.put(c.key(), got.get());
        return Ending.granted(0, c.leaseMs());
      }

      @Override
      public Ending renew(Call c) {
        SimpleLock lock = held.remove(c.key());
        if (lock == null) return Ending.NOT_OWNER;
        Optional<SimpleLock> more = lock.extend(Duration.ofMillis(c.leaseMs()), Duration.ZERO);
        if (more.isEmpty()) return Ending.NOT_OWNER;
        held.put(c.key(), more.get());
        return Ending.granted(0, c.leaseMs());
      }

      @Override
      public Ending release(Call c) {
        SimpleLock lock = held.remove(c.key());
        if (lock == null) return Ending.NOT_OWNER;
        lock.unlock();
        return Ending.granted();
      }
    };
  }

  @Override
  void wipe() throws Exception {
    try (Connection c = pool.getConnection()) {
      if (ours) {
        try (Statement s = c.createStatement()) {
          s.execute("DROP TABLE IF EXISTS " + table);
        }
        return;
      }
      try (PreparedStatement s = c.prepareStatement("DELETE FROM " + table + " WHERE name=?")) {
        for (String name : names) {
          s.setString(1, name);
          s.execute();
        }
      }
    }
  }

  @Override
  void close() throws Exception {
    if (pool != null) pool.close();
  }
}
