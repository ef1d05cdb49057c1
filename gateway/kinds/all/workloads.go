package all

import (
	"cmp"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/accessreview"
	"github.com/wasmgate/wasmgate/gateway/kinds/componentstatus"
	"github.com/wasmgate/wasmgate/gateway/kinds/pod"
	"github.com/wasmgate/wasmgate/gateway/kinds/service"
	"github.com/wasmgate/wasmgate/gateway/kinds/serviceaccount"
	"github.com/wasmgate/wasmgate/gateway/kinds/storageobject"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

var (
	pods     = schema.GroupResource{Resource: "pods"}
	accounts = schema.GroupResource{Resource: "serviceaccounts"}
)

// services have addresses and ports, and a ledger of them.
func (c Config) services() kinds.Kind {
	if c.Services == nil {
		return kinds.Kind{}
	}
	return kinds.Kind{Serve: func(e *kinds.Engine) (kinds.Served, error) {
		objects := as(e, "services")
		return kinds.Served{Controllers: func() []kinds.Controller {
			return []kinds.Controller{
				{Controller: service.NewAPI(objects, *c.Services, c.Options.SecurePort)},
				{Controller: service.NewLedger(objects)},
			}
		}}, nil
	}}
}

// pods are bound and evicted, and connected to.
func (c Config) pods() kinds.Kind {
	if c.Services == nil {
		return kinds.Kind{}
	}
	return kinds.Kind{Serve: func(e *kinds.Engine) (kinds.Served, error) {
		of := func(caller resource.Caller) pod.Objects { return local.New(e, caller) }
		at := func(name string) api.ContentPath { return api.ContentPath{GroupResource: pods, Subresource: name} }
		questions := map[api.ContentPath]api.Question{at("log"): {Verb: "get", Code: http.StatusOK, Answer: pod.Log(of)}}
		for name, answer := range pod.Created(of, e) {
			questions[at(name)] = api.Question{Verb: "create", Code: http.StatusCreated, Answer: answer}
		}
		connections := map[api.ContentPath]api.Connection{}
		for name, c := range pod.Connections(of, e) {
			connections[at(name)] = c
		}
		return kinds.Served{Questions: questions, Connections: connections}, nil
	}}
}

// volumes are kept while they are in use.
func (c Config) volumes() kinds.Kind {
	if c.Services == nil {
		return kinds.Kind{}
	}
	return kinds.Kind{Serve: func(e *kinds.Engine) (kinds.Served, error) {
		protect := func(name string, gr schema.GroupResource) kinds.Controller {
			return kinds.Controller{Switch: name, Controller: storageobject.NewController(as(e, "storage-protection"), gr)}
		}
		return kinds.Served{Controllers: func() []kinds.Controller {
			return []kinds.Controller{
				protect(options.PersistentVolumeClaims, storageobject.Claims), protect(options.PersistentVolumes, storageobject.Volumes),
				protect(options.VolumeAttributesClasses, storageobject.Classes),
			}
		}}, nil
	}}
}

// serviceAccounts have tokens.
func (c Config) serviceAccounts() kinds.Kind {
	return kinds.Kind{Serve: func(e *kinds.Engine) (kinds.Served, error) {
		tokens, err := newTokens(c.Options, as(e, "tokens"))
		if err != nil {
			return kinds.Served{}, err
		}
		published, err := published(tokens, cmp.Or(c.Options.ServiceAccountJWKSURI, c.URL+serviceaccount.KeySetPath))
		if err != nil {
			return kinds.Served{}, err
		}
		return kinds.Served{Documents: published, Authenticators: []authn.Authenticator{tokens}, Questions: map[api.ContentPath]api.Question{
			{GroupResource: accounts, Subresource: "token"}: {Verb: "create", Code: http.StatusCreated, Answer: serviceaccount.Question{Tokens: tokens, Judge: e}.Answer},
		}}, nil
	}}
}

// accessReviews say who somebody is, and what is allowed.
func (c Config) accessReviews() kinds.Kind {
	return kinds.Kind{Serve: func(*kinds.Engine) (kinds.Served, error) {
		return kinds.Served{Reviews: func(who authn.Authenticator, may authz.Decider) map[schema.GroupResource]api.Review {
			return accessreview.Answers{Authenticator: who, Decider: may}.All()
		}}, nil
	}}
}

// componentStatuses tell of the control plane that the gateway is part of.
func (c Config) componentStatuses() kinds.Kind {
	parts := componentstatus.New(c.StoreHealth, componentstatus.Scheduler, componentstatus.ControllerManager)
	return kinds.Kind{Reports: map[schema.GroupResource]resource.Report{componentstatus.Resource: parts.Report}}
}
