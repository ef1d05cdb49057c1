package flow

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// asked is a request for a pod.
type asked struct{ *authz.Attributes }

func (a asked) Describe() authz.Attributes { return *a.Attributes }

func text(t *testing.T, w io.WriterTo) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// flowOf is what became of bob's requests.
func flowOf(t *testing.T, c *Control) metrics.Flow {
	t.Helper()
	for _, l := range c.Report().Levels {
		for _, f := range l.Flows {
			if l.Name == "l" && f.Schema == "s" {
				return f
			}
		}
	}
	t.Fatal("nothing is known of the schema")
	return metrics.Flow{}
}

// Who executes and who waits is counted and shown from the begin to the end, the seats
// that stay taken too; who is refused is counted by why.
func TestRequestsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := one(2, 1, 1)
		bob := user("bob")
		class, of := c.Classify(bob), asked{bob}
		var first, second, third Seat
		if err := c.Enter(t.Context(), &first, class, Work{Seats: 2, After: 40 * time.Millisecond, Writes: true, Watches: 20, Of: of}); err != nil {
			t.Fatal(err)
		}
		entered := make(chan error)
		go func() { entered <- c.Enter(t.Context(), &second, class, Work{Seats: 1, Watch: true, Of: of}) }()
		synctest.Wait()
		if err := c.Enter(t.Context(), &third, class, Work{}); err != QueueFull {
			t.Fatal(err)
		}
		if f := flowOf(t, c); f.Executing != 1 || f.Seats != 2 || f.Waiting != 1 || f.WaitingSeats != 1 || f.Dispatched != 1 || f.Rejected["queue-full"] != 1 {
			t.Errorf("%+v", f)
		}
		now := time.Now().UTC().Format(time.RFC3339Nano)
		rows := strings.Split(strings.NewReplacer(" ", "", "\n", ";").Replace(text(t, c.DumpRequests(true))), ";")
		what := ",bob,get,/api/v1/namespaces/default/pods/one,default,one,v1,pods,"
		if want := "l,s,0,0,bob," + now + ",1,0,0s,0001-01-01T00:00:00Z" + what; rows[1] != want {
			t.Errorf("waits: %s, want %s", rows[1], want)
		}
		if want := "l,s,0,-1,bob," + now + ",1,2,40ms," + now + what; rows[2] != want {
			t.Errorf("executes: %s, want %s", rows[2], want)
		}
		if s := text(t, c.DumpLevels()); !strings.Contains(strings.ReplaceAll(s, " ", ""), "\nl,1,false,false,1,1,1,1,0,0\n") {
			t.Errorf("levels: %s", s)
		}
		if s := text(t, c.DumpQueues()); !strings.Contains(strings.ReplaceAll(s, " ", ""), "\nl,0,1,1,2,0.00600000ss,1,1,0.00300000ss\n") {
			t.Errorf("queues: %s", s)
		}
		first.Leave()
		if f := flowOf(t, c); f.Executing != 0 || f.Seats != 2 {
			t.Errorf("after the reply: %+v", f)
		}
		if err := <-entered; err != nil {
			t.Fatal(err)
		}
		second.Leave()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = c.Enter(t.Context(), &first, class, Work{Seats: 2})
		_ = c.Enter(ctx, &second, class, Work{Seats: 2})
		first.Leave()
		if f := flowOf(t, c); f.Executing+f.Seats+f.Waiting+f.WaitingSeats != 0 || f.Dispatched != 3 || f.Rejected["time-out"] != 1 {
			t.Errorf("in the end: %+v", f)
		}
		if s := strings.TrimSpace(text(t, c.DumpRequests(false))); strings.Contains(s, "\n") {
			t.Errorf("there is nobody: %s", s)
		}
		idle(t, c)
	})
}

// A schema that is gone is forgotten, with what became of its requests; not while they
// are there.
func TestSchemasAreForgotten(t *testing.T) {
	c := one(2, 8, 8)
	var s Seat
	if err := c.Enter(t.Context(), &s, c.Classify(user("bob")), Work{}); err != nil {
		t.Fatal(err)
	}
	l := c.levels["l"]
	for _, there := range []bool{true, false} {
		l.forget(func(string) bool { return false })
		if _, ok := l.tallies["s"]; ok != there {
			t.Errorf("it is there: %v, want %v", ok, there)
		}
		s.Leave()
	}
}
