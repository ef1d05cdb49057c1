package extend

import (
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/crd/object"
)

// When a volume entered its phase is noted where nobody says it, and kept while it stays.
func TestWhenVolumesEnterAPhase(t *testing.T) {
	const before, said = "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"
	for name, c := range map[string]struct {
		subresource      string
		was, phase, time any
		want             string // "now" for now
	}{
		"it stays":                           {"status", "Bound", "Bound", nil, before},
		"it stays, and the time is sent":     {"status", "Bound", "Bound", before, before},
		"it stays, and another time is sent": {"status", "Bound", "Bound", said, said},
		"it enters another":                  {"status", "Bound", "Released", nil, "now"},
		"it enters another, as is":           {"status", "Bound", "Released", before, "now"},
		"it enters another, which is said":   {"status", "Bound", "Released", said, said},
		"not by the object itself":           {"", "Bound", "Released", nil, ""},
	} {
		status := map[string]any{"phase": c.phase}
		if c.time != nil {
			status["lastPhaseTransitionTime"] = c.time
		}
		obj := map[string]any{"status": status}
		notePhase(c.subresource, obj, map[string]any{"status": map[string]any{"phase": c.was, "lastPhaseTransitionTime": before}})
		got := object.TextAt(obj, "status", "lastPhaseTransitionTime")
		if c.want == "now" {
			if at, err := time.Parse(time.RFC3339, got); err != nil || time.Since(at) > time.Hour {
				t.Errorf("%s: %s", name, got)
			}
			continue
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
