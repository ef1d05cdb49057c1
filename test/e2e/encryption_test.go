package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/test/harness"
)

const (
	encryptionKey1 = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	encryptionKey2 = "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="
)

// encryptionKeys is a provider with keys, of which the first encrypts.
func encryptionKeys(provider string, keys ...string) string {
	var list []string
	for i := 0; i < len(keys); i += 2 {
		list = append(list, fmt.Sprintf("{name: %s, secret: %s}", keys[i], keys[i+1]))
	}
	return "{" + provider + ": {keys: [" + strings.Join(list, ", ") + "]}}"
}

// encryptionConfig is a configuration that encrypts what the rules say: resources, and
// their providers, in turn.
func encryptionConfig(rules ...string) string {
	out := "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n"
	for i := 0; i < len(rules); i += 2 {
		out += "- resources: [" + rules[i] + "]\n  providers: [" + rules[i+1] + "]\n"
	}
	return out
}

// encrypting is a gateway whose store is encrypted.
type encrypting struct {
	*harness.Gateway
	t    *testing.T
	file string
	etcd *clientv3.Client
}

func startEncrypting(t *testing.T, config string, args ...string) *encrypting {
	t.Helper()
	harness.SkipExternal(t)
	e := &encrypting{t: t, file: filepath.Join(t.TempDir(), "encryption.yaml")}
	e.write(config)
	e.Gateway = harness.Start(t, harness.Options{Args: append(args, "--encryption-provider-config", e.file, "--encryption-provider-config-automatic-reload")})
	e.etcd = e.Etcd(t)
	return e
}

func (e *encrypting) write(config string) {
	e.t.Helper()
	if err := os.WriteFile(e.file, []byte(config), 0o600); err != nil {
		e.t.Fatal(err)
	}
}

// rewrite changes the file and waits until it was tried, with an outcome.
func (e *encrypting) rewrite(config, outcome string) {
	e.t.Helper()
	reloads := func() float64 {
		return metric(e.t, e.API(e.t), "apiserver_encryption_config_controller_automatic_reloads_total", `status="`+outcome+`"`)
	}
	before := reloads()
	e.write(config)
	harness.Eventually(e.t, "the new file: "+outcome, func() bool { return reloads() > before })
}

// kept are the values in etcd below a prefix, as they are.
func (e *encrypting) kept(prefix string) map[string][]byte {
	e.t.Helper()
	resp, err := e.etcd.Get(context.Background(), prefix, clientv3.WithPrefix())
	if err != nil {
		e.t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, kv := range resp.Kvs {
		out[string(kv.Key)] = kv.Value
	}
	return out
}

// wantKept compares how all values below a prefix begin.
func (e *encrypting) wantKept(prefix, begin string) {
	e.t.Helper()
	all := e.kept(prefix)
	if len(all) == 0 {
		e.t.Errorf("nothing is kept below %s", prefix)
	}
	for key, value := range all {
		if !bytes.HasPrefix(value, []byte(begin)) {
			e.t.Errorf("%s is kept as %.40q, want %s", key, value, begin)
		}
	}
}

// migrate rewrites a resource and returns the progress.
func (e *encrypting) migrate(name, group, resource string) string {
	e.t.Helper()
	api := e.API(e.t)
	api.Post(migrationPath, object{
		"apiVersion": "storagemigration.k8s.io/v1", "kind": "StorageVersionMigration", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"resource": map[string]any{"group": group, "resource": resource}},
	}).Want(201)
	awaitCondition(api, migrationPath+"/"+name, "Succeeded", "True")
	return api.Get(migrationPath + "/" + name).Want(200).Object().At("metadata.annotations").(map[string]any)["migration.wasmgate.dev/progress"].(string)
}

func secretOf(name, value string) object {
	return object{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name}, "stringData": map[string]any{"password": value}}
}

