// etcd's own Go client behind the line protocol of drivers/exec/README.md: concurrency.Mutex, or a
// half of recipe.RWMutex. An instance is one client with one connection, and each logical client of
// it a concurrency.Session with a lease of its own.
package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"

	"lockmark/interop/adapter"
)

type library struct {
	hello    *adapter.Hello
	etcd     *clientv3.Client
	changing sync.Mutex
	sessions map[*concurrency.Session]bool // those that live
	losses   int                           // clients whose session is over, and who have no new one
	closed   bool
}

func (l *library) Connect(h *adapter.Hello) (string, error) {
	l.hello = h
	ctx, cancel := context.WithTimeout(context.Background(), h.Within())
	defer cancel()
	var err error
	l.etcd, err = clientv3.New(clientv3.Config{Endpoints: h.Server.Hosts,
		Username: h.Server.User, Password: h.Server.Password, DialTimeout: h.Within()})
	if err == nil {
		_, err = l.etcd.Get(ctx, h.Prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	}
	return "etcd's Go client " + adapter.Version("go.etcd.io/etcd/client/v3"), err
}

func (l *library) Wipe(r adapter.Call) adapter.Answer {
	ctx, cancel := r.Answered()
	defer cancel()
	_, err := l.etcd.Delete(ctx, l.hello.Prefix, clientv3.WithPrefix())
	if err != nil {
		return adapter.Lost(err)
	}
	return adapter.Granted()
}

// Close revokes the leases, within the time that a child has for its end.
func (l *library) Close() {
	l.changing.Lock()
	defer l.changing.Unlock()
	l.closed = true
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for s := range l.sessions {
		all.Add(1)
		go func(lease clientv3.LeaseID) {
			defer all.Done()
			l.etcd.Revoke(ctx, lease)
		}(s.Lease())
	}
	all.Wait()
}

// begun and ended tell lockmark of the first client without its session, and of the last one that
// has one again.
func (l *library) begun(s *concurrency.Session, again bool) {
	l.changing.Lock()
	defer l.changing.Unlock()
	l.sessions[s] = true
	if again {
		l.losses--
		if l.losses == 0 {
			adapter.SayAlive(true)
		}
	}
}

func (l *library) ended(s *concurrency.Session) {
	l.changing.Lock()
	defer l.changing.Unlock()
	delete(l.sessions, s)
	l.losses++
	if l.losses == 1 && !l.closed {
		adapter.SayAlive(false)
	}
}

// holder is a Mutex, or a half of an RWMutex.
type holder interface {
	lock(context.Context) (token int64, err error)
	unlock(context.Context) error
	// giveUp makes sure that a lock in vain left no key behind.
	giveUp(context.Context) error
}

type mutex struct{ *concurrency.Mutex }

func (m mutex) lock(ctx context.Context) (int64, error) {
	if err := m.Lock(ctx); err != nil {
		return 0, err
	}
	// The revision that created the mutex's key, which orders its holders; it has no other accessor.
	order := etcdserverpb.Compare(m.IsOwner())
	return order.GetCreateRevision(), nil
}

func (m mutex) unlock(ctx context.Context) error { return m.Unlock(ctx) }

// The library does not remove the key of a transaction that was not answered in time.
func (m mutex) giveUp(ctx context.Context) error { return m.Unlock(ctx) }

// half waits without a limit, because the recipe knows none: who gives up leaves the wait to itself,
// which unlocks at its end.
type half struct {
	take, drop func() error
}

func (h half) lock(ctx context.Context) (int64, error) {
	ended := make(chan error, 1)
	go func() { ended <- h.take() }()
	select {
	case err := <-ended:
		return 0, err
	case <-ctx.Done():
		go func() {
			if <-ended == nil {
				h.drop()
			}
		}()
		return 0, ctx.Err()
	}
}

func (h half) unlock(context.Context) error { return h.drop() }

func (h half) giveUp(context.Context) error { return nil } // the wait goes on, and then unlocks

type client struct {
	*library
	session *concurrency.Session
	held    map[int]holder
}

func (l *library) Client(int) adapter.Client {
	return &client{library: l, held: map[int]holder{}}
}

// live returns the client's session: a new one where the old one is over.
func (c *client) live(ctx context.Context) (*concurrency.Session, error) {
	if c.session != nil {
		select {
		case <-c.session.Done():
		default:
			return c.session, nil
		}
	}
	ttl := (c.hello.SessionMs + 999) / 1000
	if ttl <= 0 {
		ttl = 10
	}
	// A session outlives the call that made it, so only the lease is granted within its limit.
	lease, err := c.etcd.Grant(ctx, int64(ttl))
	if err != nil {
		return nil, err
	}
	made, err := concurrency.NewSession(c.etcd, concurrency.WithLease(lease.ID))
	if err != nil {
		return nil, err
	}
	c.begun(made, c.session != nil)
	c.session = made
	go func() {
		<-made.Done()
		c.ended(made)
	}()
	return made, nil
}

func (c *client) holderOf(s *concurrency.Session, name string) holder {
	switch c.hello.Options["kind"] {
	case "write":
		rw := recipe.NewRWMutex(s, name)
		return half{rw.Lock, rw.Unlock}
	case "read":
		rw := recipe.NewRWMutex(s, name)
		return half{rw.RLock, rw.RUnlock}
	}
	return mutex{concurrency.NewMutex(s, name)}
}

func (c *client) Acquire(r adapter.Call) adapter.Answer {
	wait := time.Duration(r.WaitMs) * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	s, err := c.live(ctx)
	if err != nil {
		return adapter.Refused("unavailable")
	}
	h := c.holderOf(s, c.hello.Names[r.Key])
	token, err := h.lock(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		answered, cancel := r.Answered()
		defer cancel()
		if err := h.giveUp(answered); err != nil {
			return adapter.Lost(err)
		}
		return adapter.Refused("deadline")
	}
	if errors.Is(err, concurrency.ErrSessionExpired) {
		return adapter.Refused("unavailable")
	}
	if err != nil {
		return adapter.Lost(err)
	}
	c.held[r.Key] = h
	return adapter.Answer{Outcome: "granted", Token: token}
}

func (c *client) Renew(adapter.Call) adapter.Answer {
	return adapter.Refused("not_owner") // a session is kept alive by itself
}

func (c *client) Release(r adapter.Call) adapter.Answer {
	h, is := c.held[r.Key]
	if !is {
		return adapter.Refused("not_owner")
	}
	delete(c.held, r.Key)
	ctx, cancel := r.Answered()
	defer cancel()
	if err := h.unlock(ctx); err != nil {
		return adapter.Lost(err)
	}
	return adapter.Granted()
}

func main() { adapter.Run(&library{sessions: map[*concurrency.Session]bool{}}) }
