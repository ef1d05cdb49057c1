package exchange

import (
	"encoding/json"
	"fmt"
	"os"
)

// Difference is where a gateway answers a step otherwise than kube-apiserver.
type Difference struct {
	// Story is the name of a story, and Step counts its steps from 0.
	Story string `json:"story"`
	Step  int    `json:"step"`
	// Own is the text of the gateway's reply, and Why the reason for it.
	Own json.RawMessage `json:"own"`
	Why string          `json:"why"`
}

// Differ reads differences from a file into the steps that they are about.
func Differ(stories []Story, path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var all []Difference
	if err := json.Unmarshal(b, &all); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	byName := map[string]Story{}
	for _, s := range stories {
		byName[s.Name] = s
	}
	for _, d := range all {
		steps := byName[d.Story].Steps
		if d.Step < 0 || d.Step >= len(steps) || d.Why == "" {
			return fmt.Errorf("%s: story %q has no step %d, or it is not said why", path, d.Story, d.Step)
		}
		steps[d.Step].Own, steps[d.Step].Why = string(d.Own), d.Why
	}
	return nil
}