// TestEncryption writes objects of several kinds, a module's content among them, and
// looks for what they say in all of etcd.
func TestEncryption(t *testing.T) {
	t.Parallel()
	const telltale = "open sesame"
	e := startEncrypting(t, encryptionConfig(
		"secrets", encryptionKeys("aesgcm", "one", encryptionKey1),
		"'*.'", encryptionKeys("aescbc", "one", encryptionKey1),
		"'*.*'", encryptionKeys("secretbox", "one", encryptionKey2),
	))
	api := e.API(t)
	c := newCronTabs(t, &e.Server, nil)
	c.create("encrypted")
	path := "/api/v1/namespaces/" + c.ns
	api.Post(path+"/secrets", secretOf("one", telltale)).Want(201)
	api.Post(path+"/configmaps", object{"metadata": map[string]any{"name": "one"}, "data": map[string]any{"a": telltale}}).Want(201)
	module := harness.Module(t, crontabModule)
	pushModule(t, api, "crontab", module)
	for prefix, begin := range map[string]string{
		"/registry/secrets/":                         "k8s:enc:aesgcm:v1:one:",
		"/registry/configmaps/":                      "k8s:enc:aescbc:v1:one:",
		"/registry/namespaces/":                      "k8s:enc:aescbc:v1:one:",
		"/registry/clusterroles/":                    "k8s:enc:secretbox:v1:one:",
		"/registry/" + c.group + "/crontabs/":        "k8s:enc:secretbox:v1:one:",
		"/registry/apiextensions.k8s.io/":            "k8s:enc:secretbox:v1:one:",
		"/registry/wasmgate.dev/wasmmodules/crontab": "k8s:enc:secretbox:v1:one:",
		"/wasmgate/registry/blobs/":                  "k8s:enc:secretbox:v1:one:",
	} {
		e.wantKept(prefix, begin)
	}
	for key, value := range e.kept("/") {
		if bytes.Contains(value, []byte(telltale)) || bytes.Contains(value, []byte("\"kind\":")) || bytes.Contains(value, module[:100]) {
			t.Errorf("%s is kept as %.60q", key, value)
		}
	}
	e.Terminate(t)
	e.Restart(t)
	api.Get(path+"/configmaps/one").Want(200).Equal("data.a", telltale)
	api.Get(c.path("v1", "encrypted")).Want(200)
	api.Get(path + "/secrets").Want(200).Contains("b3BlbiBzZXNhbWU=")
	awaitCondition(api, modulePath+"/crontab", "Ready", "True")
	api.Get("/readyz/kms-providers").Want(200)
}

// TestEncryptionRotation replaces the key of everything while the gateway runs, and
// then takes the old one away.
func TestEncryptionRotation(t *testing.T) {
	t.Parallel()
	both := func(providers string) string {
		return encryptionConfig("secrets, configmaps, wasmmodules.wasmgate.dev", providers)
	}
	e := startEncrypting(t, both("{identity: {}}"))
	api := e.API(t)
	ns := namespace(t, api)
	path := "/api/v1/namespaces/" + ns
	for i := range 20 {
		api.Post(path+"/secrets", secretOf(fmt.Sprintf("s%02d", i), "v")).Want(201)
	}
	api.Post(path+"/configmaps", object{"metadata": map[string]any{"name": "one"}}).Want(201)
	pushModule(t, api, "crontab", harness.Module(t, crontabModule))
	e.wantKept("/registry/secrets/"+ns, "k8s\x00")

	e.rewrite(both(encryptionKeys("aesgcm", "one", encryptionKey1)+", {identity: {}}"), "success")
	t.Run("what is not encrypted is, by a write that changes nothing", func(t *testing.T) { e.changeNothing(t, ns) })
	t.Run("a migration rewrites the rest", func(t *testing.T) {
		before := api.Get(path + "/secrets/s05").Want(200).Object()
		if got := e.migrate("one", "", "secrets"); !strings.Contains(got, `"total":20,"done":20,"rewritten":18,"skipped":2,"failed":0`) {
			t.Errorf("it says %s", got)
		}
		e.wantKept("/registry/secrets/", "k8s:enc:aesgcm:v1:one:")
		after := api.Get(path + "/secrets/s05").Want(200).Object()
		if after.Str("data") != before.Str("data") || after.Str("metadata.uid") != before.Str("metadata.uid") {
			t.Errorf("was %v, is %v", before, after)
		}
		e.migrate("one-configmaps", "", "configmaps")
		e.migrate("one-modules", "wasmgate.dev", "wasmmodules")
		e.wantKept("/registry/wasmgate.dev/wasmmodules/", "k8s:enc:aesgcm:v1:one:")
		e.wantKept("/wasmgate/registry/blobs/", "k8s:enc:aesgcm:v1:one:")
	})
	t.Run("a bad file changes nothing", func(t *testing.T) {
		e.rewrite(both(encryptionKeys("aesgcm", "one", "c2hvcnQ=")), "failure")
		api.Post(path+"/secrets", secretOf("after", "v")).Want(201)
		e.wantKept("/registry/secrets/", "k8s:enc:aesgcm:v1:one:")
		if log := e.Log(); !strings.Contains(log, "secret is not of the expected length") || strings.Contains(log, encryptionKey1) {
			t.Error("the log does not say why, or says the key")
		}
	})
	t.Run("the key is replaced", func(t *testing.T) {
		e.rewrite(both(encryptionKeys("secretbox", "two", encryptionKey2)+", "+encryptionKeys("aesgcm", "one", encryptionKey1)), "success")
		if got := e.migrate("two", "", "secrets"); !strings.Contains(got, `"rewritten":21`) {
			t.Errorf("it says %s", got)
		}
		e.migrate("two-configmaps", "", "configmaps")
		e.migrate("two-modules", "wasmgate.dev", "wasmmodules")
		e.rewrite(both(encryptionKeys("secretbox", "two", encryptionKey2)), "success")
		for _, prefix := range []string{"/registry/secrets/", "/registry/configmaps/", "/registry/wasmgate.dev/wasmmodules/", "/wasmgate/registry/blobs/"} {
			e.wantKept(prefix, "k8s:enc:secretbox:v1:two:")
		}
		e.Terminate(t)
		e.Restart(t)
		if n := len(api.Get(path + "/secrets").Want(200).Object().Items()); n != 21 {
			t.Errorf("there are %d secrets, want 21", n)
		}
		awaitCondition(api, modulePath+"/crontab", "Ready", "True")
	})
}

