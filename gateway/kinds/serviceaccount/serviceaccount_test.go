package serviceaccount

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// stored are objects by resource and name.
type stored map[string]string

func (s stored) Get(_ context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error) {
	text, ok := s[gr.Resource+" "+name]
	if !ok {
		return nil, apierrors.NewNotFound(gr, name)
	}
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		return nil, err
	}
	o.SetName(name)
	o.SetNamespace(namespace)
	return o, nil
}

func (stored) Fresh(context.Context) error { return nil }

func newKey(t testing.TB, private any) *Key {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	k, err := ParseKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func ecKey(t testing.TB) *Key {
	t.Helper()
	p, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return newKey(t, p)
}

func rsaKey(t testing.TB) *Key {
	t.Helper()
	p, err := rsa.GenerateKey(rand.Reader, leastRSA)
	if err != nil {
		t.Fatal(err)
	}
	return newKey(t, p)
}

// base64url is how the parts of a token are written.
var base64url = base64.RawURLEncoding

var began = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// newTokens are tokens of the account "robot", at a time that the test moves.
func newTokens(t testing.TB, k *Key) (*Tokens, *time.Time) {
	now := began
	return &Tokens{Key: k, Issuers: []string{"https://issuer"}, Audiences: []string{"https://issuer"}, Now: func() time.Time { return now }, Objects: stored{
		"serviceaccounts robot": "metadata: {uid: u1}",
		"pods mine":             "{metadata: {uid: u2}, spec: {serviceAccountName: robot}}",
		"pods other":            "{metadata: {uid: u3}, spec: {serviceAccountName: other}}",
		"secrets s":             "metadata: {uid: u4}",
		"nodes n":               "metadata: {uid: u5}",
	}}, &now
}

func ask(t *Tokens, body string) (*authenticationv1.TokenRequest, error) {
	r, err := Question{t, allowing{}}.Answer(context.Background(), resource.Target{Namespace: "default", Name: "robot"}, "application/json", []byte(body), resource.WriteOptions{})
	if err != nil {
		return nil, err
	}
	return r.(*authenticationv1.TokenRequest), nil
}

// allowing is an admission that allows what is valid, and changes it if it wants to.
type allowing struct {
	change func(*authenticationv1.TokenRequest)
}

func (a allowing) Judge(ctx context.Context, _ resource.Target, s resource.Sent, _ resource.WriteOptions) error {
	if a.change != nil {
		a.change(s.Object.(*authenticationv1.TokenRequest))
	}
	return s.Prepare(ctx)
}

// late are objects that the cache does not have yet.
type late struct{ stored }

func (l late) Fresh(context.Context) error {
	l.stored["serviceaccounts robot"] = "metadata: {uid: u1}"
	return nil
}

// Who makes an account and asks for a token at once gets one.
func TestATokenOfAnAccountMadeJustNow(t *testing.T) {
	tokens, _ := newTokens(t, ecKey(t))
	tokens.Objects = late{stored{}}
	if out, err := ask(tokens, `{}`); err != nil || out.UID != "u1" {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestTokensAreBelieved(t *testing.T) {
	for name, k := range map[string]*Key{"ES256": ecKey(t), "RS256": rsaKey(t)} {
		tokens, _ := newTokens(t, k)
		out, err := ask(tokens, `{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"mine","uid":"u2"}}}`)
		if err != nil || *out.Spec.ExpirationSeconds != 3600 || !reflect.DeepEqual(out.Spec.Audiences, []string{"https://issuer"}) || !out.Status.ExpirationTimestamp.Time.Equal(began.Add(time.Hour)) ||
			out.Kind != "TokenRequest" || out.UID != "u1" || out.Namespace != "default" {
			t.Fatalf("%s: %+v %v", name, out, err)
		}
		u, ok, err := tokens.Authenticate(context.Background(), authn.Request{BearerToken: out.Status.Token})
		if !ok || err != nil {
			t.Fatalf("%s: %v %v", name, ok, err)
		}
		head, _, _ := strings.Cut(out.Status.Token, ".")
		if text, err := base64url.DecodeString(head); err != nil || string(text) != `{"alg":"`+name+`","kid":"`+k.id+`"}` {
			t.Errorf("%s: the head is %s, %v", name, text, err)
		}
		id := u.Extra["authentication.kubernetes.io/credential-id"]
		want := &authn.User{Name: "system:serviceaccount:default:robot", UID: "u1", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"},
			Extra: map[string][]string{"authentication.kubernetes.io/credential-id": id, "authentication.kubernetes.io/pod-name": {"mine"}, "authentication.kubernetes.io/pod-uid": {"u2"}}}
		if !reflect.DeepEqual(u, want) || len(id) != 1 || len(id[0]) != len("JTI=")+36 {
			t.Errorf("%s: %+v", name, u)
		}
	}
}

// TestTokensThatAreNotBelieved changes something each time.
func TestTokensThatAreNotBelieved(t *testing.T) {
	k := ecKey(t)
	for name, c := range map[string]struct {
		request string
		change  func(tokens *Tokens, now *time.Time, token *string)
		why     string
	}{
		"expired":          {`{"spec":{"expirationSeconds":600}}`, func(_ *Tokens, now *time.Time, _ *string) { *now = began.Add(11*time.Minute + time.Second) }, "has expired"},
		"early":            {`{}`, func(_ *Tokens, now *time.Time, _ *string) { *now = began.Add(-time.Minute - time.Second) }, "does not count yet"},
		"another key":      {`{}`, func(t2 *Tokens, _ *time.Time, _ *string) { t2.Key = ecKey(t) }, "not signed by a key"},
		"another issuer":   {`{"spec":{"audiences":["https://issuer","x"]}}`, func(t2 *Tokens, _ *time.Time, _ *string) { t2.Issuers = []string{"x"} }, "another issuer"},
		"another audience": {`{"spec":{"audiences":["x"]}}`, nil, "another audience"},
		"account gone":     {`{}`, func(t2 *Tokens, _ *time.Time, _ *string) { t2.Objects = stored{} }, "of serviceaccounts that it is bound to is gone"},
		"account anew": {`{}`, func(t2 *Tokens, _ *time.Time, _ *string) {
			t2.Objects.(stored)["serviceaccounts robot"] = "metadata: {uid: u9}"
		}, "is gone"},
		"pod gone":    {`{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"mine"}}}`, func(t2 *Tokens, _ *time.Time, _ *string) { delete(t2.Objects.(stored), "pods mine") }, "of pods that it is bound to is gone"},
		"secret gone": {`{"spec":{"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"s"}}}`, func(t2 *Tokens, _ *time.Time, _ *string) { delete(t2.Objects.(stored), "secrets s") }, "of secrets that"},
		"node gone":   {`{"spec":{"boundObjectRef":{"kind":"Node","apiVersion":"v1","name":"n"}}}`, func(t2 *Tokens, _ *time.Time, _ *string) { delete(t2.Objects.(stored), "nodes n") }, "of nodes that"},
		"deleted": {`{}`, func(t2 *Tokens, now *time.Time, _ *string) {
			*now = began.Add(3 * time.Minute)
			t2.Objects.(stored)["serviceaccounts robot"] = `metadata: {uid: u1, deletionTimestamp: "2026-11-22T12:01:00Z"}`
		}, "has been deleted"},
		"other claims": {`{}`, func(_ *Tokens, _ *time.Time, token *string) {
			parts := strings.Split(*token, ".")
			body, _ := base64url.DecodeString(parts[1])
			*token = parts[0] + "." + base64url.EncodeToString([]byte(strings.Replace(string(body), "robot", "other", 2))) + "." + parts[2]
		}, "not signed by a key"},
		"no algorithm": {`{}`, func(_ *Tokens, _ *time.Time, token *string) {
			parts := strings.Split(*token, ".")
			*token = base64url.EncodeToString([]byte(`{"alg":"none","kid":"`+k.id+`"}`)) + "." + parts[1] + "."
		}, "not signed by a key"},
		"another name of the key": {`{}`, func(t2 *Tokens, _ *time.Time, token *string) {
			other := *k
			other.id = "other"
			c, err := t2.read(*token)
			if err != nil {
				t.Fatal(err)
			}
			if *token, err = other.write(c); err != nil {
				t.Fatal(err)
			}
		}, "not signed by a key"},
		"bits that say nothing": {`{}`, func(_ *Tokens, _ *time.Time, token *string) {
			const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
			last := len(*token) - 1
			*token = (*token)[:last] + alphabet[strings.IndexByte(alphabet, (*token)[last])+1:][:1]
		}, "has not the form"},
		"no base64": {`{}`, func(_ *Tokens, _ *time.Time, token *string) { *token = "!.!.!" }, "has not the form"},
	} {
		tokens, now := newTokens(t, k)
		out, err := ask(tokens, c.request)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		token := out.Status.Token
		if c.change != nil {
			c.change(tokens, now, &token)
		}
		u, ok, err := tokens.Authenticate(context.Background(), authn.Request{BearerToken: token})
		if ok || u != nil || err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v %v, want %s", name, ok, err, c.why)
		}
	}
	leavesOtherTokens(t, k)
}

// A token that is bound to what is being deleted counts for another minute, so that a pod
// can clean up.
func TestTokensOfWhatIsBeingDeletedCountForAMinute(t *testing.T) {
	tokens, now := newTokens(t, ecKey(t))
	out, err := ask(tokens, `{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"mine"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	deleted := began.Add(time.Minute)
	tokens.Objects.(stored)["pods mine"] = `{metadata: {uid: u2, deletionTimestamp: "` + deleted.UTC().Format(time.RFC3339) + `"}, spec: {serviceAccountName: robot}}`
	for after, want := range map[time.Duration]bool{0: true, 59 * time.Second: true, time.Minute: true, 61 * time.Second: false} {
		*now = deleted.Add(after)
		_, ok, err := tokens.Authenticate(t.Context(), authn.Request{BearerToken: out.Status.Token})
		if ok != want || (err == nil) != want {
			t.Errorf("%s after the deletion: %t, %v", after, ok, err)
		}
	}
}

// A token that is bound to a pod names the pod's node, which may have no object; that one may go,
// and the token counts as long as the pod is there. One that is bound to the node goes with it.
func TestTokensOfPodsNameTheirNode(t *testing.T) {
	for name, c := range map[string]struct {
		node, kind, of string
		want           map[string][]string
		outlives       bool
	}{
		"a pod on a node":        {"n", "Pod", "mine", map[string][]string{"node-name": {"n"}, "node-uid": {"u5"}, "pod-name": {"mine"}, "pod-uid": {"u2"}}, true},
		"a pod on an unknown":    {"m", "Pod", "mine", map[string][]string{"node-name": {"m"}, "pod-name": {"mine"}, "pod-uid": {"u2"}}, true},
		"a node":                 {"n", "Node", "n", map[string][]string{"node-name": {"n"}, "node-uid": {"u5"}}, false},
		"a secret beside a node": {"n", "Secret", "s", map[string][]string{}, true},
	} {
		tokens, _ := newTokens(t, ecKey(t))
		objects := tokens.Objects.(stored)
		objects["pods mine"] = "{metadata: {uid: u2}, spec: {serviceAccountName: robot, nodeName: \"" + c.node + "\"}}"
		out, err := ask(tokens, `{"spec":{"boundObjectRef":{"kind":"`+c.kind+`","apiVersion":"v1","name":"`+c.of+`"}}}`)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, there := range []bool{true, false} {
			if !there {
				delete(objects, "nodes n")
			}
			u, ok, err := tokens.Authenticate(t.Context(), authn.Request{BearerToken: out.Status.Token})
			if want := there || c.outlives; ok != want || (err == nil) != want {
				t.Errorf("%s, the node is there %t: %t, %v", name, there, ok, err)
			}
			if !ok {
				continue
			}
			delete(u.Extra, extraPrefix+"credential-id")
			want := map[string][]string{}
			for k, v := range c.want {
				want[extraPrefix+k] = v
			}
			if !reflect.DeepEqual(u.Extra, want) {
				t.Errorf("%s: %v, want %v", name, u.Extra, want)
			}
		}
	}
}

// leavesOtherTokens shows that what is no token of ours is left to others.
func leavesOtherTokens(t *testing.T, k *Key) {
	t.Helper()
	tokens, _ := newTokens(t, k)
	for _, other := range []string{"", "0123456789", "a.b"} {
		if _, ok, err := tokens.Authenticate(context.Background(), authn.Request{BearerToken: other}); ok || err != nil {
			t.Errorf("%q, which is no token of an account: %v %v", other, ok, err)
		}
	}
}

// The words and codes are kube-apiserver 1.36.3's.
func TestRequestsThatAreRefused(t *testing.T) {
	tokens, _ := newTokens(t, ecKey(t))
	for body, want := range map[string]struct {
		code    int32
		message string
	}{
		`{"spec":{"expirationSeconds":60}}`:          {422, `TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes`},
		`{"spec":{"expirationSeconds":99999999999}}`: {422, `TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 99999999999: may not specify a duration larger than 2^32 seconds`},
		`{"metadata":{"name":"x"}}`:                  {422, `TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value: "x": must match the service account name if specified`},
		`{"metadata":{"namespace":"x"}}`:             {400, `the namespace of the provided object does not match the namespace sent on the request`},
		`{"metadata":{"uid":"u0"}}`:                  {409, `Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "robot": the UID in the token request (u0) does not match the UID of the service account (u1)`},
		`{"kind":"Foo","apiVersion":"v1"}`:           {400, `Foo in version "v1" cannot be handled as a TokenRequest: no kind "Foo" is registered for version "v1"`},
		`[]`:                                         {400, `the object provided is unrecognized (must be of type TokenRequest)`},
		`{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"nope"}}}`:            {404, `pods "nope" not found`},
		`{"spec":{"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"nope"}}}`:         {404, `secrets "nope" not found`},
		`{"spec":{"boundObjectRef":{"kind":"Foo","apiVersion":"v1","name":"nope"}}}`:            {400, `cannot bind token to object of type /v1, Kind=Foo`},
		`{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"other"}}}`:           {400, `cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.`},
		`{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"mine","uid":"u0"}}}`: {409, `the UID in the bound object reference (u0) does not match the UID in record. The object might have been deleted and then recreated`},
		`{"spec":{"audiences":[` + strings.Repeat(`"a",`, 100) + `"a"]}}`:                       {422, `spec.audiences: Too many: 101`},
	} {
		_, err := ask(tokens, body)
		var s apierrors.APIStatus
		if !errors.As(err, &s) || s.Status().Code != want.code || !strings.Contains(s.Status().Message, want.message) {
			t.Errorf("%s: %v, want %d %s", body, err, want.code, want.message)
		}
	}
	_, err := Question{tokens, allowing{}}.Answer(context.Background(), resource.Target{Namespace: "default", Name: "nobody"}, "application/json", []byte(`{}`), resource.WriteOptions{})
	if !apierrors.IsNotFound(err) {
		t.Error(err)
	}
	r, err := Question{tokens, allowing{}}.Answer(context.Background(), resource.Target{Namespace: "default", Name: "robot"}, "application/json", []byte(`{}`), resource.WriteOptions{DryRun: true})
	if err != nil || r.(*authenticationv1.TokenRequest).Status.Token != "" {
		t.Errorf("a dry run: %+v %v", r, err)
	}
}

// What admission makes of a request is what is signed, and what it makes of it is
// validated.
func TestAdmissionChangesWhatIsWanted_WP02(t *testing.T) {
	tokens, _ := newTokens(t, ecKey(t))
	for _, c := range []struct {
		change func(*authenticationv1.TokenRequest)
		want   string
	}{
		{func(r *authenticationv1.TokenRequest) {
			r.Spec.Audiences, r.Labels = []string{"other"}, map[string]string{"a": "b"}
		}, ""},
		{func(r *authenticationv1.TokenRequest) { r.Spec.ExpirationSeconds = new(int64) }, "may not specify a duration less than 10 minutes"},
		{func(r *authenticationv1.TokenRequest) { r.Spec.ExpirationSeconds = nil }, "spec.expirationSeconds: Required value"},
		{func(r *authenticationv1.TokenRequest) { r.Namespace = "other" }, "must match the service account namespace if specified"},
	} {
		r, err := Question{tokens, allowing{c.change}}.Answer(context.Background(), resource.Target{Namespace: "default", Name: "robot"}, "application/json", []byte(`{"status":{"token":"mine"}}`), resource.WriteOptions{})
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			continue
		}
		out, ok := r.(*authenticationv1.TokenRequest)
		if err != nil || !ok || out.Labels["a"] != "b" || out.Kind != "TokenRequest" {
			t.Fatalf("%+v, %v", r, err)
		}
		said, err := tokens.read(out.Status.Token)
		if err != nil || len(said.Audience) != 1 || said.Audience[0] != "other" {
			t.Errorf("%+v, %v", said, err)
		}
	}
}

func TestKeysThatAreRefused(t *testing.T) {
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for want, private := range map[string]any{"2048 bits": small, "P-256": curve} {
		der, err := x509.MarshalPKCS8PrivateKey(private)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, text := range []string{"", "x", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if _, err := ParseKey([]byte(text)); err == nil {
			t.Errorf("%q is a key", text)
		}
	}
}

// Nothing but what was signed is believed, and nothing makes it panic.
func FuzzAuthenticate(f *testing.F) {
	k := ecKey(f)
	tokens, _ := newTokens(f, k)
	good, err := k.write(claims{})
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{good, "..", "a.b.c", good + "x", "." + good} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if _, ok, err := tokens.Authenticate(context.Background(), authn.Request{BearerToken: token}); ok || maybe(token) && err == nil {
			t.Errorf("%q: %v", token, err)
		}
	})
}
