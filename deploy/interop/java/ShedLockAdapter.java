// ShedLock on a pool of connections as an application has one: of MySQL by its plain JDBC provider and
// this machine's clock, of PostgreSQL by Spring's JDBC template and the server's.
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TimeZone;
import javax.sql.DataSource;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbc.JdbcLockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.mariadb.jdbc.MariaDbPoolDataSource;
import org.springframework.jdbc.core.JdbcTemplate;

public final class ShedLockAdapter extends Adapter {
  private DataSource pool;
  private LockProvider provider;
  private String table;
  private boolean ours;  // the table is this run's alone

  public static void main(String[] args) throws Exception { new ShedLockAdapter().run(); }

  @Override
  String connect() throws Exception {
    ours = hello.option("table", "").isEmpty();
    boolean postgres = hello.server.scheme.startsWith("postgres");
    String suffix = postgres ? "_lease_row" : "_shedlock";
    table = hello.option("table", "lockmark_" + hello.run + suffix);
    String hosts = String.join(",", hello.server.hosts) + "/" + hello.server.path;
    if (postgres) {
      usePostgres(hosts);
    } else {
      useMySql(hosts);
    }
    return "ShedLock " + versionOf(JdbcLockProvider.class);
  }

  private void useMySql(String hosts) throws Exception {
    MariaDbPoolDataSource mariadb = new MariaDbPoolDataSource();
    mariadb.setUrl("jdbc:mariadb://" + hosts + "?minPoolSize=1&maxPoolSize="
        + Math.max(1, hello.clients) + "&connectTimeout=" + Math.max(500, hello.within_ms));
    mariadb.setUser(hello.server.user);
    mariadb.setPassword(hello.server.password);
    pool = mariadb;
    execute("CREATE TABLE IF NOT EXISTS " + table + "(name VARCHAR(64) NOT NULL PRIMARY KEY,"
        + " lock_until TIMESTAMP(3) NOT NULL,"
        + " locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),"
        + " locked_by VARCHAR(255) NOT NULL)");
    provider = new JdbcLockProvider(pool, table);
  }

  // ShedLock asks for the time in UTC, without saying so, and PostgreSQL reads that in the time zone
  // of its session, which is this program's. The column token is that of postgres/lease_row.
  private void usePostgres(String hosts) throws Exception {
    TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl("jdbc:postgresql://" + hosts + "?targetServerType=primary");
    config.setUsername(hello.server.user);
    config.setPassword(hello.server.password);
    config.setMinimumIdle(1);
    config.setMaximumPoolSize(Math.max(1, hello.clients));
    config.setConnectionTimeout(Math.max(500, hello.within_ms));
    pool = new HikariDataSource(config);
    execute("CREATE TABLE IF NOT EXISTS " + table + "(name text COLLATE \"C\" PRIMARY KEY,"
        + " lock_until timestamptz NOT NULL, locked_at timestamptz NOT NULL,"
        + " locked_by text NOT NULL, token bigint NOT NULL DEFAULT 0)");
    provider = new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
        .withJdbcTemplate(new JdbcTemplate(pool)).withTableName(table).usingDbTime().build());
  }

  private void execute(String statement) throws Exception {
    try (Connection c = pool.getConnection(); Statement s = c.createStatement()) {
      s.execute(statement);
    }
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
    if (ours) {
      execute("DROP TABLE IF EXISTS " + table);
      return;
    }
    try (Connection c = pool.getConnection();
         PreparedStatement s = c.prepareStatement("DELETE FROM " + table + " WHERE name=?")) {
      for (String name : names) {
        s.setString(1, name);
        s.execute();
      }
    }
  }

  @Override
  void close() throws Exception {
    if (pool instanceof AutoCloseable closing) closing.close();
  }
}
