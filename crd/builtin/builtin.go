package builtin

import (
	"fmt"
	"time"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin/declared"
	"github.com/wasmgate/wasmgate/lifecycle"
)

// DefaultEventTTL is how long events are kept unless Options say otherwise.
const DefaultEventTTL = time.Hour

// Options are what may be set about built-in kinds. The zero value is usable.
type Options struct {
	// EventTTL is how long events are kept; zero means DefaultEventTTL.
	EventTTL time.Duration
	// EssentialOnly leaves out the kinds that custom resources do not need,
	// unless Choice has them.
	EssentialOnly bool
	// Choice is which versions are served.
	Choice Choice
	// Release is the one whose versions there are; zero means the current one.
	Release lifecycle.Release
	// Declared is how the rules count that are generated from Go types.
	Declared declared.Modes
}

// All returns the built-in definitions. The only possible errors are a Choice that
// cannot be met and an embedded file that does not compile, which a test rules out.
func All(opts Options) ([]*crd.Definition, error) {
	if opts.EventTTL == 0 {
		opts.EventTTL = DefaultEventTTL
	}
	if opts.Release.IsZero() {
		opts.Release = lifecycle.Current
	}
	files, err := readFiles()
	if err == nil {
		err = opts.Choice.apply(files, opts.EssentialOnly, opts.Release)
	}
	if err != nil {
		return nil, err
	}
	all, err := fromFiles(files, opts.EventTTL)
	if err != nil {
		return nil, fmt.Errorf("built-in kinds: %w", err)
	}
	outdate(all, opts.Release)
	declare(all, opts.Declared)
	return all, nil
}
