// redsync behind the line protocol of drivers/exec/README.md. It tries once a call: how to try
// again is the workload's affair.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

type hello struct {
	Server struct {
		Hosts     []string `json:"hosts"`
		User      string   `json:"user"`
		Password  string   `json:"password"`
		Path      string   `json:"path"`
		TLS       bool     `json:"tls"`
		TLSVerify bool     `json:"tls_verify"`
	} `json:"server"`
	Keys     []string `json:"keys"`
	Prefix   string   `json:"prefix"`
	Clients  int      `json:"clients"`
	WithinMs int      `json:"within_ms"`
}

type call struct {
	Op       string `json:"op"`
	ID       uint64 `json:"id"`
	Key      int    `json:"key"`
	Client   int    `json:"client"`
	LeaseMs  int64  `json:"lease_ms"`
	WaitMs   int64  `json:"wait_ms"`
	GraceMs  int64  `json:"grace_ms"`
	received int64
}

type answer struct {
	ID       uint64 `json:"id"`
	Outcome  string `json:"outcome"`
	Why      string `json:"why,omitempty"`
	ValidMs  *int64 `json:"valid_ms,omitempty"`
	Received int64  `json:"received"`
	Began    int64  `json:"began"`
	Ended    int64  `json:"ended"`
	Sent     int64  `json:"sent"`
}

var (
	greeting hello
	names    []string
	nodes    []*redis.Client
	sync_    *redsync.Redsync
	writing  sync.Mutex
)

// CLOCK_MONOTONIC, as a number; package time keeps it to itself.
func now() int64 {
	var t syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

func say(message any) {
	line, _ := json.Marshal(message)
	writing.Lock()
	defer writing.Unlock()
	os.Stdout.Write(append(line, '\n'))
}

func connect() error {
	s := greeting.Server
	db, _ := strconv.Atoi(s.Path)
	var pools []redsyncredis.Pool
	for _, address := range s.Hosts {
		options := &redis.Options{Addr: address, Username: s.User, Password: s.Password, DB: db,
			PoolSize: greeting.Clients + 1}
		if s.TLS {
			options.TLSConfig = &tls.Config{InsecureSkipVerify: !s.TLSVerify}
		}
		node := redis.NewClient(options)
		nodes = append(nodes, node)
		pools = append(pools, goredis.NewPool(node))
	}
	sync_ = redsync.New(pools...)
	within := time.Duration(greeting.WithinMs) * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	failures := make(chan error, len(nodes))
	for _, node := range nodes {
		go func(n *redis.Client) { failures <- n.Ping(ctx).Err() }(node)
	}
	answered := 0
	var last error
	for range nodes {
		if err := <-failures; err == nil {
			answered++
		} else {
			last = err
		}
	}
	if answered < len(nodes)/2+1 {
		return fmt.Errorf("%d of %d nodes answer: %w", answered, len(nodes), last)
	}
	return nil
}

func granted(m *redsync.Mutex) answer {
	left := time.Until(m.Until()).Milliseconds()
	if left < 0 {
		left = 0
	}
	return answer{Outcome: "granted", ValidMs: &left}
}

// What a failed call means: somebody else's lock, or not known.
func refusedOrDoubt(err error, why string) answer {
	var taken *redsync.ErrTaken
	if err == nil || errors.As(err, &taken) || errors.Is(err, redsync.ErrFailed) ||
		errors.Is(err, redsync.ErrLockAlreadyExpired) || errors.Is(err, redsync.ErrExtendFailed) {
		return answer{Outcome: "refused", Why: why}
	}
	fmt.Fprintln(os.Stderr, err)
	return answer{Outcome: "doubt", Why: "lost"}
}

type client struct {
	held map[int]*redsync.Mutex
}

func (c *client) do(r call) answer {
	limit := time.Duration(r.WaitMs+r.GraceMs+1) * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	switch r.Op {
	case "acquire":
		lease := time.Duration(r.LeaseMs) * time.Millisecond
		m := sync_.NewMutex(names[r.Key], redsync.WithExpiry(lease), redsync.WithTries(1))
		if err := m.LockContext(ctx); err != nil {
			return refusedOrDoubt(err, "busy")
		}
		c.held[r.Key] = m
		return granted(m)
	case "wipe":
		for _, node := range nodes {
			for _, name := range names {
				if err := node.Del(ctx, name).Err(); err != nil {
					return answer{Outcome: "doubt", Why: "lost"}
				}
			}
		}
		return answer{Outcome: "granted"}
	}
	m, is := c.held[r.Key]
	if !is {
		return answer{Outcome: "refused", Why: "not_owner"}
	}
	if r.Op == "renew" {
		if ok, err := m.ExtendContext(ctx); !ok {
			return refusedOrDoubt(err, "not_owner")
		}
		return granted(m)
	}
	delete(c.held, r.Key)
	if ok, err := m.UnlockContext(ctx); !ok {
		return refusedOrDoubt(err, "not_owner")
	}
	return answer{Outcome: "granted"}
}

func (c *client) serve(calls chan call) {
	for r := range calls {
		began := now()
		a := c.do(r)
		a.ID, a.Received, a.Began, a.Ended, a.Sent = r.ID, r.received, began, now(), now()
		say(a)
	}
}

func version() string {
	text := "redsync"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/go-redsync/redsync/v4" {
				text += " " + m.Version
			}
			if m.Path == "github.com/redis/go-redis/v9" {
				text += ", go-redis " + m.Version
			}
		}
	}
	return text
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	first, err := in.ReadBytes('\n')
	if err != nil || json.Unmarshal(first, &greeting) != nil {
		os.Exit(1)
	}
	for _, key := range greeting.Keys {
		names = append(names, greeting.Prefix+key)
	}
	if err := connect(); err != nil {
		say(map[string]any{"failed": err.Error()})
	} else {
		say(map[string]any{"ready": true, "version": version()})
	}
	var queues []chan call
	for n := 0; n < greeting.Clients || n == 0; n++ {
		queues = append(queues, make(chan call, 1024))
		go (&client{held: map[int]*redsync.Mutex{}}).serve(queues[n])
	}
	for {
		line, err := in.ReadBytes('\n')
		received := now()
		var r call
		if err != nil || json.Unmarshal(line, &r) != nil || r.Op == "close" {
			return
		}
		r.received = received
		queues[r.Client] <- r
	}
}
