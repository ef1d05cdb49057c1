package authn

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestReread looks at a file that says, each second, something: it is used once it says
// the same twice.
func TestReread(t *testing.T) {
	missing := errors.New("missing")
	for name, c := range map[string]struct {
		says []any
		want []string
	}{
		"nothing new":             {[]any{"a", "a"}, nil},
		"another":                 {[]any{"b", "b", "b"}, []string{"use b", "fine"}},
		"half written":            {[]any{"b", "bc", "bc"}, []string{"use bc", "fine"}},
		"back before it was used": {[]any{"b", "a", "a"}, nil},
		"wrong, once":             {[]any{"wrong", "wrong", "wrong", "wrong"}, []string{"use wrong", "told wrong"}},
		"wrong, and back":         {[]any{"wrong", "wrong", "a", "a"}, []string{"use wrong", "told wrong", "fine"}},
		"wrong, then right":       {[]any{"wrong", "wrong", "b", "b"}, []string{"use wrong", "told wrong", "use b", "fine"}},
		"missing, once":           {[]any{missing, missing, "a", "a"}, []string{"told missing", "fine"}},
		"later":                   {append(slices.Repeat([]any{"later"}, 13), "a", "a"), []string{"use later", "told later: tried again later", "use later", "fine"}},
	} {
		var got []string
		f := reread{used: []byte("a"), tried: []byte("a"), last: []byte("a"), use: func(data []byte) error {
			got = append(got, "use "+string(data))
			switch string(data) {
			case "wrong":
				return errors.New("wrong")
			case "later":
				return fmt.Errorf("later: %w", ErrLater)
			}
			return nil
		}, told: func(err error) {
			if err != nil {
				got = append(got, "told "+err.Error())
				return
			}
			got = append(got, "fine")
		}}
		now := time.Now()
		for _, s := range c.says {
			now = now.Add(time.Second)
			switch s := s.(type) {
			case string:
				f.look(now, []byte(s), nil)
			case error:
				f.look(now, nil, s)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
