// Package quarantine owns the memory of what was being loaded when the process
// ended: a file for each content while it is loaded. One that is found at the
// start was left by a process that ended in the middle, perhaps because of that
// content, and holds it back.
//
// It is kept on the disk of the gateway and not in etcd, because there only
// what this very disk remembers is certain: a mark in etcd may be that of
// another gateway which is loading right now. It must not know what a content
// is, or how it is loaded; plugins/registry calls it.
package quarantine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Suspect is the error of what a process ended with.
type Suspect struct {
	// Attempt is the attempt that it was, as it was given to Begin.
	Attempt string
}

// Error says what happened.
func (s *Suspect) Error() string {
	return "the gateway ended while this was being loaded"
}

// Marks are the marks of one process in one folder. They are safe for
// concurrent use.
type Marks struct {
	dir string

	mu sync.Mutex
	// suspects are the attempts that were left behind, by key. They count until
	// the key was loaded: two that name the same content must not take turns in
	// ending the process.
	suspects map[string][]string
	// loading is how many loads of a key are under way.
	loading map[string]int
	closed  bool
}

// mark is the content of a file: the attempts that nobody saw the end of.
type mark struct {
	Attempts []string `json:"attempts"`
}

// Open reads the marks in a folder, which is made if need be, and which no
// other process may use meanwhile.
func Open(dir string) (*Marks, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	m := &Marks{dir: dir, suspects: map[string][]string{}, loading: map[string]int{}}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), unfinished) { // nothing was begun with it
			if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
				return nil, fmt.Errorf("quarantine: %w", err)
			}
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, fmt.Errorf("quarantine: %w", err)
		}
		var left mark
		if err := json.Unmarshal(text, &left); err != nil {
			left = mark{} // cut off by the crash; that it is there says enough
		}
		if len(left.Attempts) == 0 {
			left.Attempts = []string{""}
		}
		m.suspects[f.Name()] = left.Attempts
	}
	return m, nil
}

// Begin says that key, which is a plain file name, is going to be loaded; end
// says that it was, well or not. The error is a *Suspect when a process ended
// in the same attempt before; any other attempt gets another chance.
func (m *Marks) Begin(key, attempt string) (end func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.Contains(m.suspects[key], attempt) {
		return nil, &Suspect{Attempt: attempt}
	}
	if err := m.write(key, mark{Attempts: append(slices.Clone(m.suspects[key]), attempt)}); err != nil {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	m.loading[key]++
	return sync.OnceFunc(func() { m.end(key) }), nil
}

// unfinished begins the names of marks that are being written; no key has it.
const unfinished = ".unfinished-"

// write makes a mark, and returns when it is on the disk. Where it fails the mark stays
// what it was: one that is there tells of a process that ended.
func (m *Marks) write(key string, content mark) error {
	text, err := json.Marshal(content)
	if err != nil {
		return err
	}
	temporary := filepath.Join(m.dir, unfinished+key)
	if err = put(temporary, text); err == nil {
		err = os.Rename(temporary, filepath.Join(m.dir, key))
	}
	if err != nil {
		_ = os.Remove(temporary)
		return err
	}
	return nil
}

// put writes a file, and returns when it is on the disk.
func put(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

func (m *Marks) end(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.loading[key]--; m.loading[key] > 0 {
		return
	}
	delete(m.loading, key)
	if m.closed {
		return
	}
	delete(m.suspects, key)
	_ = m.remove(key) // one that stays is found at the next start, which is safe
}

func (m *Marks) remove(key string) error {
	if err := os.Remove(filepath.Join(m.dir, key)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Close takes back the marks of what is still being loaded: the process ends
// because it was told to. Suspects stay.
func (m *Marks) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	var errs []error
	for key := range m.loading {
		if before := m.suspects[key]; len(before) > 0 {
			errs = append(errs, m.write(key, mark{Attempts: before}))
			continue
		}
		errs = append(errs, m.remove(key))
	}
	return errors.Join(errs...)
}
