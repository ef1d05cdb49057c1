package bootstraptoken

import (
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/controller"
)

// drawer has at most one Secret, and may fail.
type drawer struct {
	secret            *unstructured.Unstructured
	reading, deleting error
	deleted           []string
}

func (d *drawer) Get(_ context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error) {
	if d.reading != nil {
		return nil, d.reading
	}
	if gr != secrets || d.secret == nil || d.secret.GetNamespace() != namespace || d.secret.GetName() != name {
		return nil, apierrors.NewNotFound(gr, name)
	}
	return d.secret.DeepCopy(), nil
}

func (d *drawer) Delete(_ context.Context, _ schema.GroupResource, namespace, name string, _ metav1.DeleteOptions) error {
	d.deleted = append(d.deleted, namespace+"/"+name)
	return d.deleting
}

// secret is the one of the token 07401b.f395accd246ae52d, with some fields replaced.
func secret(changed map[string]string) *unstructured.Unstructured {
	said := map[string]string{"token-id": "07401b", "token-secret": "f395accd246ae52d", "usage-bootstrap-authentication": "true"}
	maps.Copy(said, changed)
	data := map[string]any{}
	for k, v := range said {
		data[k] = base64.StdEncoding.EncodeToString([]byte(v))
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token", "data": data,
		"metadata": map[string]any{"namespace": "kube-system", "name": "bootstrap-token-07401b", "uid": "u"},
	}}
}

func at(d time.Duration) map[string]string {
	return map[string]string{"expiration": time.Now().Add(d).UTC().Format(time.RFC3339)}
}

// Which tokens are believed, and who has them. Of one that does not count no more is said
// than of one that there is not.
func TestWhichTokensAreBelieved(t *testing.T) {
	const right = "07401b.f395accd246ae52d"
	going, kind := secret(nil), secret(nil)
	going.SetDeletionTimestamp(&metav1.Time{Time: time.Now()})
	kind.Object["type"] = "Opaque"
	always := []string{"system:authenticated", "system:bootstrappers"}
	for what, c := range map[string]struct {
		token  string
		secret *unstructured.Unstructured
		groups []string
	}{
		"right":             {right, secret(nil), always},
		"of more groups":    {right, secret(map[string]string{"auth-extra-groups": "system:bootstrappers:workers"}), []string{"system:authenticated", "system:bootstrappers", "system:bootstrappers:workers"}},
		"not expired":       {right, secret(at(time.Hour)), always},
		"expired":           {right, secret(at(-time.Minute)), nil},
		"another secret":    {"07401b.0000000000000000", secret(nil), nil},
		"another id":        {right, secret(map[string]string{"token-id": "07401c"}), nil},
		"for other uses":    {right, secret(map[string]string{"usage-bootstrap-authentication": "false"}), nil},
		"of a wrong group":  {right, secret(map[string]string{"auth-extra-groups": "system:masters"}), nil},
		"that goes":         {right, going, nil},
		"of another type":   {right, kind, nil},
		"of no Secret":      {right, nil, nil},
		"of somebody else":  {"eyJ.abc.def", secret(nil), nil},
		"that is none":      {"", secret(nil), nil},
		"of which is a lot": {right + "0", secret(nil), nil},
	} {
		user, ok, err := Tokens{&drawer{secret: c.secret}}.Authenticate(t.Context(), authn.Request{BearerToken: c.token})
		if err != nil || ok != (c.groups != nil) || (user != nil) != ok {
			t.Errorf("%s: %v, %v, %v", what, user, ok, err)
			continue
		}
		if !ok {
			continue
		}
		if got := slices.Sorted(slices.Values(user.Groups)); user.Name != "system:bootstrap:07401b" || !slices.Equal(got, c.groups) {
			t.Errorf("%s: %s of %q", what, user.Name, got)
		}
	}
}

// damaged is a Secret that cannot be read.
func damaged() *unstructured.Unstructured {
	s := secret(nil)
	s.Object["data"] = "text"
	return s
}

// What cannot be read is an error, and nobody is believed.
func TestWhatCannotBeReadIsNotBelieved(t *testing.T) {
	for what, d := range map[string]*drawer{"no answer": {reading: errors.New("no store")}, "damaged": {secret: damaged()}} {
		user, ok, err := Tokens{d}.Authenticate(t.Context(), authn.Request{BearerToken: "07401b.f395accd246ae52d"})
		if err == nil || ok || user != nil {
			t.Errorf("%s: %v, %v, %v", what, user, ok, err)
		}
	}
}

// later is a queue that remembers until when it is to wait.
type later struct{ after []time.Duration }

func (*later) Add(controller.Key)                             {}
func (l *later) AddAfter(_ controller.Key, d time.Duration)   { l.after = append(l.after, d) }
func (*later) Follow(_ controller.Key, _ ...controller.Scope) {}

// The cleaner waits for what expires, and for nothing else; its failures are told.
func TestWhatTheCleanerWaitsForAndTells(t *testing.T) {
	gone, broken := apierrors.NewNotFound(secrets, "x"), errors.New("no store")
	for what, c := range map[string]struct {
		drawer  drawer
		deleted int
		waits   int
		want    bool
	}{
		"expires":        {drawer{secret: secret(at(time.Hour))}, 0, 1, false},
		"lasts":          {drawer{secret: secret(nil)}, 0, 0, false},
		"expired":        {drawer{secret: secret(at(-time.Minute))}, 1, 0, false},
		"gone already":   {drawer{secret: secret(at(-time.Minute)), deleting: gone}, 1, 0, false},
		"not deleted":    {drawer{secret: secret(at(-time.Minute)), deleting: broken}, 1, 0, true},
		"there is none":  {drawer{}, 0, 0, false},
		"not read":       {drawer{reading: broken}, 0, 0, true},
		"not understood": {drawer{secret: damaged()}, 0, 0, true},
	} {
		q := &later{}
		err := (&Cleaner{&c.drawer}).Reconcile(t.Context(), q, controller.Key{GroupResource: secrets, Namespace: "kube-system", Name: "bootstrap-token-07401b"})
		if (err != nil) != c.want || len(c.drawer.deleted) != c.deleted || len(q.after) != c.waits {
			t.Errorf("%s: %v, deleted %q, waits %v", what, err, c.drawer.deleted, q.after)
		}
		if c.waits > 0 && (q.after[0] > time.Hour || q.after[0] < 59*time.Minute) {
			t.Errorf("%s: waits %s", what, q.after[0])
		}
	}
}

// They are for this API: whoever else is meant, they are none.
func TestTokensAreForThisAPI(t *testing.T) {
	tokens := Tokens{Objects: &drawer{secret: secret(nil)}}
	for audience, want := range map[string]bool{"": true, "vault": false, "api": true} {
		r := authn.Request{ForAPI: audience == "api", BearerToken: "07401b.f395accd246ae52d"}
		if audience != "" {
			r.Audiences = []string{audience}
		}
		if _, ok, err := tokens.Authenticate(t.Context(), r); ok != want || err != nil {
			t.Errorf("for %q: %t, %v", audience, ok, err)
		}
	}
}
