// redsync behind the line protocol of drivers/exec/README.md. It tries once a call: how to try
// again is the workload's affair.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"lockmark/interop/adapter"
)

type library struct {
	names []string
	nodes []*redis.Client
	locks *redsync.Redsync
}

func (l *library) Connect(h *adapter.Hello) (string, error) {
	l.names = h.Names
	db, _ := strconv.Atoi(h.Server.Path)
	var pools []redsyncredis.Pool
	for _, address := range h.Server.Hosts {
		options := &redis.Options{Addr: address, Username: h.Server.User,
			Password: h.Server.Password, DB: db, PoolSize: h.Clients + 1}
		if h.Server.TLS {
			options.TLSConfig = &tls.Config{InsecureSkipVerify: !h.Server.TLSVerify}
		}
		node := redis.NewClient(options)
		l.nodes = append(l.nodes, node)
		pools = append(pools, goredis.NewPool(node))
	}
	l.locks = redsync.New(pools...)
	version := "redsync " + adapter.Version("github.com/go-redsync/redsync/v4") +
		", go-redis " + adapter.Version("github.com/redis/go-redis/v9")
	return version, l.reachMost(h.Within())
}

func (l *library) reachMost(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	failures := make(chan error, len(l.nodes))
	for _, node := range l.nodes {
		go func(n *redis.Client) { failures <- n.Ping(ctx).Err() }(node)
	}
	answered := 0
	var last error
	for range l.nodes {
		if err := <-failures; err == nil {
			answered++
		} else {
			last = err
		}
	}
	if answered < len(l.nodes)/2+1 {
		return fmt.Errorf("%d of %d nodes answer: %w", answered, len(l.nodes), last)
	}
	return nil
}

func (l *library) Wipe(r adapter.Call) adapter.Answer {
	ctx, cancel := r.Answered()
	defer cancel()
	for _, node := range l.nodes {
		for _, name := range l.names {
			if err := node.Del(ctx, name).Err(); err != nil {
				return adapter.Doubt("lost")
			}
		}
	}
	return adapter.Granted()
}

func (l *library) Close() {}

func (l *library) Client(int) adapter.Client {
	return &client{l, map[int]*redsync.Mutex{}}
}

type client struct {
	*library
	held map[int]*redsync.Mutex
}

func granted(m *redsync.Mutex) adapter.Answer {
	left := time.Until(m.Until()).Milliseconds()
	if left < 0 {
		left = 0
	}
	return adapter.Answer{Outcome: "granted", ValidMs: &left}
}

// What a failed call means: somebody else's lock, or not known.
func refusedOrDoubt(err error, why string) adapter.Answer {
	var taken *redsync.ErrTaken
	if err == nil || errors.As(err, &taken) || errors.Is(err, redsync.ErrFailed) ||
		errors.Is(err, redsync.ErrLockAlreadyExpired) || errors.Is(err, redsync.ErrExtendFailed) {
		return adapter.Refused(why)
	}
	return adapter.Lost(err)
}

func (c *client) Acquire(r adapter.Call) adapter.Answer {
	ctx, cancel := r.Answered()
	defer cancel()
	lease := time.Duration(r.LeaseMs) * time.Millisecond
	m := c.locks.NewMutex(c.names[r.Key], redsync.WithExpiry(lease), redsync.WithTries(1))
	if err := m.LockContext(ctx); err != nil {
		return refusedOrDoubt(err, "busy")
	}
	c.held[r.Key] = m
	return granted(m)
}

func (c *client) Renew(r adapter.Call) adapter.Answer {
	ctx, cancel := r.Answered()
	defer cancel()
	m, is := c.held[r.Key]
	if !is {
		return adapter.Refused("not_owner")
	}
	if ok, err := m.ExtendContext(ctx); !ok {
		return refusedOrDoubt(err, "not_owner")
	}
	return granted(m)
}

func (c *client) Release(r adapter.Call) adapter.Answer {
	ctx, cancel := r.Answered()
	defer cancel()
	m, is := c.held[r.Key]
	if !is {
		return adapter.Refused("not_owner")
	}
	delete(c.held, r.Key)
	if ok, err := m.UnlockContext(ctx); !ok {
		return refusedOrDoubt(err, "not_owner")
	}
	return adapter.Granted()
}

func main() { adapter.Run(&library{}) }
