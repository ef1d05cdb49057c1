package catalog

import "testing"

func TestSplitAndJoinKeys(t *testing.T) {
	for key, want := range map[string][2]string{"a/b": {"a", "b"}, "b": {"", "b"}, "a/b/c": {"a", "b/c"}} {
		ns, name := SplitKey(key)
		if ns != want[0] || name != want[1] || JoinKey(ns, name) != key {
			t.Errorf("%s: %s %s", key, ns, name)
		}
	}
}
