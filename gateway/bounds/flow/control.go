package flow

import (
	"cmp"
	"context"
	"hash/maphash"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	fcv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/apiserver/pkg/util/flowcontrol"

	"github.com/wasmgate/wasmgate/gateway/authz"
)

// Control decides which requests wait. It is safe for concurrent use.
type Control struct {
	total   int
	seed    maphash.Seed
	dropped flowcontrol.DroppedRequestsTracker

	current atomic.Pointer[config]
	// changing guards levels, and is held while the configuration changes or seats
	// are lent.
	changing sync.Mutex
	levels   map[string]*level
	fair     float64 // the part of their targets that levels had when seats were lent

	watches watches
}

// config is what is in force. It is never changed.
type config struct{ schemas []*schema }

// schema is a FlowSchema whose level there is.
type schema struct {
	name  string
	uid   types.UID
	rules []fcv1.PolicyRulesWithSubjects
	by    fcv1.FlowDistinguisherMethodType // "" where all its requests are one flow
	level *level
	tally *tally
}

// Class is what a request belongs to: a schema, and within it a flow.
type Class struct {
	schema *schema
	flow   string
}

// Schema and Level are the UIDs of the objects that a request falls under, which
// replies tell.
func (c Class) Schema() types.UID { return c.schema.uid }

// Level is that of the PriorityLevelConfiguration.
func (c Class) Level() types.UID { return c.schema.level.uid() }

// Names are those of the FlowSchema and of the PriorityLevelConfiguration.
func (c Class) Names() (schema, level string) { return c.schema.name, c.schema.level.name }

// New makes a Control of so many seats, which knows the objects that there have to
// be at least.
func New(total int) *Control {
	c := &Control{total: total, seed: maphash.MakeSeed(), dropped: flowcontrol.NewDroppedRequestsTracker(), levels: map[string]*level{}, watches: watches{all: map[watched]int{}}}
	c.Update(nil, nil)
	return c
}

// Update makes these objects what is in force. Those that have to be there and are
// missing are added; a schema whose level is missing is not in force. The objects must
// not be changed afterwards.
func (c *Control) Update(schemas []*fcv1.FlowSchema, levels []*fcv1.PriorityLevelConfiguration) {
	c.changing.Lock()
	defer c.changing.Unlock()
	levels = completed(levels, bootstrap.MandatoryPriorityLevelConfigurations)
	schemas = completed(schemas, bootstrap.MandatoryFlowSchemas)
	was := c.levels
	c.levels = map[string]*level{}
	shares := 0.0
	for _, l := range levels {
		shares += float64(sharesOf(l))
	}
	for _, l := range levels {
		one := was[l.Name]
		if one == nil {
			one = newLevel(l.Name)
		}
		one.configure(l, int(math.Ceil(float64(c.total)*float64(sharesOf(l))/max(shares, 1))), c.total)
		c.levels[l.Name] = one
	}
	next := &config{}
	for _, s := range inOrder(schemas) {
		if l := c.levels[s.Spec.PriorityLevelConfiguration.Name]; l != nil {
			one := &schema{name: s.Name, uid: s.UID, rules: s.Spec.Rules, level: l, tally: l.tallyOf(s.Name)}
			if d := s.Spec.DistinguisherMethod; d != nil {
				one.by = d.Type
			}
			next.schemas = append(next.schemas, one)
		}
	}
	c.current.Store(next)
	for _, l := range c.levels {
		l.forget(func(name string) bool {
			return slices.ContainsFunc(next.schemas, func(s *schema) bool { return s.name == name && s.level == l })
		})
	}
	c.lend()
}

// object is one of the two kinds.
type object interface{ GetName() string }

// completed are objects with those of others that are missing among them.
func completed[T object](objects, others []T) []T {
	out := slices.Clone(objects)
	for _, o := range others {
		if !slices.ContainsFunc(objects, func(x T) bool { return x.GetName() == o.GetName() }) {
			out = append(out, o)
		}
	}
	return out
}

// inOrder are schemas in the order in which they are asked.
func inOrder(all []*fcv1.FlowSchema) []*fcv1.FlowSchema {
	return slices.SortedFunc(slices.Values(all), func(a, b *fcv1.FlowSchema) int {
		return cmp.Or(cmp.Compare(a.Spec.MatchingPrecedence, b.Spec.MatchingPrecedence), cmp.Compare(a.Name, b.Name))
	})
}

// Classify finds out what a request belongs to: the first schema that is about it. There
// is always one, as the last is about everybody who is authenticated or not; who is
// neither belongs to it, too.
func (c *Control) Classify(a *authz.Attributes) Class {
	schemas := c.current.Load().schemas
	at := schemas[len(schemas)-1]
	for _, s := range schemas {
		if s.name == fcv1.FlowSchemaNameCatchAll {
			at = s
		}
		if matches(s.rules, a) {
			at = s
			break
		}
	}
	switch at.by {
	case fcv1.FlowDistinguisherMethodByUserType:
		return Class{at, a.User.Name}
	case fcv1.FlowDistinguisherMethodByNamespaceType:
		return Class{at, a.Namespace}
	}
	return Class{at, ""}
}

// Enter waits until a request of a class may begin, which then has its seats until
// [Seat.Leave]. It fails with a [Refusal] when there is no place to wait, or none in
// time, or ctx ends before.
func (c *Control) Enter(ctx context.Context, s *Seat, class Class, w Work) error {
	w.Seats = max(w.Seats, 1)
	*s = Seat{level: class.schema.level, seats: w.Seats, work: w, flow: class.flow, tally: class.schema.tally}
	err := s.level.enter(ctx, s, flowID{c.seed, class.schema.name, class.flow})
	if err != nil {
		c.dropped.RecordDroppedRequest(class.schema.level.name)
	}
	return err
}

// flowID is what a flow is known by.
type flowID struct {
	seed         maphash.Seed
	schema, flow string
}

// hash is what its queues are dealt by.
func (f flowID) hash() uint64 {
	var h maphash.Hash
	h.SetSeed(f.seed)
	_, _ = h.WriteString(f.schema) // never fails
	_ = h.WriteByte(0)
	_, _ = h.WriteString(f.flow)
	return h.Sum64()
}

// RetryAfter is how many seconds who was refused should wait: the longer the more have
// been refused lately.
func (c *Control) RetryAfter(class Class) int64 {
	return c.dropped.GetRetryAfter(class.schema.level.name)
}

// adjustEvery is how often seats are lent anew.
const adjustEvery = 10 * time.Second

// Run lends the seats that levels do not need to others that do, until ctx ends.
func (c *Control) Run(ctx context.Context) {
	tick := time.NewTicker(adjustEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.Lend()
		}
	}
}
