package builtin

import (
	"fmt"
	"slices"
	"time"

	"github.com/wasmgate/wasmgate/crd"
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
}

// All returns the built-in definitions in the order of discovery. The only
// possible errors are a Choice that cannot be met and an embedded manifest that
// does not compile, which a test rules out.
func All(opts Options) ([]*crd.Definition, error) {
	if opts.EventTTL == 0 {
		opts.EventTTL = DefaultEventTTL
	}
	var own []*crd.Definition
	for _, text := range [][]byte{moduleManifest, versionPriorityManifest} {
		d, err := fromManifest(text)
		if err != nil {
			return nil, err
		}
		own = append(own, d)
	}
	files, err := readFiles()
	if err == nil {
		err = opts.Choice.apply(own, files, opts.EssentialOnly)
	}
	if err != nil {
		return nil, err
	}
	data, err := fromFiles(files, opts.EventTTL)
	if err != nil {
		return nil, fmt.Errorf("built-in kinds: %w", err)
	}
	return slices.Concat(own, data), nil
}
