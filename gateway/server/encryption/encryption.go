package encryption

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig/metrics"
	"k8s.io/apiserver/pkg/storage/value"
)

// HealthCheck is the name of the check of key services.
const HealthCheck = "kms-providers"

// Config says what is encrypted how. All fields but Reload are required.
type Config struct {
	// Path is the file.
	Path string
	// Reload lets its changes come into force.
	Reload bool
	// Gateway is what this one is called among those of a store; metrics have its
	// digest, as kube-apiserver's have.
	Gateway string
	// ResourceOf is the resource that a key belongs to; values of keys that belong to
	// none stay as they are.
	ResourceOf func(key string) schema.GroupResource
	Log        zerolog.Logger
}

// Encryption is the encryption that is in force. It is safe for concurrent use,
// except that Run runs once.
type Encryption struct {
	c            Config
	transformers *encryptionconfig.DynamicTransformers
	byResource   sync.Map // value.Transformer by schema.GroupResource
	// named are the resources that the file in force names.
	named  atomic.Pointer[map[schema.GroupResource]value.Transformer]
	probed bool // there may be key services
	log    zerolog.Logger

	// What follows is Run's alone.
	hash    string // of the file in force
	tried   string // of the file, or the error of reading it, that was tried last
	triedAt time.Time

	mu       sync.Mutex // guards what follows
	failures int        // since the last was told
	told     time.Time
}

// Load reads the file, which has to be valid. What it starts, to talk to key
// services, ends with ctx.
func Load(ctx context.Context, c Config) (*Encryption, error) {
	ctx, end := context.WithCancel(ctx)
	loaded, err := encryptionconfig.LoadEncryptionConfig(ctx, c.Path, c.Reload, c.Gateway)
	if err != nil {
		end()
		return nil, withoutSecrets(err)
	}
	e := &Encryption{c: c, log: c.Log, hash: loaded.EncryptionFileContentHash, tried: loaded.EncryptionFileContentHash}
	e.probed = len(loaded.HealthChecks) > 0
	e.transformers = encryptionconfig.NewDynamicTransformers(loaded.Transformers, all(loaded.HealthChecks), end, loaded.KMSCloseGracePeriod)
	e.named.Store(&loaded.Transformers)
	metrics.RecordEncryptionConfigLastConfigInfo(c.Gateway, loaded.EncryptionFileContentHash)
	return e, nil
}

// secrets are keys as errors of the library show them.
var secrets = regexp.MustCompile(`("Secret": ?)"[^"]*"`)

// withoutSecrets is an error without the keys that it shows: it goes to a log.
func withoutSecrets(err error) error {
	if text := err.Error(); secrets.MatchString(text) {
		return errors.New(secrets.ReplaceAllString(text, `$1"REDACTED"`))
	}
	return err
}

// all is one check for several.
func all(checks []healthz.HealthChecker) healthz.HealthChecker {
	return healthz.NamedCheck(HealthCheck, func(r *http.Request) error {
		var errs []error
		for _, c := range checks {
			if err := c.Check(r); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", c.Name(), err))
			}
		}
		return errors.Join(errs...)
	})
}

// Probed tells whether there is, or can be, anything that [Encryption.Healthy] looks
// at.
func (e *Encryption) Probed() bool { return e.probed }

// Healthy fails while a key service cannot be used.
func (e *Encryption) Healthy(ctx context.Context) error { return healthy(ctx, e.transformers) }

// healthy asks a check, which wants a request.
func healthy(ctx context.Context, check healthz.HealthChecker) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/healthz/"+HealthCheck, nil)
	if err != nil {
		return err
	}
	return check.Check(r)
}

// identity is the transformer of what no rule names: the library's, without what it
// allocates.
type identity struct{}

var errEncrypted = errors.New("identity transformer tried to read encrypted data")

// TransformToStorage implements value.Transformer.
func (identity) TransformToStorage(_ context.Context, plain []byte, _ value.Context) ([]byte, error) {
	return plain, nil
}

// TransformFromStorage implements value.Transformer.
func (identity) TransformFromStorage(_ context.Context, kept []byte, _ value.Context) ([]byte, bool, error) {
	if bytes.HasPrefix(kept, encryptedPrefix) {
		return nil, false, errEncrypted
	}
	return kept, false, nil
}

// encryptedPrefix begins what is encrypted, whoever it was by.
var encryptedPrefix = []byte("k8s:enc:")

// transformer is that of a key; nil where values stay as they are.
func (e *Encryption) transformer(key string) value.Transformer {
	gr := e.c.ResourceOf(key)
	if gr.Empty() {
		return nil
	}
	named := *e.named.Load()
	if named[gr] == nil && named[schema.GroupResource{Group: gr.Group, Resource: "*"}] == nil && named[schema.GroupResource{Group: "*", Resource: "*"}] == nil {
		return identity{}
	}
	if t, ok := e.byResource.Load(gr); ok {
		return t.(value.Transformer)
	}
	t, _ := e.byResource.LoadOrStore(gr, e.transformers.TransformerForResource(gr))
	return t.(value.Transformer)
}

// ToStorage is what is kept of a value under a key.
func (e *Encryption) ToStorage(ctx context.Context, key string, plain []byte) ([]byte, error) {
	t := e.transformer(key)
	if t == nil {
		return plain, nil
	}
	return t.TransformToStorage(ctx, plain, value.DefaultContext(key))
}

var errMalformed = errors.New("the stored data is malformed")

// FromStorage is the value of what is kept under a key. stale tells that it was not
// encrypted by the first provider of its resource, with its first key.
func (e *Encryption) FromStorage(ctx context.Context, key string, kept []byte) (plain []byte, stale bool, err error) {
	t := e.transformer(key)
	if t == nil {
		return kept, false, nil
	}
	// The library takes a value of aescbc that is a nonce and nothing else for one
	// with padding, and panics.
	defer func() {
		if p := recover(); p != nil {
			plain, stale, err = nil, false, fmt.Errorf("%w: %v", errMalformed, p)
		}
	}()
	return t.TransformFromStorage(ctx, kept, value.DefaultContext(key))
}

// tellEvery is how often the log tells of values that cannot be read.
const tellEvery = 10 * time.Second

// Failed tells the log of a value that cannot be read, and seldom of many.
func (e *Encryption) Failed(key string, err error) {
	e.mu.Lock()
	e.failures++
	n, now := e.failures, time.Now()
	tell := e.told.IsZero() || now.Sub(e.told) >= tellEvery
	if tell {
		e.told, e.failures = now, 0
	}
	e.mu.Unlock()
	if tell {
		e.log.Error().Err(err).Str("key", key).Int("values", n).Msg("what is stored cannot be decrypted")
	}
}
