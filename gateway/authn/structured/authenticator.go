package structured

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	authenticationcel "k8s.io/apiserver/pkg/authentication/cel"
	"k8s.io/apiserver/pkg/authentication/token/cache"
	"k8s.io/apiserver/pkg/authentication/token/union"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/server/options/authenticationconfig/metrics"

	"github.com/wasmgate/wasmgate/gateway/authn"
)

const (
	// remembered is how long a token counts that was believed, as in kube-apiserver.
	remembered = 10 * time.Second
	// healthyWithin is how long the issuers of a changed file may take to tell their
	// keys, and lingers how long those of the former are believed by requests that
	// have begun.
	healthyWithin = time.Minute
	healthyPoll   = 100 * time.Millisecond
	lingers       = time.Minute
)

// Config is what an [Authenticator] is made of.
type Config struct {
	// Path is that of the file; "" is none.
	Path string
	// Flags is what counts without a file; nil for nothing.
	Flags *apiserver.AuthenticationConfiguration
	// SigningAlgs are those that tokens may be signed by; none is RS256.
	SigningAlgs []string
	// Audiences are whom the tokens of this gateway are for, and Issuers who issues its
	// own: nobody else may be one of them.
	Audiences, Issuers []string
	// Gateway is what this gateway is called among those that share a store.
	Gateway string
	Webhook Webhook
}

// Authenticator believes tokens that others issue.
type Authenticator struct {
	c        Config
	ctx      context.Context // of all that runs behind it
	end      context.CancelFunc
	compiler authenticationcel.Compiler

	said      []byte // by the file at first
	anonymous *apiserver.AnonymousAuthConfig
	issuers   atomic.Pointer[issuers]
	tokens    authenticator.Token
}

// New reads the file and begins to ask issuers for their keys. The Authenticator is to
// be closed.
func New(ctx context.Context, c Config) (*Authenticator, error) {
	a := &Authenticator{c: c}
	a.ctx, a.end = context.WithCancel(ctx)
	if err := a.configure(); err != nil {
		a.end()
		return nil, err
	}
	return a, nil
}

func (a *Authenticator) configure() error {
	asks, configured, err := a.read()
	if err != nil {
		return err
	}
	a.tokens = cache.New(known{union.New(append([]authenticator.Token{authenticator.TokenFunc(a.byIssuers)}, asks...)...)}, true, remembered, 0)
	if a.c.Path != "" {
		metrics.RegisterMetrics()
		metrics.RecordAuthenticationConfigLastConfigInfo(a.c.Gateway, string(a.said))
	}
	if configured == nil {
		a.issuers.Store(&issuers{Token: union.New()})
		return nil
	}
	first, err := newIssuers(a.ctx, a.compiler, configured, a.c)
	if err == nil {
		a.issuers.Store(first)
	}
	return err
}

// read reads what the configuration names: who is asked about all tokens, and, nil for
// nothing, which issuers there are.
func (a *Authenticator) read() (asks []authenticator.Token, configured *apiserver.AuthenticationConfiguration, err error) {
	if a.c.Webhook.Path != "" {
		webhook, err := a.c.Webhook.authenticator(a.c.Audiences)
		if err != nil {
			return nil, nil, fmt.Errorf("--authentication-token-webhook-config-file: %w", err)
		}
		asks = append(asks, webhook)
	}
	configured = a.c.Flags
	if a.c.Path != "" {
		if a.said, err = authn.ReadConfiguration(a.c.Path); err == nil {
			configured, err = decode(a.said)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("--authentication-config: failed to load authentication configuration from file %q: %w", a.c.Path, err)
		}
	}
	if configured == nil {
		return asks, nil, nil
	}
	a.anonymous, a.compiler = configured.Anonymous, authenticationcel.NewDefaultCompiler()
	return asks, configured, validate(a.compiler, configured, a.c.Issuers)
}

