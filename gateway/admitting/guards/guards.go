package guards

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
)

// pollInterval is how often folders are looked at.
const pollInterval = 500 * time.Millisecond

// retryPause is after how long what was not accepted for a [Passing] reason is tried again.
// Each further time it is twice as long, up to longestPause: what never ends takes a
// processor each time.
const (
	retryPause   = 10 * time.Second
	longestPause = 5 * time.Minute
)

// Passing is why what a folder says is not accepted just now, though it may be later.
type Passing struct {
	// Err is the reason.
	Err error
}

// Error implements error.
func (p Passing) Error() string { return p.Err.Error() }

// Unwrap is the reason.
func (p Passing) Unwrap() error { return p.Err }

// Config is what guards are made of. All fields are required.
type Config struct {
	// Path is the AdmissionConfiguration.
	Path string
	// Allowed tells that folders are: the feature is on.
	Allowed bool
	// Admits reports whether an admission plugin is on.
	Admits func(plugin string) bool
	// Definitions are the built-in kinds.
	Definitions []*crd.Definition
	// Told is told of every folder that is in force, and of one that cannot be used.
	Told func(plugin string, s *State, err error)
}

// Guards are those of all folders. It is safe for concurrent use; nil has none.
type Guards struct {
	told    func(plugin string, s *State, err error)
	folders map[string]*Folder
	shown   map[string]*Credentials
	texts   map[string][]byte
}

// Folder is that of one plugin. It is safe for concurrent use; nil is an empty one.
type Folder struct {
	reader
	current atomic.Pointer[State]
	// accept prepares what is to be in force, and refuses it: with [Passing] until it is
	// asked again.
	accept func(context.Context, *State) error

	// Only of who follows: what was seen last, whether looking failed since, and when to
	// try it again, zero for when it is another.
	seen sight
	lost bool
	due  time.Time
	// pause is how long it was waited for due.
	pause time.Duration

	mu      sync.Mutex
	trouble error
	changed chan struct{}
}

// New reads all folders, each of which has to be usable.
func New(ctx context.Context, c Config) (*Guards, error) {
	config, err := readConfig(c.Path)
	if err != nil {
		return nil, err
	}
	for _, plugin := range others {
		if config.texts[plugin] != nil && !c.Admits(plugin) {
			return nil, fmt.Errorf("%s is configured and is off: --%s-admission-plugins", plugin, whichSwitches(plugin))
		}
	}
	kinds := kindsOf(c.Definitions)
	g := &Guards{told: c.Told, folders: map[string]*Folder{}, shown: config.credentials, texts: config.texts}
	for _, plugin := range slices.Sorted(maps.Keys(config.folders)) {
		switch folder := config.folders[plugin]; {
		case config.credentials[plugin] != nil && !c.Admits(plugin):
			return nil, fmt.Errorf("%s has a kubeConfigFile and is off: --disable-admission-plugins", plugin)
		case folder == "":
			continue
		case !c.Allowed:
			return nil, errors.New("staticManifestsDir: Forbidden: staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled")
		case plugin != Modules && !c.Admits(plugin):
			return nil, fmt.Errorf("%s has a folder and is off: --disable-admission-plugins", plugin)
		}
		f := &Folder{reader: reader{plugin: plugin, folder: config.folders[plugin], kinds: kinds}, changed: make(chan struct{})}
		var s *State
		if f.seen, err = look(f.folder); err == nil {
			s, err = f.read(ctx, f.seen)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", plugin, err)
		}
		f.current.Store(s)
		g.folders[plugin] = f
		g.told(plugin, s, nil)
	}
	return g, nil
}

// Folder is that of a plugin, nil for none.
func (g *Guards) Folder(plugin string) *Folder {
	if g == nil {
		return nil
	}
	return g.folders[plugin]
}

// Credentials are what the webhooks of a plugin are shown, nil for nothing.
func (g *Guards) Credentials(plugin string) *Credentials {
	if g == nil {
		return nil
	}
	return g.shown[plugin]
}

// Configuration is what the file says of a plugin that has no folder, nil for nothing.
func (g *Guards) Configuration(plugin string) []byte {
	if g == nil {
		return nil
	}
	return g.texts[plugin]
}

// All are the folders by the names of their plugins.
func (g *Guards) All() map[string]*Folder {
	if g == nil {
		return nil
	}
	return g.folders
}

// Check fails while a folder cannot be used as it is.
func (g *Guards) Check(context.Context) error {
	var errs []error
	for _, plugin := range slices.Sorted(maps.Keys(g.All())) {
		if err := g.folders[plugin].Trouble(); err != nil {
			errs = append(errs, fmt.Errorf("%s: what it said before is in force: %w", plugin, err))
		}
	}
	return errors.Join(errs...)
}

// Follow keeps the folders in force until ctx ends.
func (g *Guards) Follow(ctx context.Context) {
	var all sync.WaitGroup
	for plugin, f := range g.All() {
		all.Go(func() {
			for controller.Pause(ctx, pollInterval) {
				if told, err := f.reread(ctx); told && ctx.Err() == nil {
					g.told(plugin, f.Current(), err)
				}
			}
		})
	}
	all.Wait()
}

// reread puts the folder in force if it is another; news tells that it is, or cannot be
// used for another reason than before.
func (f *Folder) reread(ctx context.Context) (news bool, err error) {
	now, err := look(f.folder)
	if err != nil {
		f.lost = true
		return f.settle(nil, err), err
	}
	if !now.same(f.seen) {
		f.pause = 0
	}
	if again := !f.due.IsZero() && !time.Now().Before(f.due); now.same(f.seen) && !f.lost && !again {
		return false, nil
	}
	f.seen, f.lost, f.due = now, false, time.Time{}
	s, err := f.read(ctx, now)
	if err == nil && s.Hash != f.Current().Hash && f.accept != nil {
		err = f.accept(ctx, s)
	}
	if errors.As(err, &Passing{}) {
		f.pause = min(max(2*f.pause, retryPause), longestPause)
		f.due = time.Now().Add(f.pause)
	} else {
		f.pause = 0
	}
	return f.settle(s, err), err
}

// settle notes how a folder was found.
func (f *Folder) settle(s *State, err error) (news bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.trouble
	f.trouble = err
	if err != nil {
		return was == nil || was.Error() != err.Error()
	}
	if s.Hash == f.Current().Hash {
		return was != nil // it is again as what is in force
	}
	f.current.Store(s)
	close(f.changed)
	f.changed = make(chan struct{})
	return true
}

// Accept lets prepare see, and refuse, what is to be in force: at once what is.
func (f *Folder) Accept(ctx context.Context, prepare func(context.Context, *State) error) error {
	if f == nil {
		return nil
	}
	f.accept = prepare
	return prepare(ctx, f.Current())
}

// Current is what is in force.
func (f *Folder) Current() *State {
	if f == nil {
		return nothing
	}
	return f.current.Load()
}

var nothing = &State{}

// Path is where the folder is.
func (f *Folder) Path() string { return f.folder }

// Trouble is why the folder cannot be used as it is, nil if it can.
func (f *Folder) Trouble() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.trouble
}

// Changed is closed when something else is in force.
func (f *Folder) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

// whichSwitches tells which of two flags says that a plugin is off, or does not say that
// it is on.
func whichSwitches(plugin string) string {
	if order.DefaultOf(plugin) == order.Off {
		return "enable"
	}
	return "disable"
}
