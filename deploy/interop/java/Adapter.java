// The line protocol of drivers/exec/README.md, for clients in Java: each logical client is a thread
// of its own, because that is what Java's lock libraries tell owners apart by.
import com.google.gson.Gson;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;

abstract class Adapter {
  // How a call ended; `token` 0 and `validMs` -1 where there are none.
  record Ending(String outcome, String why, long token, long validMs) {
    static final Ending NOT_OWNER = refused("not_owner");

    static Ending granted() { return new Ending("granted", null, 0, -1); }
    static Ending granted(long token, long validMs) {
      return new Ending("granted", null, token, validMs);
    }
    static Ending refused(String why) { return new Ending("refused", why, 0, -1); }
    static Ending doubt(String why) { return new Ending("doubt", why, 0, -1); }
  }

  record Call(String op, long id, int key, int client, long leaseMs, long waitMs, long graceMs,
              long received) {}

  static final class Server {
    String scheme;
    List<String> hosts;
    String user;
    String password;
    String path;
    boolean tls;
    boolean tls_verify;
    Map<String, String> nat;
  }

  static final class Hello {
    Server server;
    String lock;
    Map<String, String> options;
    String run;
    List<String> keys;
    String prefix;
    String instance;
    int clients;
    int session_ms;
    int within_ms;

    String option(String name, String preset) {
      String value = options.get(name);
      return value == null || value.isEmpty() ? preset : value;
    }
  }

  // One logical client; all its calls come from one thread.
  interface Client {
    Ending acquire(Call c) throws Exception;
    Ending release(Call c) throws Exception;
    default Ending renew(Call c) throws Exception {
      throw new UnsupportedOperationException("this lock cannot be renewed");
    }
  }

  protected Hello hello;
  protected List<String> names = new ArrayList<>();  // of the keys, as they are on the server

  // Connects, and returns the name and version of the library.
  abstract String connect() throws Exception;
  abstract Client client(int number);
  abstract void wipe() throws Exception;
  abstract void close() throws Exception;

  // Nothing but answers may go to the standard output, whatever a library prints.
  private final PrintStream out =
      new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
  private final List<LinkedBlockingQueue<Call>> queues = new ArrayList<>();

  final void run() throws Exception {
    System.setOut(System.err);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
    String first = in.readLine();
    if (first == null) return;
    hello = new Gson().fromJson(first, Hello.class);
    for (String key : hello.keys) names.add(hello.prefix + key);
    try {
      String version = connect();
      for (int n = 0; n < Math.max(1, hello.clients); ++n) start(n);
      say("{\"ready\":true,\"version\":" + new Gson().toJson(version) + "}");
    } catch (Exception e) {
      say("{\"failed\":" + new Gson().toJson(reason(e)) + "}");
    }
    for (String line = in.readLine(); line != null && read(line); line = in.readLine()) {}
    try {
      close();
    } catch (Exception e) {
      System.err.println("while closing: " + e);
    }
    Runtime.getRuntime().halt(0);
  }

  protected final void sayAlive(boolean alive) { say("{\"alive\":" + alive + "}"); }

  // False: the end.
  private boolean read(String line) {
    long received = System.nanoTime();
    JsonObject j = JsonParser.parseString(line).getAsJsonObject();
    String op = j.get("op").getAsString();
    if (op.equals("close")) return false;
    int client = j.get("client").getAsInt();
    queues.get(client).add(new Call(op, j.get("id").getAsLong(), j.get("key").getAsInt(), client,
                                    j.get("lease_ms").getAsLong(), j.get("wait_ms").getAsLong(),
                                    j.get("grace_ms").getAsLong(), received));
    return true;
  }

  private void start(int number) {
    LinkedBlockingQueue<Call> calls = new LinkedBlockingQueue<>();
    queues.add(calls);
    Client client = client(number);
    Thread thread = new Thread(() -> serve(client, calls), "client-" + number);
    thread.setDaemon(true);
    thread.start();
  }

  private void serve(Client client, LinkedBlockingQueue<Call> calls) {
    try {
      while (true) {
        Call c = calls.take();
        long began = System.nanoTime();
        Ending e = attempt(client, c);
        long ended = System.nanoTime();
        say(answer(c, e, began, ended));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Ending attempt(Client client, Call c) {
    try {
      switch (c.op) {
        case "acquire": return client.acquire(c);
        case "renew": return client.renew(c);
        case "release": return client.release(c);
        default: wipe(); return Ending.granted();
      }
    } catch (IllegalMonitorStateException e) {
      return Ending.NOT_OWNER;
    } catch (Exception e) {
      System.err.println(c.op + ": " + reason(e));
      return Ending.doubt("lost");
    }
  }

  private static String answer(Call c, Ending e, long began, long ended) {
    StringBuilder s = new StringBuilder(200);
    s.append("{\"id\":").append(c.id).append(",\"outcome\":\"").append(e.outcome).append('"');
    if (e.why != null) s.append(",\"why\":\"").append(e.why).append('"');
    if (e.token != 0) s.append(",\"token\":").append(e.token);
    if (e.validMs >= 0) s.append(",\"valid_ms\":").append(e.validMs);
    s.append(",\"received\":").append(c.received).append(",\"began\":").append(began);
    s.append(",\"ended\":").append(ended).append(",\"sent\":").append(System.nanoTime());
    return s.append('}').toString();
  }

  private void say(String line) {
    synchronized (out) {
      out.print(line + "\n");
      out.flush();
    }
  }

  private static String reason(Throwable e) {
    while (e.getCause() != null) e = e.getCause();
    return e.toString();
  }

  // What an artifact says of its version, or what its jar is called.
  static String versionOf(Class<?> c) {
    String said = c.getPackage().getImplementationVersion();
    if (said != null) return said;
    String jar = c.getProtectionDomain().getCodeSource().getLocation().getPath();
    return jar.replaceAll(".*-([0-9][^/]*)\\.jar$", "$1");
  }
}
