package story

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
)

// sightings name uids and revisions by where a telling of a story showed them
// first: "@3" is that of step 3, and "@3.1" another one of the same step. So replies
// of two servers are equal when the same objects and the same writes are meant.
type sightings struct {
	step  int
	count int // of those that this step showed first
	names map[string]string
	// shared tells that a revision is one of the moment, and that managedFields are left out.
	shared bool
}

// next begins a step.
func (s *sightings) next(step int) { s.step, s.count = step, 0 }

// name is that of a uid or a revision.
func (s *sightings) name(value string) string {
	if name, ok := s.names[value]; ok {
		return name
	}
	name := "@" + strconv.Itoa(s.step)
	if s.count > 0 {
		name += "." + strconv.Itoa(s.count)
	}
	s.count++
	if s.names == nil {
		s.names = map[string]string{}
	}
	s.names[value] = name
	return name
}

// moment stands for a time, a token, or a revision of a moment that is no write's.
const moment = "…"

// age is that of an object in a table.
var age = regexp.MustCompile(`^[0-9]+[smhdy]([0-9]+[smhd])?$`)

// forget removes what differs from run to run from objects, at any depth.
func (s *sightings) forget(v any) {
	switch v := v.(type) {
	case map[string]any:
		if meta, ok := v["metadata"].(map[string]any); ok {
			s.forgetMetadata(meta)
		}
		if v["kind"] == "Status" {
			s.forgetStatus(v)
		}
		if cells, ok := v["cells"].([]any); ok {
			for i, c := range cells {
				if text, ok := c.(string); ok {
					cells[i] = age.ReplaceAllString(text, moment)
				}
			}
		}
		for _, field := range slices.Sorted(maps.Keys(v)) {
			s.forget(v[field])
		}
	case []any:
		for _, item := range v {
			s.forget(item)
		}
	}
}

// forgetMetadata does so in the metadata of an object or a list.
func (s *sightings) forgetMetadata(meta map[string]any) {
	switch token := meta["continue"]; token {
	case nil:
	case "":
		delete(meta, "continue") // of a list of custom resources; to any client it means as much as none
	default:
		meta["continue"] = moment
	}
	for _, field := range []string{"creationTimestamp", "deletionTimestamp"} {
		if _, ok := meta[field].(string); ok {
			meta[field] = moment
		}
	}
	if uid, ok := meta["uid"].(string); ok && uid != "" {
		meta["uid"] = s.name(uid)
	}
	if revision, ok := meta["resourceVersion"].(string); ok && revision != "" {
		meta["resourceVersion"] = moment // of a list, or of a bookmark
		if _, isObject := meta["name"]; isObject && !s.shared {
			meta["resourceVersion"] = s.name(revision)
		}
	}
	if s.shared {
		delete(meta, "managedFields")
	}
	managed, _ := meta["managedFields"].([]any)
	for _, entry := range managed {
		if entry, ok := entry.(map[string]any); ok && entry["time"] != nil {
			entry["time"] = moment
		}
	}
	// They are in the order of their times, which often are of the same second.
	copy(managed, sorted(managed))
}

// forgetStatus does so in a Status: its texts quote objects and times.
func (s *sightings) forgetStatus(status map[string]any) {
	if message, ok := status["message"].(string); ok {
		status["message"] = lasting(message)
	}
	details, _ := status["details"].(map[string]any)
	if uid, ok := details["uid"].(string); ok && uid != "" {
		details["uid"] = s.name(uid)
	}
	causes, _ := details["causes"].([]any)
	for _, cause := range causes {
		cause, _ := cause.(map[string]any)
		if message, ok := cause["message"].(string); ok {
			cause["message"] = lasting(message)
		}
	}
}

// events are those of a watch.
func (s *sightings) events(d *json.Decoder) (map[string]any, error) {
	list := []any{}
	for d.More() {
		var event map[string]any
		if err := d.Decode(&event); err != nil {
			return nil, fmt.Errorf("event %d: %w", len(list), err)
		}
		s.forget(event)
		list = append(list, event)
	}
	return map[string]any{"events": list}, nil
}

// passing is what messages quote that differs from run to run: objects with
// their metadata, the numbers in CEL's names of types, uids and times.
var passing = regexp.MustCompile(`"\{\\".*\}": |selfType[0-9]+|resourceVersion: "[0-9]+"|(uid: |object meta: |UID in record \()[0-9a-f-]{36}|(ResourceVersion in (?:record \(|object meta: ))[0-9]+|(\s(?:creationTimestamp|time): ")[0-9TZ:-]+`)

// lasting is a message without it.
func lasting(message string) string { return passing.ReplaceAllString(message, "$1$2$3…") }
