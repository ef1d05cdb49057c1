package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// owned makes a ConfigMap with owners that it blocks.
func (k *kubectlTest) owned(name string, owners ...object) object {
	k.t.Helper()
	m := configMap(k.t, k.ns, name, `{}`)
	var refs []any
	for _, o := range owners {
		refs = append(refs, map[string]any{
			"apiVersion": o.Str("apiVersion"), "kind": o.Str("kind"), "name": o.Str("metadata.name"), "uid": o.Str("metadata.uid"), "blockOwnerDeletion": true,
		})
	}
	m.Set("metadata.ownerReferences", refs)
	return k.api.Post(configMaps(k.ns), m).Want(201).Object()
}

// owners reads who owns a ConfigMap, in kubectl's words.
func (k *kubectlTest) owners(name string) string {
	k.t.Helper()
	return k.must("get", "configmap", name, "-o", "jsonpath={.metadata.ownerReferences[*].name}")
}

func TestKubectlCascades_DEL05(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t) // nobody collects behind a bare kube-apiserver
	k := newKubectl(t)
	other := k.owned("other")
	family := func(t *testing.T, name string) *kubectlTest {
		own := *k
		c := *k.cronTabs
		c.t, c.api, own.cronTabs = t, c.s.API(t), &c
		owner := own.create(name)
		child := own.owned(name+"-child", owner)
		own.owned(name+"-grandchild", child)
		own.owned(name+"-shared", owner, other)
		return &own
	}
	t.Run("orphan", func(t *testing.T) {
		k := family(t, "orphan")
		k.must("delete", k.plural+"/orphan", "--cascade=orphan")
		if got := k.owners("orphan-child") + "," + k.owners("orphan-grandchild") + "," + k.owners("orphan-shared"); got != ",orphan-child,other" {
			t.Errorf("owners are %q", got)
		}
	})
	t.Run("foreground", func(t *testing.T) {
		k := family(t, "front")
		k.must("delete", k.plural+"/front", "--cascade=foreground")
		k.api.Get(configMaps(k.ns) + "/front-child").Want(404)
		k.api.Get(configMaps(k.ns) + "/front-grandchild").Want(404)
		if got := k.owners("front-shared"); got != "other" {
			t.Errorf("the owners of what is shared are %q", got)
		}
	})
	t.Run("background", func(t *testing.T) {
		k := family(t, "back")
		k.must("delete", k.plural+"/back", "--cascade=background")
		k.api.Get(k.path("v1", "back")).Want(404)
		for _, name := range []string{"back-child", "back-grandchild"} {
			k.api.Eventually(configMaps(k.ns)+"/"+name, func(r *harness.Reply) bool { return r.Code == 404 })
		}
		k.api.Eventually(configMaps(k.ns)+"/back-shared", func(r *harness.Reply) bool {
			return r.Object().Str("metadata.ownerReferences") != "" && k.owners("back-shared") == "other"
		})
	})
	t.Run("a finalizer holds a dependent", func(t *testing.T) {
		k := family(t, "held")
		grandchild := configMaps(k.ns) + "/held-grandchild"
		k.api.Merge(grandchild, `{"metadata":{"finalizers":["example.com/f"]}}`).Want(200)
		k.must("delete", k.plural+"/held", "--cascade=foreground", "--wait=false")
		k.api.Eventually(grandchild, func(r *harness.Reply) bool { return r.Str("metadata.deletionTimestamp") != "" })
		k.api.Get(k.path("v1", "held")).Want(200).Equal("metadata.finalizers", `["foregroundDeletion"]`)
		k.api.Merge(grandchild, `{"metadata":{"finalizers":null}}`).Want(200)
		k.must("wait", k.plural+"/held", "--for=delete", "--timeout=60s")
	})
}

func TestCascadesOfClusterScopedOwners_DEL05(t *testing.T) {
	harness.SkipExternal(t)
	s := harness.Shared(t)
	c := &cronTabs{t: t, s: s, api: s.API(t), group: "g" + unique() + ".example.com"}
	c.ns = namespace(t, c.api)
	crd := parse(t, strings.NewReplacer("GROUP", c.group, "SCHEMA", cronTabSchema).Replace(cronTabCRD))
	c.api.Post(crdPath, crd.Set("spec.scope", "Cluster")).Want(201)
	t.Cleanup(func() { _, _ = c.api.Try("DELETE", c.crdPath(), nil) })
	c.api.Eventually(c.all("v1"), func(r *harness.Reply) bool { return r.Code == 200 })
	k := &kubectlTest{cronTabs: c}
	for _, policy := range []string{"Background", "Orphan", "Foreground"} {
		o := object{"apiVersion": c.group + "/v1", "kind": "CronTab", "metadata": map[string]any{"name": "owner"}, "spec": map[string]any{}}
		owner := c.api.Post(c.all("v1"), o).Want(201).Object()
		k.owned("one", owner)
		c.api.Delete(c.all("v1") + "/owner?propagationPolicy=" + policy).Want(200)
		c.api.Eventually(c.all("v1")+"/owner", func(r *harness.Reply) bool { return r.Code == 404 })
		switch policy {
		case "Background":
			c.api.Eventually(configMaps(c.ns)+"/one", func(r *harness.Reply) bool { return r.Code == 404 })
			continue
		case "Foreground":
			c.api.Get(configMaps(c.ns) + "/one").Want(404)
			continue
		}
		c.api.Get(configMaps(c.ns)+"/one").Want(200).Equal("metadata.ownerReferences", "")
		c.api.Delete(configMaps(c.ns) + "/one").Want(200)
	}
}

// What cannot be converted can be collected all the same.
func TestCascadesWithABrokenConverter_DEL05(t *testing.T) {
	harness.SkipExternal(t)
	hook := harness.NewWebhook(t)
	c := newWebhookCronTabs(t, harness.Shared(t), hook)
	k := &kubectlTest{cronTabs: c}
	hook.Inject(func(w http.ResponseWriter, _, _ object) bool {
		http.Error(w, "out of order", http.StatusInternalServerError)
		return false
	})
	for _, policy := range []string{"Background", "Orphan", "Foreground"} {
		owner := c.api.Post(c.list("v1beta1"), c.object("v1beta1", "owner", `{"hostPort":"a:1"}`)).Want(201).Object()
		k.owned("one", owner)
		two := c.object("v1beta1", "two", `{"hostPort":"a:1"}`)
		two.Set("metadata.ownerReferences", []any{map[string]any{
			"apiVersion": owner.Str("apiVersion"), "kind": "CronTab", "name": "owner", "uid": owner.Str("metadata.uid"), "blockOwnerDeletion": true,
		}})
		c.api.Post(c.list("v1beta1"), two).Want(201)
		c.api.Get(c.path("v1", "owner")).Want(500)
		c.api.Delete(c.path("v1beta1", "owner") + "?propagationPolicy=" + policy).Want(200)
		c.api.Eventually(c.path("v1beta1", "owner"), func(r *harness.Reply) bool { return r.Code == 404 })
		if policy != "Orphan" {
			for _, dependent := range []string{configMaps(c.ns) + "/one", c.path("v1beta1", "two")} {
				c.api.Eventually(dependent, func(r *harness.Reply) bool { return r.Code == 404 })
			}
			continue
		}
		for _, dependent := range []string{configMaps(c.ns) + "/one", c.path("v1beta1", "two")} {
			c.api.Get(dependent).Want(200).Equal("metadata.ownerReferences", "")
			c.api.Delete(dependent).Want(200)
		}
	}
}
