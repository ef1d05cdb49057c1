package filter

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	fcv1 "k8s.io/api/flowcontrol/v1"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/bounds/flow"
)

// Flow is flow control as it is in force now.
type Flow interface{ Control() *flow.Control }

// mostWait is the longest that a request waits for a seat, however much time it has.
const mostWait = time.Minute

// wait has requests wait for a seat of their level, and refuses those for which there is
// no place, or none in time. What lasts takes none, as in kube-apiserver; but a watch
// has one until it has sent what it begins with.
func wait(by Flow) api.Filter {
	return func(next api.Serve) api.Serve {
		if by == nil {
			return next
		}
		return func(ctx context.Context, c *api.Call) *reply.Response {
			if c.Connects() || c.Lasts() && !c.Streams() {
				return next(ctx, c)
			}
			control := by.Control()
			a := c.Info.Attributes(c.User)
			class := control.Classify(&a)
			asked := time.Now()
			if err := control.Enter(ctx, &c.Seat, class, work(control, class, c, &a)); err != nil {
				c.Waited(time.Since(asked))
				c.Refuse()
				return fallsUnder(tooMany(control.RetryAfter(class)), class)
			}
			c.Waited(c.Seat.Waited())
			if c.Watches() {
				control.Watch(&c.Watching, &a)
			}
			resp := next(ctx, c)
			if c.PassedOn() || c.Streams() && resp.Stream == nil { // else it leaves when it has sent what it begins with
				c.Seat.Leave()
			}
			return fallsUnder(resp, class)
		}
	}
}

// work is what a request takes: lists by what they are made of, writes by who is told,
// and what is converted and not stored by what is sent.
func work(control *flow.Control, class flow.Class, c *api.Call, a *authz.Attributes) flow.Work {
	w := flow.Work{Seats: 1, Watch: c.Streams(), Of: c, Wait: min(cmp.Or(c.Timeout/4, mostWait/4), mostWait)}
	switch {
	case !c.Resource || c.PassedOn():
	case c.Verb == "list" || c.Verb == "watch":
		control.List(&w, class, c.Lists())
	case !hasBody(c.Verb) || c.Verb == "deletecollection", c.Plural == "serviceaccounts" && c.Subresource == "token":
	case c.Reviews():
		control.Review(&w, class, int64(c.BodyLength))
	default:
		control.Write(&w, class, control.Watches(a))
	}
	return w
}

// fallsUnder has a reply say which objects the request fell under.
func fallsUnder(resp *reply.Response, class flow.Class) *reply.Response {
	resp.Headers = append(slices.Grow(resp.Headers, 3), // with room for the last, Audit-Id
		reply.Header{Name: fcv1.ResponseHeaderMatchedPriorityLevelConfigurationUID, Value: string(class.Level())},
		reply.Header{Name: fcv1.ResponseHeaderMatchedFlowSchemaUID, Value: string(class.Schema())})
	return resp
}

// tooMany is kube-apiserver's reply to a request for which there is no seat.
func tooMany(retryAfter int64) *reply.Response {
	return &reply.Response{
		Code: http.StatusTooManyRequests, ContentType: "text/plain; charset=utf-8", Body: []byte("Too many requests, please try again later.\n"),
		Headers: []reply.Header{reply.NoSniff, {Name: "Retry-After", Value: strconv.FormatInt(retryAfter, 10)}},
	}
}
