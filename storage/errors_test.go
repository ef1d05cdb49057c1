package storage

import (
	"errors"
	"fmt"
	"testing"
)

func TestErrorSaysWhatIsKnown(t *testing.T) {
	cause := errors.New("gone fishing")
	for _, tc := range []struct {
		err  *Error
		want string
	}{
		{&Error{Kind: NotFound}, "storage: key not found"},
		{&Error{Kind: Conflict, Key: "/a", Revision: 7}, "storage: revision conflict: /a (revision 7)"},
		{&Error{Kind: Unavailable, Cause: cause}, "storage: store unavailable: gone fishing"},
		{&Error{Kind: Compacted, Revision: 3, Cause: cause}, "storage: revision compacted (revision 3): gone fishing"},
	} {
		if got := tc.err.Error(); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
		if got := KindOf(fmt.Errorf("wrapped: %w", tc.err)); got != tc.err.Kind {
			t.Errorf("%q: kind %v", tc.want, got)
		}
		if !errors.Is(tc.err, tc.err.Cause) && tc.err.Cause != nil {
			t.Errorf("%q hides its cause", tc.want)
		}
	}
	if KindOf(cause) != 0 || KindOf(nil) != 0 {
		t.Error("an error of somebody else has a kind")
	}
}
