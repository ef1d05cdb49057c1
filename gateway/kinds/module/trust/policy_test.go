package trust

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/plugins/signature"
)

// keys are a new pair, the private one ready to sign.
func keys(t *testing.T) (signature.PrivateKey, string) {
	t.Helper()
	private, public, err := signature.Generate()
	if err != nil {
		t.Fatal(err)
	}
	key, err := signature.ParsePrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return key, string(public)
}

// specified is a ModuleTrust with that spec.
func specified(t *testing.T, name, spec string) *unstructured.Unstructured {
	t.Helper()
	return objectOf(t, fmt.Sprintf(`{"apiVersion":"wasmgate.dev/v1","kind":"ModuleTrust","metadata":{"name":%q},"spec":%s}`, name, spec))
}

// What vouches for content is told: by policy, authority and key. What one policy refuses
// nobody vouches for.
func TestWhoVouchesForContent(t *testing.T) {
	_, other := keys(t)
	key, public := keys(t)
	plain := exporting("other")
	sig, err := signature.Sign(plain, "m", key)
	if err != nil {
		t.Fatal(err)
	}
	content, err := signature.Join(plain, []signature.Signature{sig})
	if err != nil {
		t.Fatal(err)
	}
	demands := fmt.Sprintf(`{"authorities":[{"name":"other","key":%q},{"name":"us","key":%q}]}`, other, public)
	revoking := func(digest string) string { return fmt.Sprintf(`{"revokedDigests":[%q]}`, digest) }
	unmeant := fmt.Sprintf(`{"modules":{"names":["n"]},"authorities":[{"name":"other","key":%q}]}`, other)
	for _, tc := range []struct {
		second, name string
		content      []byte
		refused      string
	}{
		{unmeant, "m", content, ""},
		{unmeant, "m", plain, "Unsigned"},
		{unmeant, "n", content, `"one" does not let it serve`}, // which is signed for another name
		{revoking(signature.Digest([]byte("other"))), "m", content, ""},
		{revoking(signature.Digest(content)), "m", content, "is revoked"},
		{revoking(signature.Digest(plain)), "m", content, "is revoked"}, // whatever signatures it carries
	} {
		p := New(lister{objects: []*unstructured.Unstructured{specified(t, "two", tc.second), specified(t, "one", demands)}})
		v := p.Judge(t.Context(), SubjectOf(named(tc.name)), Examine(signature.Digest(tc.content), tc.content))
		want := []Signer{{Trust: "one", Authority: "us", Key: key.Public().ID()}}
		if tc.refused != "" {
			want = nil
		}
		if fmt.Sprint(v.Signers) != fmt.Sprint(want) || v.Policies != 2 {
			t.Errorf("%s: of %d policies %v vouch for it, want %v", tc.second, v.Policies, v.Signers, want)
		}
		if got := fmt.Sprint(v.Error(tc.name)); !strings.Contains(got, tc.refused) || (v.Refused == nil) != (tc.refused == "") {
			t.Errorf("%s for %s: the answer is %s, want %q", tc.second, tc.name, got, tc.refused)
		}
	}
}

// A policy that no module could satisfy, or that means something else than it says, is refused
// where it is written, and in a folder and a file, by the field that is wrong.
func TestPoliciesThatCannotBeReadAreRefused(t *testing.T) {
	_, public := keys(t)
	authorities := fmt.Sprintf(`"authorities":[{"name":"a","key":%q}]`, public)
	for spec, want := range map[string]string{
		`{` + authorities + `}`: "",
		`{"modules":{"names":["a*"],"hooks":["wasmgate_admit"],"selector":{"matchLabels":{"a":"b"}}},` + authorities + `}`: "",
		`{"revokedDigests":["sha256:` + strings.Repeat("0a", 32) + `"]}`:                                                   "",
		`{"modules":{"names":["b","a["]},` + authorities + `}`:                                                             "spec.modules.names[1]",
		`{"modules":{"selector":{"matchLabels":{"a b":"c"}}},` + authorities + `}`:                                         "spec.modules.selector",
		`{"modules":{"hooks":["wasmgate_admit","other"]},` + authorities + `}`:                                             "spec.modules.hooks[1]",
		`{"authorities":[{"name":"a","key":"none"}]}`:                                                                      "spec.authorities[0].key",
		`{"revokedDigests":["sha256:` + strings.Repeat("0a", 31) + `"]}`:                                                   "spec.revokedDigests[0]",
		`{}`: "authorities or revokedDigests",
	} {
		wantRefused(t, spec, want)
	}
}

// wantRefused has a policy be written, and be in a folder and a file: what is refused tells
// of want, "" for nothing that is.
func wantRefused(t *testing.T, spec, want string) {
	t.Helper()
	var strategy crd.Strategy
	for _, d := range catalogtest.Builtins(t) {
		if d.GroupResource() == gvr.Trusts {
			strategy = Written{d.Version(d.StorageVersion).Strategy}
		}
	}
	obj := specified(t, "one", spec)
	path := filepath.Join(t.TempDir(), "trust.yaml")
	text, err := obj.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(text))
	_, inFolder := ReadFolder([]*unstructured.Unstructured{obj})
	for where, err := range map[string]error{
		"written": strategy.Validate(t.Context(), obj, nil).Errors.ToAggregate(), "folder": inFolder, "file": New(nil).ReadFile(path),
	} {
		if got := fmt.Sprint(err); !strings.Contains(got, want) || want == "" && got != "<nil>" {
			t.Errorf("%s, %s: the answer is %s, want %q", where, spec, got, want)
		}
	}
}

// defined has definitions of which one has the module m convert, and one cannot be read.
type defined struct{ lister }

func (d defined) Get(ctx context.Context, gr schema.GroupResource, _, name string) (*unstructured.Unstructured, error) {
	switch name {
	case "by-m.example.com":
		return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"conversion": map[string]any{"strategy": "Webhook", "webhook": map[string]any{"clientConfig": map[string]any{"url": "wasm://m"}}}}}}, nil
	case "unreadable.example.com":
		return nil, errors.New("no store")
	}
	return nil, apierrors.NewNotFound(gr, name)
}

// A policy by definition means who converts for it, who is about to, and everybody while
// nobody knows.
func TestPoliciesByDefinition(t *testing.T) {
	_, public := keys(t)
	for _, tc := range []struct {
		definition, module, binding string
		refused                     bool
	}{
		{"by-m.example.com", "m", "", true},
		{"by-m.example.com", "n", "", false},
		{"by-m.example.com", "n", "by-m.example.com", true},
		{"by-m.example.com", "n", "others.example.com", false},
		{"others.example.com", "m", "", false},
		{"unreadable.example.com", "n", "", true},
	} {
		spec := fmt.Sprintf(`{"modules":{"definitions":[%q]},"authorities":[{"name":"a","key":%q}]}`, tc.definition, public)
		p := New(defined{lister{objects: []*unstructured.Unstructured{specified(t, "one", spec)}}})
		s, content := SubjectOf(named(tc.module)), exporting("wasmgate_convert")
		s.Binding = tc.binding
		if v := p.Judge(t.Context(), s, Examine(signature.Digest(content), content)); (v.Refused != nil) != tc.refused {
			t.Errorf("%+v: refused is %v", tc, v.Refused)
		}
		if !p.ByDefinition(t.Context(), tc.definition) || p.ByDefinition(t.Context(), "more.example.com") {
			t.Errorf("%s: what depends on definitions is another", tc.definition)
		}
	}
}
