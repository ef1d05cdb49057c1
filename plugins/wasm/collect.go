package wasm

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	// spareTime is how long code is kept that no module uses, and spareBytes how
	// much of it: for a way back, and for a module that comes again.
	spareTime  = 24 * time.Hour
	spareBytes = 512 << 20
	// spareRefusals is how many refusals are remembered.
	spareRefusals = 1000
)

// Collect removes compiled code that no module uses any more: what was unused for
// a day, and of the rest what was unused for longest, beyond half a gigabyte. It
// may be called while modules are loaded; what is in use, or being compiled, is
// left alone. What is used again is compiled again. Before the modules of a
// process are loaded none is in use, so it is not to be called then.
func (e *Engine) Collect() error {
	if e.kept == nil {
		return nil
	}
	if err := errors.Join(e.kept.collect(time.Now()), e.kept.forget()); err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	return nil
}

// use tells that somebody uses the code of a module, or is going to, until
// release is called.
func (k *kept) use(digest string) (release func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.users[digest]++
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.users[digest]--; k.users[digest] == 0 {
			delete(k.users, digest)
			// Where that fails it counts as unused for longer.
			_ = os.Chtimes(k.line(digest), time.Time{}, time.Now())
		}
	}
}

// spare is a file of code that nobody uses.
type spare struct {
	path   string
	digest string // of its module, "" where the index does not say
	size   int64
	since  time.Time
}

func (k *kept) collect(now time.Time) error {
	k.mu.Lock() // nobody begins to use what is being removed
	defer k.mu.Unlock()
	all, err := k.sparesLocked()
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b spare) int {
		return cmp.Or(b.since.Compare(a.since), cmp.Compare(a.path, b.path)) // the last used first
	})
	var sum int64
	var errs []error
	for _, s := range all {
		if sum += s.size; sum <= k.most && now.Sub(s.since) < spareTime {
			continue
		}
		errs = append(errs, remove(s.path))
		if s.digest != "" {
			errs = append(errs, remove(k.line(s.digest)))
		}
	}
	return errors.Join(errs...)
}

// sparesLocked are all files of code but those in use, also of other versions of
// the compiler.
func (k *kept) sparesLocked() ([]spare, error) {
	lines, err := os.ReadDir(filepath.Join(k.dir, indexFolder))
	if err != nil {
		return nil, err
	}
	type line struct {
		digest string
		since  time.Time
	}
	byPath := map[string]line{}
	for _, l := range lines {
		info, err := l.Info()
		if err != nil {
			return nil, err
		}
		if e, ok := k.entry(l.Name()); ok {
			byPath[filepath.Join(k.dir, e.path)] = line{l.Name(), info.ModTime()}
		}
	}
	paths, err := filepath.Glob(filepath.Join(k.dir, codeFolder, "*"))
	if err != nil {
		return nil, err
	}
	var all []spare
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			return nil, err
		}
		s := spare{path: path, size: info.Size(), since: info.ModTime()}
		if l, ok := byPath[path]; ok {
			s.digest, s.since = l.digest, l.since
		}
		if k.users[s.digest] > 0 {
			continue
		}
		if s.since.Before(k.opened) { // while no process ran it was of use to none
			s.since = k.opened
		}
		all = append(all, s)
	}
	return all, nil
}

// forget drops the oldest refusals, when there are too many.
func (k *kept) forget() error {
	files, err := os.ReadDir(filepath.Join(k.dir, refusedFolder))
	if err != nil || len(files) <= spareRefusals {
		return err
	}
	times := map[string]time.Time{}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			return err
		}
		times[f.Name()] = info.ModTime()
	}
	slices.SortFunc(files, func(a, b fs.DirEntry) int { return times[a.Name()].Compare(times[b.Name()]) })
	var errs []error
	for _, f := range files[:len(files)-spareRefusals] {
		errs = append(errs, remove(filepath.Join(k.dir, refusedFolder, f.Name())))
	}
	return errors.Join(errs...)
}

// remove removes a file that may be gone.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
