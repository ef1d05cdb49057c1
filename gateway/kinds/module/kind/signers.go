package kind

import (
	"context"
	"sync"
	"time"

	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

// signers are who vouches for modules, as their status says, for who audits what they
// decide. That is asked about every write, so it is remembered for a second.
type signers struct {
	objects client.Getter
	mu      sync.Mutex
	known   map[string]vouched // guarded by mu: by the name of the module
}

type vouched struct {
	digest string
	by     []string
	read   time.Time
}

// of are those of content of a module; none of one that is gone.
func (s *signers) of(ctx context.Context, name, digest string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.known[name]
	if ok && v.digest == digest && time.Since(v.read) < time.Second {
		return v.by
	}
	obj, err := s.objects.Get(ctx, gvr.Modules, "", name)
	if err != nil {
		delete(s.known, name)
		return nil
	}
	v = vouched{digest, module.SignersOf(obj, digest), time.Now()}
	s.known[name] = v
	return v.by
}
