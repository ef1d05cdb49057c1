package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/image"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci/ocitest"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/blob"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// full is a store that takes nothing.
type full struct{ *storagetest.Memory }

func (full) Create(context.Context, string, []byte, time.Duration) (int64, error) {
	return 0, &storage.Error{Kind: storage.Full}
}

// A module of an image is checked and kept like one that was uploaded. Whatever
// stands in the way is a refusal, which is tried again only with growing delays; none
// of these takes time, so the registry is not avoided for one.
func TestImagesAreKept(t *testing.T) {
	host := ocitest.Start(t, nil)
	rev := revision()
	push := func(tag string, bytes []byte) {
		ocitest.Push(t, host+"/team/tabs", tag, auth.Credential{}, ocitest.Layer{MediaType: "application/wasm", Content: bytes})
	}
	push("good", rev.Bytes)
	push("bad", []byte("no module"))
	for _, test := range []struct {
		tag, login, want string
		final            bool
		distrusted       bool
		change           func(*Config)
	}{
		{tag: "good"},
		{tag: "bad", want: "NotWasm: ", final: true},
		{tag: "good", distrusted: true, want: "Unsigned: it is somebody's"},
		{tag: "none", want: "ImageNotFound: "},
		{tag: "", want: "ImageInvalid: ", final: true},
		{tag: "good", login: "no login", want: "PullSecretInvalid: "},
		{tag: "good", want: "NoRoom: ", change: func(c *Config) { c.Quota = 1 }},
		{tag: "good", want: "NotKept: it came, and could not be stored: ", change: func(c *Config) { c.Store = full{storagetest.NewMemory()} }},
	} {
		h, _ := newHost(t, test.change)
		var login []byte
		trusted := func(_ context.Context, name string, content []byte, _ *module.Beside) error {
			if test.distrusted && string(content) == string(rev.Bytes) {
				return &plugins.LoadError{Module: name, Reason: "Unsigned", Detail: "it is somebody's"}
			}
			return nil
		}
		if test.login != "" {
			login = []byte(test.login)
		}
		kept, err := h.Images(trusted).Pull(t.Context(), "tabs", strings.TrimSuffix(host+"/team/tabs:"+test.tag, ":"), login)
		if test.want == "" {
			stored, getErr := h.Content().Get(t.Context(), kept.Digest)
			if err != nil || getErr != nil || string(stored) != string(rev.Bytes) || kept.Digest != blob.Digest(rev.Bytes) {
				t.Errorf("%+v: %v, %v", kept, err, getErr)
			}
			continue
		}
		var refused *image.Refusal
		if !errors.As(err, &refused) || !strings.HasPrefix(fmt.Sprint(err), test.want) || refused.Final != test.final || refused.Slow || refused.Distrusted != test.distrusted {
			t.Errorf("%q: %v, want %s, final: %v", test.tag, err, test.want, test.final)
		}
	}
}
