package audit

import (
	"encoding/json"
	"sync"

	"k8s.io/apiserver/pkg/apis/audit"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	apiserveraudit "k8s.io/apiserver/pkg/audit"

	"github.com/wasmgate/wasmgate/gateway/api"
)

// event is a record on its way, encoded once for all who want it. Events are safe for
// concurrent use.
type event struct {
	record *api.Audit

	once sync.Once
	text []byte
	err  error

	sized sync.Once
	takes int64
}

// about is about how much memory an event without bodies takes, in bytes.
const about = 2 << 10

// size is about how much memory the event takes: as the record, and once more as the
// text that it becomes. It is counted once, so that what is given back is what was taken.
func (e *event) size() int64 {
	e.sized.Do(func() { e.takes = sizeOf(e.record) })
	return e.takes
}

func sizeOf(a *api.Audit) int64 {
	n := len(a.Sent) + len(a.Replied) + len(a.Status) + len(a.Panic)
	if r := a.Request; r != nil {
		n += len(r.Path) + len(r.Query) + len(r.UserAgent) + len(r.ForwardedFor) + len(r.RealIP)
	}
	for _, text := range a.Annotations {
		n += len(text)
	}
	return int64(about + 2*n)
}

// json is the event in JSON.
func (e *event) json() ([]byte, error) {
	e.once.Do(func() { e.text, e.err = json.Marshal(eventOf(e.record)) })
	return e.text, e.err
}

// hasBodies tells an event that may have some.
func (e *event) hasBodies() bool { return e.record.Level >= api.KeepRequest }

// bare is the event in JSON without its bodies, which says so.
func (e *event) bare() ([]byte, error) {
	out := eventOf(e.record)
	out.RequestObject, out.ResponseObject = nil, nil
	out.Annotations = annotated(out.Annotations)
	return json.Marshal(out)
}

// legacy is the event as a line of the old format.
func (e *event) legacy() ([]byte, error) {
	var in audit.Event
	if err := auditv1.Convert_v1_Event_To_audit_Event(eventOf(e.record), &in, nil); err != nil {
		return nil, err
	}
	return []byte(apiserveraudit.EventString(&in)), nil
}
