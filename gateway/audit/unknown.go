package audit

import (
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/bounds"
)

const (
	// unknownWindow is the time in which events of nobody known are counted, and after
	// which it is told how many were left out.
	unknownWindow = time.Minute
	// unknownShare is the part of them, one in so many, that those of one network have.
	unknownShare = 4
	// unknownFirst is how many of a network are kept, at most one in unknownShare of its share,
	// while one in unknownShare of all is left, which is for them alone: who floods from several networks
	// takes no other one's word.
	unknownFirst = 10
	// mostNetworks is of how many networks it is known how many of theirs were left out,
	// and toldNetworks of how many it is told.
	mostNetworks, toldNetworks = 1000, 10
)

// The annotations of an event that stands for those that were left out: how many, and how
// many of which networks.
const (
	leftOutKey     = "audit.wasmgate.dev/left-out"
	leftOutFromKey = "audit.wasmgate.dev/left-out-from"
)

// unknown bounds the events of requests of nobody known that were refused, who can send
// them as fast as the network takes them. It is safe for concurrent use.
type unknown struct {
	// most is how many are kept in a window, 0 for all. tell is called with those that
	// were not, when it is over.
	most int
	tell func(leftOut)

	mu    sync.Mutex
	ends  time.Time
	kept  int
	of    map[netip.Prefix]int
	left  leftOut
	timer *time.Timer
}

// leftOut are events that were left out since a time, all in all and by their networks.
type leftOut struct {
	since time.Time
	all   int
	from  map[netip.Prefix]int
}

// leavesOut reports whether an event is one too many, and remembers it then.
func (u *unknown) leavesOut(a *api.Audit) bool {
	if u.most == 0 || !refusedUnknown(a) {
		return false
	}
	from := bounds.Network(a.Request.Remote)
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	if !now.Before(u.ends) {
		u.ends, u.kept, u.of = now.Add(unknownWindow), 0, map[netip.Prefix]int{}
	}
	share, allowed := max(1, u.most/unknownShare), u.most
	if u.of[from] >= min(unknownFirst, max(1, share/unknownShare)) {
		allowed -= u.most / unknownShare
	}
	if u.kept < allowed && u.of[from] < share {
		u.kept++
		u.of[from]++
		return false
	}
	if u.left.all == 0 {
		u.left = leftOut{since: now, from: map[netip.Prefix]int{}}
		u.timer = time.AfterFunc(u.ends.Sub(now), u.flush)
	}
	u.left.all++
	if _, known := u.left.from[from]; known || len(u.left.from) < mostNetworks {
		u.left.from[from]++
	}
	return true
}

// flush tells what was left out until now.
func (u *unknown) flush() {
	u.mu.Lock()
	left := u.left
	u.left = leftOut{}
	if u.timer != nil {
		u.timer.Stop()
	}
	u.mu.Unlock()
	if left.all > 0 {
		u.tell(left)
	}
}

// refusedUnknown tells an event of a request that was refused, of somebody of whom
// nothing is known.
func refusedUnknown(a *api.Audit) bool {
	return a.User == nil || a.User.Name == authn.Anonymous && a.Code >= http.StatusBadRequest
}

// record is what is kept in the place of those that were left out.
func (l leftOut) record() *api.Audit {
	message := fmt.Sprintf("%d events of requests of nobody known, which were refused, were left out: there were too many", l.all)
	return &api.Audit{
		Keep: api.Keep{Level: api.KeepMetadata}, Stage: api.Complete, Request: &api.Request{ID: string(uuid.NewUUID())},
		Received: l.since, At: time.Now(), Code: http.StatusTooManyRequests,
		Status:      reply.Failure(http.StatusTooManyRequests, message).Body,
		Annotations: map[string]string{leftOutKey: strconv.Itoa(l.all), leftOutFromKey: l.networks()},
	}
}

// networks are those that most were of, each with how many, in their order, and how many
// were others'.
func (l leftOut) networks() string {
	by := slices.SortedFunc(maps.Keys(l.from), func(a, b netip.Prefix) int {
		if n := l.from[b] - l.from[a]; n != 0 {
			return n
		}
		return a.Compare(b)
	})
	out, others := []string(nil), l.all
	for _, p := range by[:min(len(by), toldNetworks)] {
		out = append(out, fmt.Sprintf("%s=%d", p, l.from[p]))
		others -= l.from[p]
	}
	if others > 0 {
		out = append(out, fmt.Sprintf("others=%d", others))
	}
	return strings.Join(out, ",")
}
