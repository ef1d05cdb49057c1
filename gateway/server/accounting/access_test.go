package accounting

import (
	"context"
	"crypto/x509"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// knows is an authenticator, and an authorizer, that answers as it is told.
type knows struct {
	user *authn.User
	err  error
}

func (k knows) Authenticate(context.Context, authn.Request) (*authn.User, bool, error) {
	return k.user, k.user != nil, k.err
}

func (k knows) Authorize(context.Context, authz.Attributes) (bool, string, error) {
	return k.user != nil, "why", k.err
}

// Attempts are counted by what became of them; who shows nothing and is nobody attempts
// nothing.
func TestAttemptsAreCounted(t *testing.T) {
	ann, token := &authn.User{Name: "ann"}, authn.Request{BearerToken: "t"}
	for name, c := range map[string]struct {
		by    knows
		shown authn.Request
		want  []string
	}{
		"somebody":              {knows{user: ann}, token, []string{`authentication_attempts{result="success"} 1`}},
		"somebody by a header":  {knows{user: ann}, authn.Request{}, []string{`authentication_attempts{result="success"} 1`}},
		"somebody, of whom one": {knows{user: ann, err: errors.New("not mine")}, token, []string{`authentication_attempts{result="success"} 1`}},
		"nobody":                {knows{}, authn.Request{}, nil},
		"who is not known":      {knows{}, token, []string{`authentication_attempts{result="failure"} 1`}},
		"what is wrong":         {knows{err: errors.New("expired")}, token, []string{`authentication_attempts{result="error"} 1`}},
	} {
		m := metrics.New()
		user, ok, err := Authenticator{c.by, m.Access}.Authenticate(t.Context(), c.shown)
		if user != c.by.user || ok != (user != nil) || !errors.Is(err, c.by.err) {
			t.Errorf("%s: %v, %v, %v", name, user, ok, err)
		}
		if got := lines(t, m, "authentication_attempts{"); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	m := metrics.New()
	ends := authn.Request{ClientCerts: []*x509.Certificate{{NotAfter: time.Now().Add(2*time.Hour - time.Minute)}, {}}}
	_, _, _ = Authenticator{knows{user: ann}, m.Access}.Authenticate(t.Context(), ends)
	if got := lines(t, m, "apiserver_client_certificate_expiration_seconds_bucket"); len(got) == 0 || !strings.Contains(got[0], `le="7200"`) {
		t.Errorf("%q", got)
	}
}

// Answers are counted, and handed on.
func TestAnswersAreCounted(t *testing.T) {
	for want, by := range map[string]knows{
		`{result="allowed"} 1`:    {user: &authn.User{}},
		`{result="no-opinion"} 1`: {},
		`{result="error"} 1`:      {err: errors.New("nobody answers")},
	} {
		m := metrics.New()
		allowed, reason, err := Authorizer{by, m.Access}.Authorize(t.Context(), authz.Attributes{})
		if allowed != (by.user != nil) || reason != "why" || !errors.Is(err, by.err) {
			t.Errorf("%v, %q, %v", allowed, reason, err)
		}
		if got := lines(t, m, "authorization_attempts_total"); !slices.Equal(got, []string{"authorization_attempts_total" + want}) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A plugin without a name is part of its phase alone.
func TestAdmissionIsCounted(t *testing.T) {
	m := metrics.New()
	a := Admission{m}
	a.Phase(true, admission.Create, false, time.Second)
	a.Plugin("", true, admission.Create, false, time.Second)
	a.Plugin("P", false, admission.Delete, true, time.Second)
	got := append(lines(t, m, "apiserver_admission_step_admission_duration_seconds_sum"), lines(t, m, "apiserver_admission_controller_admission_duration_seconds_sum")...)
	want := []string{`apiserver_admission_step_admission_duration_seconds_sum{operation="CREATE",rejected="false",type="admit"} 1`,
		`apiserver_admission_controller_admission_duration_seconds_sum{name="P",operation="DELETE",rejected="true",type="validate"} 1`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
