package signingrequest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/pki"
)

// The authority that signs is the one that is said, or the gateway's own, which is made; one
// that cannot be read is told before anything is served.
func TestWhoseAuthoritySigns(t *testing.T) {
	if k := Kind(kinds.Config{}); k.Serve != nil || k.Admission != nil {
		t.Error("requests that are not served are signed")
	}
	e := realengine.Start(t)
	others := filepath.Join(t.TempDir(), "others")
	if _, _, err := pki.ClientAuthority(others); err != nil {
		t.Fatal(err)
	}
	notAFolder := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(notAFolder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		change func(o *options.Serve)
		own    bool
		want   string
	}{
		"its own": {func(*options.Serve) {}, true, ""},
		"another's": {func(o *options.Serve) {
			o.ClusterSigning.CertFile, o.ClusterSigning.KeyFile = filepath.Join(others, "clients", "ca.crt"), filepath.Join(others, "clients", "ca.key")
		}, false, ""},
		"of files that are not there": {func(o *options.Serve) { o.ClusterSigning.CertFile, o.ClusterSigning.KeyFile = "none.crt", "none.key" }, false, "--cluster-signing-cert-file: "},
		"that cannot be made":         {func(o *options.Serve) { o.DataDir = notAFolder }, false, "authority of clients: "},
	} {
		o := options.Default()
		o.DataDir = t.TempDir()
		c.change(&o)
		k := Kind(kinds.Config{Options: o, Definitions: []*crd.Definition{{Group: requests.Group, Plural: requests.Resource}}})
		served, err := k.Serve(e.Verbs)
		if _, there := os.Stat(filepath.Join(o.DataDir, "pki", "clients", "ca.crt")); (there == nil) != c.own {
			t.Errorf("%s: an authority of its own is made: %v", what, there == nil)
		}
		looked := Files(o)[0].Look()
		if c.want != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || looked == nil {
				t.Errorf("%s: %v; looking at the files: %v", what, err, looked)
			}
			continue
		}
		if err != nil || !c.own && looked != nil {
			t.Errorf("%s: %v; looking at the files: %v", what, err, looked)
			continue
		}
		all := served.Controllers()
		if len(all) != 2 || all[0].Switch != options.CertificateSigning || all[1].Switch != options.CertificateCleaner {
			t.Errorf("%s: %+v", what, all)
		}
		signer := all[0].Controller.(*Signer)
		if by, err := signer.Authority(); err != nil || by == nil || signer.Longest != o.ClusterSigning.Duration {
			t.Errorf("%s: %+v, %v", what, signer, err)
		}
		if plugins, err := k.Admission(e.Verbs, nil); err != nil || len(plugins) != 3 {
			t.Errorf("%s: %d plugins, %v", what, len(plugins), err)
		}
	}
}

// forgotten is a write whose former state cannot be had.
type forgotten struct {
	*admissiontest.Attributes
	why error
}

func (f forgotten) GetOldObject(context.Context) (*unstructured.Unstructured, error) {
	return nil, f.why
}

// Who cannot know whose request it was lets nobody approve or sign it.
func TestRequestsThatCannotBeRead(t *testing.T) {
	away := errors.New("the store is away")
	for subresource, p := range map[string]admission.Validator{"approval": Approval{}, "status": Signing{}} {
		a := &admissiontest.Attributes{Objects: &admissiontest.Objects{}, Operation: admission.Update, Subresource: subresource,
			Resource: schema.GroupVersionResource{Group: requests.Group, Version: "v1", Resource: requests.Resource}}
		if err := p.Validate(t.Context(), forgotten{a, away}); !errors.Is(err, away) {
			t.Errorf("%s: %v", subresource, err)
		}
	}
}
