package kubewarden

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// operation is one of a JSON patch.
type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

const (
	// maxDepth is how deep members are compared one by one: each level is read once
	// more.
	maxDepth = 4
	// maxOperations is how many differences are told one by one.
	maxOperations = 100
	// maxCompared is how many bytes are compared by members.
	maxCompared = 2 << 20
)

// difference is the patch that makes the object that a policy wants of the one that it
// was sent; nil when they are the same.
func difference(before, after json.RawMessage) ([]byte, error) {
	if !isObject(after) {
		return nil, errors.New("the object that it changed is none")
	}
	whole := []operation{{"replace", "", after}}
	switch {
	case bytes.Equal(before, after):
		return nil, nil
	case !isObject(before), len(before)+len(after) > maxCompared:
		return json.Marshal(whole)
	}
	all := compare(nil, "", before, after, 0)
	switch {
	case len(all) == 0:
		return nil, nil
	case len(all) > maxOperations:
		all = whole
	}
	return json.Marshal(all)
}

// compare appends what differs. Members are compared one by one near the top, and by
// their text below, so that an object that was only written otherwise is replaced by
// its equal.
func compare(all []operation, path string, before, after json.RawMessage, depth int) []operation {
	if len(all) > maxOperations || bytes.Equal(before, after) || same(before, after) {
		return all
	}
	if depth == maxDepth || !isObject(before) || !isObject(after) {
		return append(all, operation{"replace", path, after})
	}
	was, is := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil {
		return append(all, operation{"replace", path, after})
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		at := path + "/" + escape(name)
		if value, kept := is[name]; kept {
			all = compare(all, at, was[name], value, depth+1)
		} else {
			all = append(all, operation{Op: "remove", Path: at})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if _, kept := was[name]; !kept {
			all = append(all, operation{"add", path + "/" + escape(name), is[name]})
		}
	}
	return all
}

// same tells whether two texts are one value, written alike but for white space, the
// order of members and escapes.
func same(a, b json.RawMessage) bool {
	x, errX := canonical(a)
	y, errY := canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func canonical(text json.RawMessage) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// escape writes a name as it is in paths of patches.
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
