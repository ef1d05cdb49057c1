package aggregator

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/discovery"
)

var apiServices = schema.GroupResource{Group: apiregistrationv1.GroupName, Resource: "apiservices"}

// Objects reads APIServices, and the services that they name.
type Objects interface {
	client.Getter
	client.Lister
	client.Updater
	client.Follower
}

// Config is what Servers need; all fields are required but Believed.
type Config struct {
	Objects Objects
	// Certificate is what this server proves to others who it is by.
	Certificate func() (*tls.Certificate, error)
	// ByEndpoints has requests go to an endpoint of a service, not to its address.
	ByEndpoints bool
	// Here is where this gateway is reached, HOST:PORT, by the service of the API too.
	Here string
	// Believed are headers that nobody but this gateway may say something in.
	Believed Believed
	Log      zerolog.Logger
}

// Servers are the servers behind this one. They are safe for concurrent use.
type Servers struct {
	Config
	now atomic.Pointer[map[schema.GroupVersion]*server]
	mu  sync.Mutex // held by whoever changes it
	via string     // what this gateway calls itself among those that pass a request on

	found found
}

// New makes the servers; none is known before [Servers.Load].
func New(c Config) *Servers {
	s := &Servers{Config: c, via: "wasmgate-" + rand.Text()}
	s.now.Store(&map[schema.GroupVersion]*server{})
	s.found.wake, s.found.said = make(chan struct{}, 1), map[schema.GroupVersion]said{}
	s.found.wakeV2, s.found.described = make(chan struct{}, 1), map[schema.GroupVersion]described{}
	s.found.now.Store(&discovery.Others{})
	return s
}

// server is who serves a version of a group, as one state of an APIService says.
type server struct {
	of        *Servers
	gv        schema.GroupVersion
	name      string
	spec      apiregistrationv1.APIServiceSpec
	available bool
	transport *http.Transport
	// upgrades is the one for connections that change their protocol, each of which has
	// one request.
	upgrades *http.Transport
	// unusable is why there is no transport.
	unusable error
}

// Find implements api.Elsewhere.
func (s *Servers) Find(group, version string) api.Remote {
	if all := *s.now.Load(); len(all) > 0 && group != apiregistrationv1.GroupName { // which would lock everybody out
		if b := all[schema.GroupVersion{Group: group, Version: version}]; b != nil {
			return b
		}
	}
	return nil
}

// Load learns of the APIServices that there are.
func (s *Servers) Load(ctx context.Context) error {
	all, err := s.Objects.List(ctx, apiServices, "")
	if err != nil {
		return err
	}
	for _, o := range all {
		if err := s.update(ctx, o.GetName()); err != nil {
			return err
		}
	}
	return nil
}

// Follow learns of changes until ctx ends.
func (s *Servers) Follow(ctx context.Context) error {
	return s.Objects.Follow(ctx, apiServices, func(_, name string) {
		for _, name := range s.changed(name) {
			if err := s.update(ctx, name); err != nil && ctx.Err() == nil {
				s.Log.Error().Err(err).Str("apiservice", name).Msg("an APIService is not read, and what it said before counts")
			}
		}
	})
}

// changed are the APIServices to look at: that of a name, or without one all that are
// known, since some may have gone of which nothing was told.
func (s *Servers) changed(name string) (names []string) {
	if name != "" {
		return []string{name}
	}
	for _, b := range *s.now.Load() {
		names = append(names, b.name)
	}
	return names
}

// versionOf is the version that an APIService is of by its name, whatever that is.
func versionOf(name string) schema.GroupVersion {
	version, group, _ := strings.Cut(name, ".")
	return schema.GroupVersion{Group: group, Version: version}
}

// update reads one APIService.
func (s *Servers) update(ctx context.Context, name string) error {
	gv := versionOf(name)
	obj, err := s.Objects.Get(ctx, apiServices, "", name)
	var read apiregistrationv1.APIService
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return err
	default:
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &read); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := *s.now.Load()
	was := before[gv]
	if read.Spec.Service == nil && was == nil {
		return nil
	}
	after := maps.Clone(before)
	if read.Spec.Service == nil {
		delete(after, gv)
		was.close()
	} else {
		after[gv] = s.server(&read, gv, was)
	}
	s.now.Store(&after)
	s.found.look()
	return nil
}

// server is who serves what an APIService says; was is who did so before, whose
// connections are kept if they are the same.
func (s *Servers) server(a *apiregistrationv1.APIService, gv schema.GroupVersion, was *server) *server {
	b := &server{of: s, gv: gv, name: a.Name, spec: a.Spec, available: helper.IsAPIServiceConditionTrue(a, apiregistrationv1.Available)}
	if was != nil && equality.Semantic.DeepEqual(was.spec, a.Spec) {
		b.transport, b.upgrades, b.unusable = was.transport, was.upgrades, was.unusable
		return b
	}
	was.close()
	if b.transport, b.unusable = s.newTransport(a.Spec); b.unusable == nil {
		b.upgrades = forUpgrades(b.transport)
	}
	return b
}

func (b *server) close() {
	if b != nil && b.transport != nil {
		b.transport.CloseIdleConnections()
	}
}

// mostAhead is how much a server may send by HTTP/2 of a reply that its client does not take.
const mostAhead = 256 << 10

// headTimeout is how long a server may take to begin with its reply to a handshake.
const headTimeout = 10 * time.Second

// mostHead is how many bytes the head of a reply may have.
const mostHead = 1 << 20

// A server that sends nothing on a connection of HTTP/2 for silentTime is asked whether it
// is still there, and gone where it does not answer in pingTimeout.
const (
	silentTime  = 30 * time.Second
	pingTimeout = 15 * time.Second
)

func (s *Servers) newTransport(spec apiregistrationv1.APIServiceSpec) (*http.Transport, error) {
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, InsecureSkipVerify: spec.InsecureSkipTLSVerify, //nolint:gosec // as the object says
		ServerName:           spec.Service.Name + "." + spec.Service.Namespace + ".svc",
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return s.Certificate() },
	}
	if len(spec.CABundle) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(spec.CABundle) {
			return nil, errors.New("unable to load root certificates: unable to parse bytes as PEM block")
		}
	}
	return &http.Transport{
		TLSClientConfig: config, TLSHandshakeTimeout: headTimeout, ForceAttemptHTTP2: true, DisableCompression: true,
		MaxIdleConnsPerHost: 25, IdleConnTimeout: 90 * time.Second, DialContext: dialer.DialContext,
		MaxResponseHeaderBytes: mostHead,
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerStream: mostAhead, SendPingTimeout: silentTime, PingTimeout: pingTimeout},
	}, nil
}
