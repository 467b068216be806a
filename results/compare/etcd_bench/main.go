// The Go client's concurrency.Mutex for etcd.sh: ADDRESS CLIENTS. Each client has a session of its
// own, all of them one connection, as programs that use the package do. Reads lines "one|own
// WARMUP_S SECONDS" and answers each with "CYCLES_PER_SECOND CPU_US_PER_CYCLE" of this process over
// the measured window.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func cpu() time.Duration {
	var r syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// cycles locks and unlocks until told to stop, and counts.
func cycles(s *concurrency.Session, key string, stop *atomic.Bool, done *atomic.Int64) {
	m := concurrency.NewMutex(s, key)
	for !stop.Load() {
		must(m.Lock(context.Background()))
		must(m.Unlock(context.Background()))
		done.Add(1)
	}
}

func measure(sessions []*concurrency.Session, keys string, warmup, window time.Duration) {
	var stop atomic.Bool
	var done atomic.Int64
	var all sync.WaitGroup
	run := time.Now().UnixNano()
	for i, s := range sessions {
		key := fmt.Sprintf("compare/%d/0", run)
		if keys == "own" {
			key = fmt.Sprintf("compare/%d/%d", run, i)
		}
		all.Add(1)
		go func(s *concurrency.Session) {
			defer all.Done()
			cycles(s, key, &stop, &done)
		}(s)
	}
	time.Sleep(warmup)
	count, used, began := done.Load(), cpu(), time.Now()
	time.Sleep(window)
	count, used = done.Load()-count, cpu()-used
	took := time.Since(began)
	stop.Store(true)
	all.Wait()
	fmt.Printf("%.2f %.2f\n", float64(count)/took.Seconds(), used.Seconds()*1e6/float64(count))
}

func main() {
	clients, err := strconv.Atoi(os.Args[2])
	must(err)
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{os.Args[1]}, DialTimeout: 5 * time.Second})
	must(err)
	var sessions []*concurrency.Session
	for i := 0; i < clients; i++ {
		s, err := concurrency.NewSession(client, concurrency.WithTTL(10))
		must(err)
		sessions = append(sessions, s)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var keys string
		var warmup, window int
		_, err := fmt.Sscan(lines.Text(), &keys, &warmup, &window)
		must(err)
		measure(sessions, keys, time.Duration(warmup)*time.Second, time.Duration(window)*time.Second)
	}
	for _, s := range sessions {
		must(s.Close())
	}
}
