package serviceaccount

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/plugin"
	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/pki"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of ServiceAccounts, which have tokens, of which every namespace has one,
// and which pods run as.
func Kind(c kinds.Config) kinds.Kind {
	return kinds.Kind{Admission: func(e *engine.Engine, _ authz.Decider) ([]admission.Plugin, error) {
		return []admission.Plugin{plugin.ServiceAccount{Accounts: local.Part(e, "accounts")}}, nil
	}, Serve: func(e *engine.Engine) (kinds.Served, error) {
		objects := local.Part(e, "tokens")
		tokens, err := configured(c.Options, objects)
		if err != nil {
			return kinds.Served{}, err
		}
		tokens.Counts, tokens.Uses = c.Metrics.Tokens, NewUses(objects, c.Metrics.Tokens, c.Log)
		published, err := published(tokens, cmp.Or(c.Options.ServiceAccountJWKSURI, c.URL+KeySetPath))
		if err != nil {
			return kinds.Served{}, err
		}
		return kinds.Served{Controllers: func() (all []kinds.Controller) {
			objects := local.Part(e, "controllers")
			if c.Has(accounts) {
				all = append(all, kinds.Controller{Switch: options.ServiceAccounts, Controller: NewDefaults(objects)})
			}
			if c.Has(configMaps) {
				all = append(all, kinds.Controller{Switch: options.RootCertificates, Controller: NewAuthorities(objects, c.Trust)})
				all = append(all, kinds.Controller{Controller: NewTracking(objects)})
			}
			return all
		}, Starts: []kinds.Start{noted(tokens.Uses)}, Documents: published, Authenticators: []authn.Authenticator{tokens}, Questions: map[api.ContentPath]api.Question{
			{GroupResource: accounts, Subresource: "token"}: {Verb: "create", Code: http.StatusCreated, Answer: Question{Tokens: tokens, Judge: e}.Answer},
		}}, nil
	}}
}

// noted is the step of the start from which on uses of tokens in Secrets are noted.
func noted(uses *Uses) kinds.Start {
	return kinds.Start{Name: "start-legacy-token-tracking-controller", Run: func(ctx context.Context, _ string, work func(func())) error {
		work(func() { uses.Run(ctx) })
		return nil
	}}
}

// configured makes what signs and believes the tokens of service accounts.
func configured(o options.Serve, objects Objects) (*Tokens, error) {
	key, err := signingKey(o)
	if err != nil {
		return nil, fmt.Errorf("--service-account-signing-key-file: %w", err)
	}
	tokens := &Tokens{
		Key: key, Issuers: o.ServiceAccountIssuers, Audiences: options.Audiences(o), MaxExpiration: o.ServiceAccountMaxTokenExpiration, ExtendExpiration: o.ServiceAccountExtendTokenExpiration,
		Objects: objects,
	}
	for _, file := range o.ServiceAccountKeyFiles {
		verifiers, err := readVerifiers(file)
		if err != nil {
			return nil, fmt.Errorf("--service-account-key-file: %w", err)
		}
		tokens.Verifiers = append(tokens.Verifiers, verifiers...)
	}
	return tokens, nil
}

func readVerifiers(file string) ([]Verifier, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	verifiers, err := ParseVerifiers(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return verifiers, nil
}

// Files are those of the keys of tokens.
func Files(o options.Serve) []options.File {
	all := []options.File{{Flag: "service-account-signing-key-file", Paths: []string{o.ServiceAccountSigningKeyFile}, Look: func() error {
		_, err := signingKey(o)
		return err
	}}}
	for _, file := range o.ServiceAccountKeyFiles {
		all = append(all, options.File{Flag: "service-account-key-file", Paths: []string{file}, Look: func() error {
			_, err := readVerifiers(file)
			return err
		}})
	}
	return all
}

// signingKey is the operator's key, or one of the gateway's own.
func signingKey(o options.Serve) (*Key, error) {
	file := o.ServiceAccountSigningKeyFile
	if file == "" {
		text, err := pki.TokenKey(filepath.Join(o.DataDir, "pki"))
		if err != nil {
			return nil, err
		}
		return ParseKey(text)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	key, err := ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return key, nil
}

// published are the documents by which others verify tokens. An issuer whose
// configuration nobody could ask for publishes none, as kube-apiserver does.
func published(tokens *Tokens, keySetURL string) (map[string]reply.Response, error) {
	configuration, ok, err := tokens.Configuration(keySetURL)
	if err != nil || !ok {
		return nil, err
	}
	keys, err := tokens.KeySet()
	if err != nil {
		return nil, err
	}
	fixed := func(contentType string, body []byte) reply.Response {
		return reply.Response{Code: http.StatusOK, ContentType: contentType, Body: body, Headers: []reply.Header{{Name: "Cache-Control", Value: "public, max-age=3600"}}}
	}
	return map[string]reply.Response{
		ConfigurationPath: fixed("application/json", configuration),
		KeySetPath:        fixed("application/jwk-set+json", keys),
	}, nil
}
