package accept

import "testing"

// A field of metadata that is null is left out, one that there is not is refused.
func TestMetadataThatIsNull(t *testing.T) {
	for name, known := range map[string]bool{"labels": true, "generation": true, "odd": false} {
		if empty, ok := TidyField(name, nil); !empty || ok != known {
			t.Errorf("%s: empty %v, well-formed %v", name, empty, ok)
		}
	}
}

// Without a look at the library only what says which state it changes is accepted, and whose
// generation does not go back.
func TestMetadataThatChangesItsState(t *testing.T) {
	meta := func(version any, generation int64) map[string]any {
		m := map[string]any{"name": "a", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z", "generation": generation}
		if version != nil {
			m["resourceVersion"] = version
		}
		return m
	}
	for _, tc := range []struct {
		now  map[string]any
		want bool
	}{
		{meta("5", 3), true}, {meta("5", 2), true}, {meta("5", 1), false}, {meta("", 3), false}, {meta(int64(5), 3), false}, {meta(nil, 3), false},
	} {
		if got := acceptsChanged(tc.now, meta("5", 2)); got != tc.want {
			t.Errorf("%v: %v", tc.now, got)
		}
	}
}

// A list is tidy when it has only what it may have; whether it is empty is told beside.
func TestTidyLists(t *testing.T) {
	for _, c := range []struct {
		v         any
		empty, ok bool
	}{
		{[]any{}, true, true}, {[]any{"a"}, false, true}, {[]any{"a", "b"}, false, true},
		{[]any{"a", int64(1)}, false, false}, {"a", false, false}, {nil, false, false}, {map[string]any{}, false, false},
	} {
		if empty, ok := tidyList(c.v, IsString); empty != c.empty || ok != c.ok {
			t.Errorf("%v: empty %t, ok %t", c.v, empty, ok)
		}
	}
}
