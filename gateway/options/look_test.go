package options

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Files are looked at unless there are none, or the gateway may make them, or looking would
// take what is in them; what is wrong is told by the flag, once.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	there, made := filepath.Join(dir, "there"), filepath.Join(dir, "data", "pki", "ca.crt")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		paths  []string
		looked bool
	}{
		"a file":             {[]string{there}, true},
		"no file":            {[]string{"", ""}, false},
		"nothing but flags":  {nil, true},
		"one of two":         {[]string{"", there}, true},
		"missing":            {[]string{filepath.Join(dir, "missing")}, true},
		"beside the data":    {[]string{filepath.Join(data, "..", "missing")}, true},
		"one of the gateway": {[]string{made}, false},
		"and its key":        {[]string{there, made}, false},
		"read once":          {[]string{os.DevNull}, false},
		"a folder":           {[]string{dir}, true},
	} {
		looked := false
		err := Look([]File{{Flag: "a", Paths: c.paths, Look: func() error { looked = true; return errors.New("no") }}}, data)
		if looked != c.looked || (err != nil) != looked || err != nil && (err.Error() != "--a: no" || !errors.As(err, new(Mistake))) {
			t.Errorf("%s: looked %v, %v", name, looked, err)
		}
	}
	all := []File{
		{Flag: "none", Paths: []string{""}, Look: func() error { return errors.New("no") }},
		{Flag: "a", Look: func() error { return errors.New("--b: no") }}, {Flag: "c", Look: func() error { return nil }}, {Flag: "d", Look: func() error { return errors.New("no") }},
	}
	if err := Look(all, data); err == nil || err.Error() != "--b: no\n--d: no" {
		t.Error(err)
	}
	if err := Look(all[2:3], data); err != nil {
		t.Error(err)
	}
	if Below("", there) {
		t.Error("without a data directory it makes files")
	}
}
