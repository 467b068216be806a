// Package adapter is the line protocol of drivers/exec/README.md, for clients in Go: each logical
// client is a goroutine of its own, and one reads.
package adapter

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

type Server struct {
	Hosts     []string `json:"hosts"`
	User      string   `json:"user"`
	Password  string   `json:"password"`
	Path      string   `json:"path"`
	TLS       bool     `json:"tls"`
	TLSVerify bool     `json:"tls_verify"`
}

type Hello struct {
	Server    Server            `json:"server"`
	Options   map[string]string `json:"options"`
	Run       string            `json:"run"`
	Keys      []string          `json:"keys"`
	Prefix    string            `json:"prefix"`
	Clients   int               `json:"clients"`
	SessionMs int               `json:"session_ms"`
	WithinMs  int               `json:"within_ms"`
	Names     []string          `json:"-"` // of the keys, as they are on the server
}

func (h *Hello) Within() time.Duration {
	return time.Duration(h.WithinMs) * time.Millisecond
}

type Call struct {
	Op       string `json:"op"`
	ID       uint64 `json:"id"`
	Key      int    `json:"key"`
	Client   int    `json:"client"`
	LeaseMs  int64  `json:"lease_ms"`
	WaitMs   int64  `json:"wait_ms"`
	GraceMs  int64  `json:"grace_ms"`
	received int64
}

// Answered is a context that ends when nobody waits for the answer any more.
func (c Call) Answered() (context.Context, context.CancelFunc) {
	limit := time.Duration(c.WaitMs+c.GraceMs+1) * time.Millisecond
	return context.WithTimeout(context.Background(), limit)
}

// Answer is how a call ended. The rest of its line is filled in by this package.
type Answer struct {
	ID       uint64 `json:"id"`
	Outcome  string `json:"outcome"`
	Why      string `json:"why,omitempty"`
	Token    int64  `json:"token,omitempty"`
	ValidMs  *int64 `json:"valid_ms,omitempty"`
	Received int64  `json:"received"`
	Began    int64  `json:"began"`
	Ended    int64  `json:"ended"`
	Sent     int64  `json:"sent"`
}

func Granted() Answer           { return Answer{Outcome: "granted"} }
func Refused(why string) Answer { return Answer{Outcome: "refused", Why: why} }
func Doubt(why string) Answer   { return Answer{Outcome: "doubt", Why: why} }

// Lost is a doubt for which the library has a reason, which goes to the standard error.
func Lost(err error) Answer {
	fmt.Fprintln(os.Stderr, err)
	return Doubt("lost")
}

// Client is one logical client. All of its calls come from one goroutine.
type Client interface {
	Acquire(Call) Answer
	Renew(Call) Answer
	Release(Call) Answer
}

// Library is a lock library behind this protocol.
type Library interface {
	// Connect returns the name and version of the library.
	Connect(*Hello) (string, error)
	Client(number int) Client
	// Wipe removes the keys of the run.
	Wipe(Call) Answer
	Close()
}

// now is CLOCK_MONOTONIC as a number, which package time keeps to itself.
func now() int64 {
	var t syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

var writing sync.Mutex

func say(message any) {
	line, _ := json.Marshal(message)
	writing.Lock()
	defer writing.Unlock()
	os.Stdout.Write(append(line, '\n'))
}

// SayAlive tells whether the server may have freed what this process holds.
func SayAlive(alive bool) { say(map[string]bool{"alive": alive}) }

func do(l Library, c Client, r Call) Answer {
	switch r.Op {
	case "acquire":
		return c.Acquire(r)
	case "renew":
		return c.Renew(r)
	case "wipe":
		return l.Wipe(r)
	}
	return c.Release(r)
}

func serve(l Library, c Client, calls chan Call) {
	for r := range calls {
		began := now()
		a := do(l, c, r)
		a.ID, a.Received, a.Began, a.Ended = r.ID, r.received, began, now()
		a.Sent = now()
		say(a)
	}
}

// Version is that of a module of this program: "v4.12.1".
func Version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == module {
				return m.Version
			}
		}
	}
	return "of unknown version"
}

// Run serves the standard input to its end.
func Run(l Library) {
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	first, err := in.ReadBytes('\n')
	var hello Hello
	if err != nil || json.Unmarshal(first, &hello) != nil {
		os.Exit(1)
	}
	for _, key := range hello.Keys {
		hello.Names = append(hello.Names, hello.Prefix+key)
	}
	if version, err := l.Connect(&hello); err != nil {
		say(map[string]any{"failed": err.Error()})
	} else {
		say(map[string]any{"ready": true, "version": version})
	}
	var queues []chan Call
	for n := 0; n < hello.Clients || n == 0; n++ {
		queues = append(queues, make(chan Call, 1024))
		go serve(l, l.Client(n), queues[n])
	}
	for {
		line, err := in.ReadBytes('\n')
		received := now()
		var r Call
		if err != nil || json.Unmarshal(line, &r) != nil || r.Op == "close" {
			l.Close()
			return
		}
		r.received = received
		queues[r.Client] <- r
	}
}
