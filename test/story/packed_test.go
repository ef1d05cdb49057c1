package story

import (
	"errors"
	"slices"
	"testing"
)

func TestPackedRepliesAreThoseOfTheirRequests(t *testing.T) {
	s := Story{Name: "a", Steps: []Step{{Method: "GET", Path: "/a"}, {Method: "GET", Path: "/b"}, {Method: "GET", Path: "/a"}}}
	file := t.TempDir() + "/a.json.gz"
	want := []string{`{"code":200,"body":{"a":"<&>\u2028"}}`, `{"code":404}`, `{"code":200,"body":{"a":"<&>\u2028"}}`}
	if err := s.Pack(file, want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Unpack(file)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	s.Steps[1].Body = "{}"
	if _, err := s.Unpack(file); !errors.Is(err, ErrOtherRequests) {
		t.Errorf("replies to other requests: %v", err)
	}
}
