package authn

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/wasmgate/wasmgate/gateway/bounds/files"
)

// maxConfiguration is how large a file of configuration may be.
const maxConfiguration = 4 << 20

// tryAgain is how soon what may work later is tried again.
const tryAgain = 10 * time.Second

// ErrLater is in errors about a file that may be used later, without a change of it.
var ErrLater = errors.New("tried again later")

// ReadConfiguration reads a file of configuration.
func ReadConfiguration(path string) ([]byte, error) { return files.Read(path, maxConfiguration) }

// Reread looks at a file of configuration until ctx ends, and has it used when it says
// something else than said, twice in a row, as it may not be whole the first time.
// What cannot be used is told, once, and with nil that the file counts as it is now.
func Reread(ctx context.Context, path string, said []byte, use func([]byte) error, told func(error)) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	f := reread{used: said, tried: said, last: said, use: use, told: told}
	for {
		select {
		case now := <-ticker.C:
			data, err := ReadConfiguration(path)
			f.look(now, data, err)
		case <-ctx.Done():
			return
		}
	}
}

// reread is what is known of a file that is read again and again.
type reread struct {
	used, tried, last []byte
	trouble           string
	next              time.Time
	use               func([]byte) error
	told              func(error)
}

func (f *reread) look(now time.Time, data []byte, err error) {
	settled := err == nil && bytes.Equal(data, f.last)
	f.last = data
	switch {
	case err != nil:
		f.failed(err)
	case !settled || bytes.Equal(data, f.tried) && f.next.IsZero() && !bytes.Equal(data, f.used):
	case bytes.Equal(data, f.used):
		f.tried, f.next = data, time.Time{}
		f.fine(f.trouble != "")
	case bytes.Equal(data, f.tried) && now.Before(f.next):
	default:
		f.tried, f.next = data, time.Time{}
		if err := f.use(data); err != nil {
			if errors.Is(err, ErrLater) {
				f.next = now.Add(tryAgain)
			}
			f.failed(err)
			return
		}
		f.used = data
		f.fine(true)
	}
}

func (f *reread) failed(err error) {
	if err.Error() != f.trouble {
		f.trouble = err.Error()
		f.told(err)
	}
}

func (f *reread) fine(news bool) {
	f.trouble = ""
	if news {
		f.told(nil)
	}
}
