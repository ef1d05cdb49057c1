package form

import (
	"errors"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// maxCollected is how much of a watch is collected before it is sent, at most
// but for the last object: two hundred of the largest are hundreds of megabytes. As
// long as a client does not read, nobody else may need them.
const maxCollected = 64 << 10

// errLeft tells that the client is gone, or does not take what is sent.
var errLeft = errors.New("the client left")

// errUntold tells that there is something to say for which the client's form has
// no words: a list of metadata is none of an object. As with kube-apiserver, the
// watch ends there.
var errUntold = errors.New("an event is no list")

// frame adds one event to what the next flush sends, which is now if that is much.
func (s *Stream) frame(f encoding.Frame) error {
	s.out.Frame(f.Head, f.Body, f.Tail)
	if s.collected += f.Size(); s.collected < maxCollected {
		return nil
	}
	return s.flush()
}

// flush sends what was collected.
func (s *Stream) flush() error {
	s.collected = 0
	if s.out.Flush() != nil {
		return errLeft
	}
	return nil
}

// tell sends an event whose object is JSON.
func (s *Stream) tell(kind watch.EventType, data []byte) error {
	f := s.form
	f.pretty = false
	out, err := f.encode(s.target.Version, data)
	if err != nil {
		return err
	}
	return s.about(kind, encoding.Encoded{Text: out})
}

// fail ends the stream with an ERROR event.
func (s *Stream) fail(err error) {
	_ = s.tell(watch.Error, reply.Error(err).Body) // a Status is encodable
	_ = s.flush()                                  // the stream ends anyway
}
