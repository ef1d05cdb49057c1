package wasm

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/wasmgate/wasmgate/plugins"
)

// refusedFolder has a file for each module that takes more to compile than it
// may: finding that out takes minutes of a processor, and would be done again at
// each start.
const refusedFolder = "refused"

// maxAttempts bounds how many attempts are remembered, the last ones.
const maxAttempts = 20

// costly is why compiling a module was given up.
type costly struct {
	Reason plugins.LoadReason `json:"reason"`
	Detail string             `json:"detail"`
	// Terms are those of the compiler, and Attempts in which it was tried.
	Terms    string   `json:"terms"`
	Attempts []string `json:"attempts"`
}

// isCostly tells the refusals that are remembered: others come at once.
func isCostly(reason plugins.LoadReason) bool {
	return reason == plugins.CompileMemory || reason == plugins.CompileTime
}

// refused is the refusal that compiling a module ended with before, under the
// same terms and in the same attempt; nil when it is worth trying.
func (k *kept) refused(digest, terms, attempt string) error {
	c, ok := k.costly(digest)
	if !ok || c.Terms != terms || !slices.Contains(c.Attempts, attempt) {
		return nil
	}
	return &plugins.LoadError{Reason: c.Reason, Detail: c.Detail}
}

// refuse remembers err, if it is about what compiling takes, and returns it.
func (k *kept) refuse(digest, terms, attempt string, err error) error {
	var why *plugins.LoadError
	if !errors.As(err, &why) || !isCostly(why.Reason) {
		return err
	}
	c, ok := k.costly(digest)
	if !ok || c.Terms != terms {
		c = costly{Terms: terms}
	}
	c.Reason, c.Detail = why.Reason, why.Detail
	c.Attempts = append(c.Attempts, attempt)
	c.Attempts = c.Attempts[max(0, len(c.Attempts)-maxAttempts):]
	text, failed := json.Marshal(c)
	if failed == nil {
		failed = os.WriteFile(filepath.Join(k.dir, refusedFolder, digest), text, 0o600)
	}
	if failed != nil {
		return errors.Join(err, fmt.Errorf("remember that: %w", failed))
	}
	return err
}

// costly reads what is remembered; what a crash cut off is nothing.
func (k *kept) costly(digest string) (c costly, ok bool) {
	text, err := os.ReadFile(filepath.Join(k.dir, refusedFolder, digest))
	if err != nil || json.Unmarshal(text, &c) != nil {
		return costly{}, false
	}
	return c, isCostly(c.Reason)
}