// Look tells why nothing can be made of a configuration, and asks nobody. It returns what
// is said of who shows nothing; nil for nothing.
func Look(c Config) (*apiserver.AnonymousAuthConfig, error) {
	a := &Authenticator{c: c}
	_, configured, err := a.read()
	if configured == nil || err != nil {
		return nil, err
	}
	for _, j := range configured.JWT {
		if _, err := asking(j.Issuer); err != nil {
			return nil, err
		}
	}
	return a.anonymous, nil
}

// Close ends what asks issuers for their keys.
func (a *Authenticator) Close() { a.end() }

// Anonymous is what the file says of who shows nothing; nil for nothing.
func (a *Authenticator) Anonymous() *apiserver.AnonymousAuthConfig { return a.anonymous }

// Authenticate implements [authn.Authenticator].
func (a *Authenticator) Authenticate(ctx context.Context, r authn.Request) (*authn.User, bool, error) {
	if r.BearerToken == "" {
		return nil, false, nil
	}
	audiences := a.c.Audiences
	if len(r.Audiences) > 0 {
		audiences = r.Audiences
	}
	response, ok, err := a.tokens.AuthenticateToken(authenticator.WithAudiences(ctx, audiences), r.BearerToken)
	if err != nil || !ok {
		return nil, false, err
	}
	who, ok := response.User.(*authn.User)
	return who, ok, nil
}

func (a *Authenticator) byIssuers(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	return a.issuers.Load().AuthenticateToken(ctx, token)
}

// known makes users of the library's those of the gateway, before they are remembered.
type known struct{ authenticator.Token }

// AuthenticateToken implements authenticator.Token.
func (k known) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	r, ok, err := k.Token.AuthenticateToken(ctx, token)
	if err != nil || !ok || r == nil || r.User == nil {
		return nil, false, err
	}
	out := *r
	out.User = userOf(r.User)
	return &out, true, nil
}

func userOf(u user.Info) *authn.User {
	return authn.NewUser(authn.User{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: u.GetExtra()})
}

// Run brings changes of the file into force until ctx ends. told hears, once each,
// why one cannot be used, and nil of those that can; late hears which issuers have not
// told their keys, and nil when all have.
func (a *Authenticator) Run(ctx context.Context, told, late func(error)) {
	go a.watchIssuers(ctx, late)
	if a.c.Path == "" {
		<-ctx.Done()
		return
	}
	authn.Reread(ctx, a.c.Path, a.said, func(data []byte) error { return a.use(ctx, data) }, func(err error) {
		if err != nil {
			metrics.RecordAuthenticationConfigAutomaticReloadFailure(a.c.Gateway)
		}
		told(err)
	})
}

// use puts another file into force, once its issuers have told their keys.
func (a *Authenticator) use(ctx context.Context, data []byte) error {
	c, err := decode(data)
	if err == nil {
		err = validate(a.compiler, c, a.c.Issuers)
	}
	if err == nil && !reflect.DeepEqual(c.Anonymous, a.anonymous) {
		err = errors.New("anonymous: Forbidden: changed from initial configuration file")
	}
	if err != nil {
		return err
	}
	next, err := newIssuers(a.ctx, a.compiler, c, a.c)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, healthyWithin)
	defer cancel()
	for err = next.healthy(); err != nil; err = next.healthy() {
		select {
		case <-time.After(healthyPoll):
		case <-within.Done():
			next.end()
			return fmt.Errorf("%w: %w", authn.ErrLater, err)
		}
	}
	former := a.issuers.Swap(next)
	time.AfterFunc(lingers, former.end)
	metrics.RecordAuthenticationConfigAutomaticReloadSuccess(a.c.Gateway, string(data))
	return nil
}

// watchIssuers tells which issuers are late.
func (a *Authenticator) watchIssuers(ctx context.Context, late func(error)) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	said := ""
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		now := a.issuers.Load()
		err := now.healthy()
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != said {
			said = text
			late(err)
		}
	}
}
