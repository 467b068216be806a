// Cycles of Curator's InterProcessMutex per second, and their CPU: the other side of zookeeper.sh.
//
// One thread and one CuratorFramework (its own session) per client; each acquires and releases in a
// closed loop without pause, as lockmark's clients do. It records no latencies and checks nothing.
//
// java CuratorBench HOST:PORT CLIENTS
//
// Reads lines "one|own WARMUP_S WINDOW_S" (one key for all, or one each), and answers each with
// "CYCLES_PER_S CPU_US_PER_CYCLE" of that window. One JVM serves all windows, so that its compiler is
// done by the time it is measured; between windows it only keeps its sessions alive. Ends with its
// input.
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

public final class CuratorBench {
    private static final int SESSION_TIMEOUT_MS = 10_000;
    private static final int CONNECTION_TIMEOUT_MS = 5_000;
    private static final String ROOT = "/curator_bench";

    private static volatile boolean over;
    private static volatile Throwable failure;

    // Written by its own thread only, so that counting costs no contention.
    private static void cycle(InterProcessMutex mutex, AtomicLong cycles) {
        try {
            while (!over) {
                if (!mutex.acquire(10, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("an acquire was not granted within 10 s");
                }
                cycles.lazySet(cycles.getPlain() + 1);
                mutex.release();
            }
        } catch (Throwable t) {
            failure = t;
        }
    }

    private static List<CuratorFramework> connect(String server, int clients) throws Exception {
        List<CuratorFramework> sessions = new ArrayList<>();
        for (int i = 0; i < clients; ++i) {
            CuratorFramework session =
                    CuratorFrameworkFactory.newClient(
                            server, SESSION_TIMEOUT_MS, CONNECTION_TIMEOUT_MS, new RetryOneTime(100));
            session.start();
            sessions.add(session);
        }
        for (CuratorFramework session : sessions) {
            if (!session.blockUntilConnected(CONNECTION_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("no ZooKeeper answers at " + server);
            }
        }
        return sessions;
    }

    private static long sum(List<AtomicLong> counters) {
        return counters.stream().mapToLong(AtomicLong::get).sum();
    }

    private static String measure(
            List<CuratorFramework> sessions, boolean oneKey, double warmupS, double windowS)
            throws Exception {
        List<AtomicLong> counters = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        over = false;
        for (int i = 0; i < sessions.size(); ++i) {
            String key = ROOT + "/k" + (oneKey ? 0 : i);
            InterProcessMutex mutex = new InterProcessMutex(sessions.get(i), key);
            AtomicLong cycles = new AtomicLong();
            counters.add(cycles);
            threads.add(new Thread(() -> cycle(mutex, cycles)));
        }
        threads.forEach(Thread::start);
        OperatingSystemMXBean system =
                (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        Thread.sleep(Math.round(warmupS * 1000));
        long cyclesBefore = sum(counters);
        long cpuBefore = system.getProcessCpuTime();
        long start = System.nanoTime();
        Thread.sleep(Math.round(windowS * 1000));
        long cycles = sum(counters) - cyclesBefore;
        long cpuNs = system.getProcessCpuTime() - cpuBefore;
        double lengthS = (System.nanoTime() - start) / 1e9;
        over = true;
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure != null) {
            throw new IllegalStateException("a client failed", failure);
        }
        return String.format(
                Locale.ROOT, "%.1f %.3f", cycles / lengthS, cpuNs / 1e3 / Math.max(1, cycles));
    }

    public static void main(String[] args) throws Exception {
        List<CuratorFramework> sessions = connect(args[0], Integer.parseInt(args[1]));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            double warmupS = Double.parseDouble(words[1]);
            double windowS = Double.parseDouble(words[2]);
            System.out.println(measure(sessions, words[0].equals("one"), warmupS, windowS));
        }
        sessions.get(0).delete().deletingChildrenIfNeeded().forPath(ROOT);
        for (CuratorFramework session : sessions) {
            session.close();
        }
    }
}
