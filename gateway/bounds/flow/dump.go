package flow

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

// table is what kube-apiserver's debugging paths show.
type table struct{ rows [][]string }

func (t *table) add(columns ...any) {
	row := make([]string, len(columns))
	for i, c := range columns {
		row[i] = fmt.Sprint(c)
	}
	t.rows = append(t.rows, row)
}

// WriteTo implements [io.WriterTo].
func (t *table) WriteTo(w io.Writer) (int64, error) {
	out := tabwriter.NewWriter(w, 8, 0, 1, ' ', 0)
	var n int64
	for _, row := range t.rows {
		m, err := io.WriteString(out, strings.Join(row, ",\t")+"\n")
		n += int64(m)
		if err != nil {
			return n, err
		}
	}
	return n, out.Flush()
}

// each calls show for each level, while it does not change.
func (c *Control) each(show func(*level)) {
	c.changing.Lock()
	defer c.changing.Unlock()
	for _, l := range c.inOrder() {
		l.mu.Lock()
		show(l)
		l.mu.Unlock()
	}
}

// DumpLevels has a row for each level.
func (c *Control) DumpLevels() io.WriterTo {
	t := &table{}
	t.add("PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests", "DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests")
	c.each(func(l *level) {
		var waiting, executing, active int
		var dispatched, rejected, timedOut uint64
		for _, f := range l.tallies {
			waiting += f.Waiting
			executing += f.Executing
			dispatched += f.Dispatched
			rejected += f.Rejected[string(QueueFull)] + f.Rejected[string(NoSeats)]
			timedOut += f.Rejected[string(TimeOut)]
		}
		for _, q := range l.queues {
			if len(q.waiting) > 0 {
				active++
			}
		}
		t.add(l.name, active, waiting+executing == 0, false, waiting, executing, dispatched, rejected, timedOut, 0)
	})
	return t
}

// seatSeconds are written as there.
func seatSeconds(n float64) string {
	whole, part := math.Modf(max(n, 0))
	return fmt.Sprintf("%d.%08dss", int64(whole), int64(part*1e8))
}

// DumpQueues has a row for each queue.
func (c *Control) DumpQueues() io.WriterTo {
	t := &table{}
	t.add("PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse", "NextDispatchR", "InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum")
	c.each(func(l *level) {
		for i, q := range l.queues {
			first, work := 0, 0.0
			for _, s := range q.waiting {
				n, final := s.work.phases()
				first += n
				work += guess.Seconds()*float64(n) + s.work.After.Seconds()*float64(final)
			}
			t.add(l.name, i, len(q.waiting), q.executing, q.seats, seatSeconds(q.next), first, q.wanted, seatSeconds(work))
		}
	})
	return t
}

// phases are the seats of a request while it executes, and after it.
func (w *Work) phases() (initial, final int) {
	if w.After > 0 {
		return 1, w.Seats
	}
	return w.Seats, 0
}

// DumpRequests has a row for each request, with what it is about where details are
// asked for.
func (c *Control) DumpRequests(details bool) io.WriterTo {
	t := &table{}
	head := []any{"PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher", "ArriveTime", "InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime"}
	if details {
		head = append(head, "UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource")
	}
	t.add(head...)
	c.each(func(l *level) {
		for i, q := range l.queues {
			for j, s := range q.waiting {
				t.add(s.row(l.name, i, j, details)...)
			}
		}
		for s := l.first; s != nil; s = s.after {
			t.add(s.row(l.name, slices.Index(l.queues, s.queue), -1, details)...)
		}
	})
	return t
}

func (s *Seat) row(level string, queue, place int, details bool) []any {
	initial, final := s.work.phases()
	row := []any{level, s.tally.Schema, queue, place, s.flow, stamp(s.arrived), strconv.Itoa(initial), strconv.Itoa(final), s.work.After, stamp(s.began)}
	if details && s.work.Of != nil {
		a := s.work.Of.Describe()
		row = append(row, a.User.Name, a.Verb, a.Path, a.Namespace, a.Name, apischema.GroupVersion{Group: a.Group, Version: a.Version}, a.Resource, a.Subresource)
	}
	return row
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
