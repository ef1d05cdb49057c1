package conversion

import (
	"context"
	"fmt"
	"strings"

	"github.com/wasmgate/wasmgate/excerpt"
)

// Checked makes any converter keep the contract of conversion webhooks: the
// reply has as many objects as were sent, in the same order, each at the
// desired apiVersion and with unchanged kind, name, namespace and uid. Labels
// and annotations are taken from the reply when they are valid; all other
// metadata is taken from the input. Objects that are at the desired version
// already are not sent and come back as they are.
//
// Every error is an [*Error]. Checking a checked converter again changes
// nothing.
func Checked(c Converter) Converter {
	if isChecked(c) {
		return c
	}
	return newChecked(c)
}

func newChecked(c Converter) *checked {
	_, read := c.(Reader)
	return &checked{inner: c, read: read, told: asWebhook}
}

type checked struct {
	inner Converter
	lean  bool // it is not sent managedFields
	read  bool // it is a Reader
	told  Told
}

// isChecked knows the converters that keep the contract.
func isChecked(c Converter) bool {
	switch c.(type) {
	case *checked, *Bulk, Sound:
		return true
	}
	return false
}

func (c *checked) Epoch() uint64 { return c.inner.Epoch() }

func (c *checked) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	out := make([][]byte, len(objects))
	one := call{told: c.told, desired: desired, sent: make([]view, 0, len(objects))}
	send := make([][]byte, 0, len(objects))
	places := make([]int, 0, len(objects))
	for i, data := range objects {
		v, err := look(data)
		if err != nil {
			return nil, &Error{To: desired, Reason: fmt.Sprintf("cannot convert object at index %d to %s: %v", i, desired, err), Cause: err}
		}
		if is(v.apiVersion, desired) {
			out[i] = data
			continue
		}
		one.sent = append(one.sent, v)
		if c.lean && v.managed > 0 {
			data = v.unmanaged()
		}
		send = append(send, data)
		places = append(places, i)
	}
	if len(send) == 0 {
		return out, nil
	}
	reply, err := c.inner.Convert(ctx, desired, send)
	if err != nil {
		return nil, one.failed(err)
	}
	if len(reply) != len(send) {
		return nil, one.count(len(reply))
	}
	for i := range reply {
		converted, p := accept(&one.sent[i], reply[i], desired, c.read)
		if p != nil {
			return nil, one.refused(i, p)
		}
		out[places[i]] = converted
	}
	return out, nil
}

// maxExcerpt is the most bytes of an object that a message repeats.
const maxExcerpt = 4 << 10

// accept checks one converted object and returns it with restored metadata.
// The result shares no memory with the reply or the input. With read the reply
// is known to be JSON.
func accept(original *view, reply []byte, desired string, read bool) ([]byte, *problem) {
	if len(reply) > MaxObjectBytes {
		return nil, &problem{badIdentity, fmt.Sprintf("it has %d bytes, more than %d", len(reply), MaxObjectBytes)}
	}
	got, err := lookAtReply(reply, read)
	if err != nil {
		return nil, &problem{unreadable, err.Error()}
	}
	if text(got.kind) == "" {
		return nil, &problem{unreadable, fmt.Sprintf("Object 'Kind' is missing in '%s'", excerpt.Of(string(reply), maxExcerpt))}
	}
	if !is(got.apiVersion, desired) {
		return nil, &problem{badType, fmt.Sprintf("invalid groupVersion (expected %s, received %s)", desired, groupVersion(got.apiVersionString()))}
	}
	if !sameText(original.kind, got.kind) {
		return nil, &problem{badType, fmt.Sprintf("invalid kind (expected %s, received %s)", original.kindString(), got.kindString())}
	}
	for _, id := range []struct {
		name      string
		had, have []byte
	}{
		{"name", original.name, got.name},
		{"namespace", original.namespace, got.namespace},
		{"UID", original.uid, got.uid},
	} {
		if !sameText(id.had, id.have) {
			return nil, &problem{badIdentity, fmt.Sprintf("must have the same %s: %s != %s", id.name, text(id.had), text(id.have))}
		}
	}
	out, err := restore(original, &got)
	if err != nil {
		return nil, &problem{badMetadata, err.Error()}
	}
	return out, nil
}

// groupVersion is how an unparsable apiVersion is shown: as the empty one.
func groupVersion(apiVersion string) string {
	if strings.Count(apiVersion, "/") > 1 {
		return ""
	}
	return apiVersion
}
