package structured

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/load"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
)

// read reads an AuthorizationConfiguration of any of its versions.
func (c *Chain) read(data []byte) (*apiserver.AuthorizationConfiguration, error) {
	out, err := load.LoadFromData(data)
	if err != nil {
		return nil, fmt.Errorf("failed to load AuthorizationConfiguration from file: %w", err)
	}
	known := sets.New(string(apiserver.TypeWebhook))
	for name := range c.c.Known {
		known.Insert(name)
	}
	if err := validation.ValidateAuthorizationConfiguration(c.compiler, nil, out, known, sets.New(string(apiserver.TypeWebhook))).ToAggregate(); err != nil {
		return nil, err
	}
	var errs []error
	missing := slices.Clone(c.required)
	for _, a := range out.Authorizers {
		if a.Type == apiserver.TypeWebhook {
			continue
		}
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == string(a.Type) })
		if want := strings.ToLower(string(a.Type)); a.Name != want {
			errs = append(errs, fmt.Errorf("expected name %s for authorizer %s instead of %s", want, a.Type, a.Name))
		}
	}
	if len(missing) > 0 {
		errs = append(errs, fmt.Errorf("missing required types: %v", missing))
	}
	return out, errors.Join(errs...)
}

// Webhook is what flags say of the only webhook.
type Webhook struct {
	Path, Version                  string
	AuthorizedTTL, UnauthorizedTTL time.Duration
}

// Modes is the configuration that --authorization-mode stands for.
func Modes(modes []string, w Webhook) *apiserver.AuthorizationConfiguration {
	out := &apiserver.AuthorizationConfiguration{}
	for _, mode := range modes {
		a := apiserver.AuthorizerConfiguration{Type: apiserver.AuthorizerType(mode), Name: strings.ToLower(mode)}
		if a.Type == apiserver.TypeWebhook {
			a.Name = "default"
			a.Webhook = &apiserver.WebhookConfiguration{
				AuthorizedTTL: metav1.Duration{Duration: w.AuthorizedTTL}, CacheAuthorizedRequests: w.AuthorizedTTL != 0,
				UnauthorizedTTL: metav1.Duration{Duration: w.UnauthorizedTTL}, CacheUnauthorizedRequests: w.UnauthorizedTTL != 0,
				Timeout: metav1.Duration{Duration: 30 * time.Second}, FailurePolicy: apiserver.FailurePolicyNoOpinion,
				SubjectAccessReviewVersion: w.Version,
				ConnectionInfo:             apiserver.WebhookConnectionInfo{Type: apiserver.AuthorizationWebhookConnectionInfoTypeKubeConfigFile, KubeConfigFile: &w.Path},
			}
		}
		out.Authorizers = append(out.Authorizers, a)
	}
	return out
}
