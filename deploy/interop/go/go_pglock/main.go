// go-pglock behind the line protocol of drivers/exec/README.md: advisory locks of sessions. An
// instance is one sql.DB; each logical client has a connection of its own for each of its keys, as
// the library wants it.
package main

import (
	"context"
	"database/sql"
	"errors"
	"hash/fnv"
	"net/url"
	"time"

	"github.com/allisson/go-pglock/v3"
	_ "github.com/lib/pq"

	"lockmark/interop/adapter"
)

type library struct {
	ids []int64
	db  *sql.DB
}

// idOf is the number that postgres/advisory locks for this key: see advisory_id() in
// drivers/postgres/tables.hpp.
func idOf(run, key string) int64 {
	h := fnv.New64a()
	h.Write([]byte("lockmark_" + run + "_" + key))
	id := h.Sum64()
	id = (id ^ id>>33) * 0xff51afd7ed558ccd
	id = (id ^ id>>33) * 0xc4ceb9fe1a85ec53
	return int64(id ^ id>>33)
}

func (l *library) Connect(h *adapter.Hello) (string, error) {
	for _, key := range h.Keys {
		l.ids = append(l.ids, idOf(h.Run, key))
	}
	ctx, cancel := context.WithTimeout(context.Background(), h.Within())
	defer cancel()
	var err error
	server := url.URL{Scheme: "postgres", User: url.UserPassword(h.Server.User, h.Server.Password),
		Host: h.Server.Hosts[0], Path: "/" + h.Server.Path, RawQuery: "sslmode=disable"}
	l.db, err = sql.Open("postgres", server.String())
	if err == nil {
		// The library's Close gives the connection back to the pool, with whatever it holds; without
		// idle connections that closes it.
		l.db.SetMaxIdleConns(-1)
		err = l.db.PingContext(ctx)
	}
	return "go-pglock " + adapter.Version("github.com/allisson/go-pglock/v3") + ", lib/pq " +
		adapter.Version("github.com/lib/pq"), err
}

// Wipe has nothing to remove: an advisory lock is no row.
func (l *library) Wipe(adapter.Call) adapter.Answer { return adapter.Granted() }

func (l *library) Close() { l.db.Close() }

type client struct {
	*library
	locks map[int]*pglock.Lock // with a connection; held or not
	held  map[int]bool
}

func (l *library) Client(int) adapter.Client {
	return &client{l, map[int]*pglock.Lock{}, map[int]bool{}}
}

// drop ends the connection, and with it the lock.
func (c *client) drop(key int) {
	c.locks[key].Close()
	delete(c.locks, key)
	delete(c.held, key)
}

func (c *client) Acquire(r adapter.Call) adapter.Answer {
	wait := time.Duration(r.WaitMs) * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	lock := c.locks[r.Key]
	if lock == nil {
		made, err := pglock.NewLock(ctx, c.ids[r.Key], c.db)
		if err != nil {
			return adapter.Refused("unavailable")
		}
		lock = &made
		c.locks[r.Key] = lock
	}
	// A wait that is given up ends its connection, whatever the server has granted meanwhile. lib/pq
	// closes it also where the lock was granted just at the end of the wait, and then says success.
	err := lock.WaitAndLock(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		c.drop(r.Key)
		return adapter.Refused("deadline")
	}
	if err != nil {
		c.drop(r.Key)
		return adapter.Lost(err)
	}
	c.held[r.Key] = true
	return adapter.Granted()
}

func (c *client) Renew(adapter.Call) adapter.Answer {
	return adapter.Refused("not_owner") // the connection keeps it
}

func (c *client) Release(r adapter.Call) adapter.Answer {
	if !c.held[r.Key] {
		return adapter.Refused("not_owner")
	}
	ctx, cancel := r.Answered()
	defer cancel()
	if err := c.locks[r.Key].Unlock(ctx); err != nil {
		c.drop(r.Key)
		return adapter.Lost(err)
	}
	delete(c.held, r.Key)
	return adapter.Granted()
}

func main() { adapter.Run(&library{}) }