// changeNothing makes writes that change nothing, of secrets that are stale.
func (e *encrypting) changeNothing(t *testing.T, ns string) {
	api, path := e.API(t), "/api/v1/namespaces/"+ns
	before := api.Get(path + "/secrets/s00").Want(200).Object()
	if again := api.Put(path+"/secrets/s00", before).Want(200).Object(); again.RV() == before.RV() {
		t.Error("it was not written")
	}
	e.wantKept("/registry/secrets/"+ns+"/s00", "k8s:enc:aesgcm:v1:one:")
	once := api.Get(path + "/secrets/s00").Want(200).Object()
	if again := api.Put(path+"/secrets/s00", once).Want(200).Object(); again.RV() != once.RV() {
		t.Error("it was written once more")
	}
	api.Do("PATCH", path+"/secrets/s01?dryRun=All", "{}", "Content-Type", "application/merge-patch+json").Want(200)
	e.wantKept("/registry/secrets/"+ns+"/s01", "k8s\x00")
	api.Merge(path+"/secrets/s01", "{}").Want(200)
	e.wantKept("/registry/secrets/"+ns+"/s01", "k8s:enc:aesgcm:v1:one:")
}

// TestEncryptedValuesThatCannotBeRead exchanges the values of two secrets, and plants
// one of another key and one in plain text: nobody reads them, everything else is as it was, and a file with
// the key makes that one readable.
func TestEncryptedValuesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	one := encryptionKeys("aesgcm", "one", encryptionKey1)
	e := startEncrypting(t, encryptionConfig("secrets", one), "--feature-gates", "AllowUnsafeMalformedObjectDeletion=true")
	api := e.API(t)
	ns, other := namespace(t, api), namespace(t, api)
	path := "/api/v1/namespaces/" + ns + "/secrets"
	for _, name := range []string{"a", "b", "c", "plain", "whole"} {
		api.Post(path, secretOf(name, name)).Want(201)
	}
	api.Post("/api/v1/namespaces/"+other+"/secrets", secretOf("whole", "v")).Want(201)
	root := "/registry/secrets/" + ns + "/"
	kept := e.kept(root)
	for name, value := range map[string][]byte{
		"a": kept[root+"b"], "b": kept[root+"a"], "c": bytes.Replace(kept[root+"c"], []byte(":one:"), []byte(":two:"), 1),
		"plain": []byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"plain","namespace":"` + ns + `"}}`),
	} {
		if _, err := e.etcd.Put(t.Context(), root+name, string(value)); err != nil {
			t.Fatal(err)
		}
	}
	const words = "cannot be read: it is encrypted, and by no provider and key of --encryption-provider-config that decrypt it"
	t.Run("DEL-07 they are told by name, and hide nothing else", func(t *testing.T) {
		api := e.API(t)
		for _, name := range []string{"a", "b", "c", "plain"} {
			for _, method := range []string{"GET", "DELETE"} {
				if r := api.Do(method, path+"/"+name, "").WantStatus(500, "InternalError", words); r.Contains("k8s:enc") {
					t.Errorf("%s", r.Body)
				}
			}
			api.Merge(path+"/"+name, `{"metadata":{"labels":{"a":"b"}}}`).WantStatus(500, "InternalError", words)
		}
		r := api.Get(path).WantStatus(500, "StorageReadError")
		if !r.Contains(root+"a") || !r.Contains(root+"b") || !r.Contains(root+"c") || !r.Contains(root+"plain") || r.Contains(root+"whole") {
			t.Errorf("%s", r.Body)
		}
		api.Get(path + "/whole").Want(200)
		api.Get("/api/v1/namespaces/" + other + "/secrets").Want(200).Contains("whole")
		api.Post(path, secretOf("new", "v")).Want(201)
		api.Post(path, secretOf("a", "v")).WantStatus(409, "AlreadyExists")
	})
	t.Run("DEL-08 they are deleted by force only", func(t *testing.T) {
		api := e.API(t)
		unsafe := `{"ignoreStoreReadErrorWithClusterBreakingPotential":true}`
		api.Do("DELETE", path+"/whole", unsafe).Want(422)
		for _, name := range []string{"a", "b", "plain"} {
			api.Do("DELETE", path+"/"+name, unsafe).Want(200)
			api.Get(path + "/" + name).Want(404)
		}
		if r := api.Get(path).WantStatus(500, "StorageReadError"); !r.Contains(root + "c") {
			t.Errorf("%s", r.Body)
		}
	})
	t.Run("DEL-07 what is decrypted again is there again", func(t *testing.T) {
		e.rewrite(encryptionConfig("secrets", one+", "+encryptionKeys("aesgcm", "two", encryptionKey1)), "success")
		api.Eventually(path, func(r *harness.Reply) bool { return r.Code == 200 })
		api.Get(path+"/c").Want(200).Equal("data.password", "Yw==")
	})
}
