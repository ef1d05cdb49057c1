package bootstraptoken_test

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/bootstraptoken"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// A token that has expired goes, and no other Secret does.
func TestExpiredTokensGoWhateverHappens(t *testing.T) {
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := controllertest.New()
			controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("kube-system"))
			for name, expires := range map[string]time.Duration{"expires": time.Minute, "lasts": 24 * time.Hour} {
				controllertest.MustCreate(t, o, gvr.Secrets, map[string]any{
					"metadata": map[string]any{"namespace": "kube-system", "name": name}, "type": "bootstrap.kubernetes.io/token",
					"data": map[string]any{"expiration": base64.StdEncoding.EncodeToString([]byte(time.Now().Add(expires).UTC().Format(time.RFC3339)))},
				})
			}
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{&bootstraptoken.Cleaner{Objects: s}}
		},
		Main: controller.Key{GroupResource: gvr.Secrets, Namespace: "kube-system", Name: "expires"},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			all, err := o.List(t.Context(), gvr.Secrets, "")
			if err != nil {
				t.Error(err)
			}
			var names []string
			for _, s := range all {
				names = append(names, s.GetName())
			}
			return fmt.Sprint(names)
		},
		Want: "[lasts]",
	}.Tell(t)
}
