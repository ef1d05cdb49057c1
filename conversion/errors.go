package conversion

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wasmgate/wasmgate/conversion/review"
	"github.com/wasmgate/wasmgate/excerpt"
)

// Error is a failed conversion. Clients see it as a Status with code 500, no
// reason and Error() as the message, which is kube-apiserver's wording; a Wasm
// module is called one, where that says webhook. One that may do later is
// TooManyRequests.
type Error struct {
	// From and Kind are the apiVersion and kind of the first object concerned.
	From string
	Kind string
	// To is the apiVersion that was asked for.
	To string
	// Objects are the objects concerned, as namespace/name, at most a few.
	Objects []string
	// Reason is the whole message, at most 8 KiB. It may quote the objects.
	Reason string
	// Cause is what the converter returned; nil when its reply was refused.
	Cause error

	// logged is the message for logs, "" when Reason will do.
	logged string
}

// Error returns the reason.
func (e *Error) Error() string { return e.Reason }

// LogText is the message for logs, which are read by others than those who may
// read the objects: it quotes nothing of a refused reply.
func (e *Error) LogText() string {
	if e.logged != "" {
		return e.logged
	}
	return e.Reason
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// OfObjects tells that the converter works, and that the objects concerned are what
// does not convert: it said so, or what it made of them breaks the contract.
func (e *Error) OfObjects() bool {
	if e.Cause == nil {
		return true
	}
	var verdict interface{ Verdict() bool }
	return errors.As(e.Cause, &verdict) && verdict.Verdict()
}

// Choked tells that the converter ended on the objects, and would again: it is broken, or,
// if it works for others, they are what does not convert.
func (e *Error) Choked() bool {
	var choked interface{ Choked() bool }
	return errors.As(e.Cause, &choked) && choked.Choked()
}

// Later tells that nothing is wrong with the converter nor with the objects: others leave
// the call no room, and the same one may do in a moment.
func (e *Error) Later() bool {
	var full interface{ Later() bool }
	return errors.As(e.Cause, &full) && full.Later()
}

// maxReason is the most bytes of a message: a quoted reply and some words.
const maxReason = 8 << 10

// maxNamed is how many objects an Error names.
const maxNamed = 10

// call collects what the errors of one call of a converter have in common.
type call struct {
	told    Told
	desired string
	sent    []view
}

// gvk is "group/version, Kind=kind" of the first object that was sent.
func (c *call) gvk() string {
	v := c.sent[0].apiVersionString()
	if !strings.Contains(v, "/") {
		v = "/" + v
	}
	return v + ", Kind=" + c.sent[0].kindString()
}

// subject is what the messages are about.
func (c *call) subject() string { return c.told.Converter + " for " + c.gvk() }

func (c *call) error(reason string, cause error, about []view) *Error {
	e := &Error{
		From:   c.sent[0].apiVersionString(),
		Kind:   c.sent[0].kindString(),
		To:     c.desired,
		Reason: excerpt.Of(reason, maxReason),
		Cause:  cause,
	}
	for i := range about {
		if i == maxNamed {
			break
		}
		e.Objects = append(e.Objects, about[i].nameString())
	}
	return e
}

// failed is the error of a call that gave no reply.
func (c *call) failed(cause error) error {
	var verdict *review.Failure
	if errors.As(cause, &verdict) {
		return c.error(fmt.Sprintf("%s failed: %v", c.subject(), cause), cause, c.sent)
	}
	e := c.error(fmt.Sprintf("%s failed: %v%s", c.subject(), cause, c.told.Hint), cause, c.sent)
	var unread *review.SyntaxError
	if errors.As(cause, &unread) {
		e.logged = fmt.Sprintf("%s failed: %s", c.subject(), unread.LogText())
	}
	return e
}

// count is the error of a reply with too few or too many objects.
func (c *call) count(got int) error {
	return c.error(fmt.Sprintf("%s returned %d objects, expected %d%s", c.subject(), got, len(c.sent), c.told.Hint), nil, c.sent)
}

// refused is the error of an object in a reply that breaks the contract. One
// object and many have different words for the same thing, as upstream.
func (c *call) refused(index int, p *problem) error {
	about := c.sent[index : index+1]
	many := len(c.sent) > 1
	var reason string
	switch {
	case p.what == unreadable && !many:
		reason = p.why
	case p.what == badMetadata && many:
		reason = fmt.Sprintf("%s returned invalid metadata in object at index %d: %s", c.subject(), index, p.why)
	case p.what == badMetadata:
		reason = fmt.Sprintf("%s returned invalid metadata: %s", c.subject(), p.why)
	case many:
		reason = fmt.Sprintf("%s returned invalid converted object at index %d: %s", c.subject(), index, p.why)
	case p.what == badType:
		reason = fmt.Sprintf("%s returned invalid object at index 0: %s", c.subject(), p.why)
	default:
		reason = fmt.Sprintf("%s returned invalid object: %s", c.subject(), p.why)
	}
	e := c.error(reason+c.told.Hint, nil, about)
	e.logged = fmt.Sprintf("%s returned an object, at index %d, whose %s", c.subject(), index, p.what)
	return e
}

// problem is what is wrong with one converted object.
type problem struct {
	what fault
	why  string // may quote the object
}

// fault is a kind of problem, in words that follow "whose".
type fault string

const (
	unreadable  fault = "JSON is not that of an object of any kind"
	badType     fault = "apiVersion or kind is wrong"
	badIdentity fault = "name, namespace, uid or size is wrong"
	badMetadata fault = "metadata is invalid"
)
