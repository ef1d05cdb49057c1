package story

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
)

// Recording is what a server answered: by the stories' names, the texts of the
// replies.
type Recording map[string][]json.RawMessage

// Record adds the texts of the replies to one story.
func (r Recording) Record(story string, replies []string) error {
	if _, twice := r[story]; twice {
		return fmt.Errorf("two stories are named %q", story)
	}
	r[story] = []json.RawMessage{}
	for _, text := range replies {
		r[story] = append(r[story], json.RawMessage(text))
	}
	return nil
}

// Save writes a recording to a file, with a line for each reply.
func (r Recording) Save(path string) error {
	var b bytes.Buffer
	for i, name := range slices.Sorted(maps.Keys(r)) {
		b.WriteString(map[bool]string{true: "{\n", false: ",\n"}[i == 0])
		fmt.Fprintf(&b, "%q: [", name)
		for j, reply := range r[name] {
			b.WriteString(map[bool]string{true: "\n ", false: ",\n "}[j == 0])
			b.Write(reply)
		}
		b.WriteString("\n]")
	}
	b.WriteString("\n}\n")
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// Load reads a recording from a file.
func Load(path string) (Recording, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := Recording{}
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
