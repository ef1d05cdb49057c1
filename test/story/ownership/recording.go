package ownership

import (
	"encoding/json"
	"fmt"

	"github.com/wasmgate/wasmgate/test/recorded"
	"github.com/wasmgate/wasmgate/test/story"
)

// Table is the name of the table among the recordings.
const Table = "ownership"

// Recorded is the story as recordings tell it.
func (s Story) Recorded() story.Story {
	told := story.Story{Name: s.Name}
	for _, step := range s.Steps {
		out := story.Step{Method: step.Method, Path: step.Path, Type: step.Type, Body: step.Body}
		if step.Agent != "" {
			out.Headers = []string{"User-Agent", step.Agent}
		}
		told.Add(out)
	}
	return told
}

// Save writes what was answered to each step into a folder of recordings.
func (s Story) Save(folder string, replies []Reply) error {
	var texts []string
	for _, r := range replies {
		b, err := json.Marshal(r)
		if err != nil {
			return err
		}
		texts = append(texts, string(b))
	}
	return recorded.Save(folder, Table, s.Recorded(), texts)
}

// Load reads what [Story.Save] wrote.
func (s Story) Load(folder string) ([]Reply, error) {
	r, err := recorded.Load(folder, Table, s.Recorded())
	if err != nil {
		return nil, err
	}
	replies := make([]Reply, len(r.Replies))
	for i, text := range r.Replies {
		if err := json.Unmarshal([]byte(text), &replies[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Headings[i], err)
		}
	}
	return replies, nil
}
