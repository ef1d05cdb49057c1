package api

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/authz"
)

// cautious lets bob do everything but delete what cannot be read.
type cautious struct{ authz.Masters }

func (m cautious) Authorize(ctx context.Context, a authz.Attributes) (bool, string, error) {
	if a.User.Name == "bob" {
		return a.Verb != "unsafe-delete-ignore-read-errors", "too unsafe", nil
	}
	return m.Masters.Authorize(ctx, a)
}

const unsafeOption = `"ignoreStoreReadErrorWithClusterBreakingPotential":true`

// The words and codes are kube-apiserver 1.36.3's, with the gate on.
func TestDeletionOfWhatCannotBeRead(t *testing.T) {
	w := newWorld(t, func(c *Setup) { c.UnsafeDeletion, c.Authorizer = true, cautious{} })
	del := func(path, options string, headers ...string) *answer {
		t.Helper()
		return w.do("DELETE", path, "{"+options+"}", headers...)
	}
	for _, path := range []string{configMaps, widgets} {
		key := map[string]string{configMaps: "/registry/configmaps/default/", widgets: "/registry/example.com/widgets/default/"}[path]
		rev, err := w.store.Create(t.Context(), key+"broken", []byte("garbage"), 0)
		if err != nil {
			t.Fatal(err)
		}
		w.do("GET", path+"/broken", "").want(500, "cannot be read")
		t.Run("DEL-07 without the option it cannot be deleted", func(t *testing.T) {
			w.do("DELETE", path+"/broken", "").want(500, "cannot be read")
			w.do("DELETE", path+"/broken", "{}").want(500, "cannot be read")
			del(path+"/broken", strings.Replace(unsafeOption, "true", "false", 1)).want(500, "cannot be read")
		})
		t.Run("DEL-07 lists name what cannot be read", func(t *testing.T) {
			for _, query := range []string{"", "?limit=1", "?labelSelector=a%3Db", "?resourceVersion=0", "?resourceVersionMatch=Exact&resourceVersion=" + fmt.Sprint(rev)} {
				for _, method := range []string{"GET", "DELETE"} {
					r := w.do(method, path+query, "").want(500, `"message":"failed to read one or more `)
					r.want(500, `"reason":"StorageReadError","details":{"name":"list",`)
					r.want(500, `,"causes":[{"reason":"UnexpectedServerResponse","message":"Internal error occurred: stored object of `)
					r.want(500, `,"field":"`+key+`broken"}]},"code":500}`)
				}
			}
			w.do("GET", strings.Replace(path, "default", "other", 1), "").want(200, "")
		})
		t.Run("DEL-09 no other option goes with it", func(t *testing.T) {
			for name, option := range map[string]string{
				"dryRun": `["All"]`, "gracePeriodSeconds": "0", "orphanDependents": "true", "preconditions": `{"uid":"a"}`, "propagationPolicy": `"Background"`,
			} {
				del(path+"/broken", unsafeOption+`,"`+name+`":`+option).want(422, `DeleteOptions.meta.k8s.io \"\" is invalid: ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: cannot be set together with .`+name)
			}
		})
		t.Run("DEL-09 it is for nothing else", func(t *testing.T) {
			body := map[string]string{configMaps: configMap("whole", "v"), widgets: a("whole", `"size":1`)}[path]
			w.do("POST", path, body).want(201, "")
			for _, name := range []string{"whole", "none"} {
				del(path+"/"+name, unsafeOption).want(422, `is invalid: ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: is exclusively used to delete corrupt object(s), try again by removing this option`)
			}
			w.do("DELETE", path+"/whole?ignoreStoreReadErrorWithClusterBreakingPotential=true", "").want(422, "exclusively used")
			for _, r := range []*answer{del(path, unsafeOption), w.do("DELETE", path+"?ignoreStoreReadErrorWithClusterBreakingPotential=true", "")} {
				r.want(422, `DeleteOptions.meta.k8s.io \"\" is invalid: ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: is not allowed with DELETECOLLECTION, try again after removing the option`)
			}
			w.do("GET", path+"/whole", "").want(200, "")
		})
		t.Run("DEL-10 who may delete may not do this", func(t *testing.T) {
			del(path+"/broken", unsafeOption, "Authorization: Bearer bob").want(403, `\"broken\" is forbidden: not permitted to do \"unsafe-delete-ignore-read-errors\", reason: too unsafe`)
		})
		t.Run("DEL-08 DEL-10 the key is removed", func(t *testing.T) {
			del(path+"/broken", unsafeOption).want(200, `"details":{"name":"broken"`)
			w.do("GET", path+"/broken", "").want(404, "")
			if _, err := w.store.Get(t.Context(), key+"broken"); err == nil {
				t.Error("it is stored still")
			}
			w.do("GET", path, "").want(200, "")
		})
	}
}

// With the gate off the option says nothing.
func TestUnsafeDeletionIsOff_DEL06(t *testing.T) {
	w := newWorld(t)
	if _, err := w.store.Create(t.Context(), "/registry/configmaps/default/broken", []byte("garbage"), 0); err != nil {
		t.Fatal(err)
	}
	w.do("DELETE", configMaps+"/broken", "{"+unsafeOption+"}").want(500, "cannot be read")
	w.do("POST", configMaps, configMap("whole", "v")).want(201, "")
	w.do("DELETE", configMaps+"/whole", "{"+unsafeOption+`,"propagationPolicy":"Background"}`).want(200, "")
	w.do("DELETE", configMaps+"?ignoreStoreReadErrorWithClusterBreakingPotential=true&labelSelector=none", "").want(500, "")
}
