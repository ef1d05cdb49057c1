package e2e

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestEnvtest has controller-runtime's envtest start the programs of the folder that
// `wasmgate envtest` makes, install a definition, let a user in, and use kubectl.
func TestEnvtest(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	env := &envtest.Environment{BinaryAssetsDirectory: assets(t), CRDs: []*apiextensionsv1.CustomResourceDefinition{cronTabDefinition(t)}}
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	}()
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tab := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "envtest.example.com/v1", "kind": "CronTab", "metadata": map[string]any{"name": "a", "namespace": "default"}, "spec": map[string]any{"hostPort": "a:1"},
	}}
	if err := c.Create(t.Context(), tab); err != nil {
		t.Fatal(err)
	}
	// Nobody acts on what is written: controllers are the tests' own affair.
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ends"}}
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(ns), ns); err != nil || ns.Status.Phase != corev1.NamespaceTerminating {
		t.Errorf("the namespace is %q: %v", ns.Status.Phase, err)
	}
	user, err := env.AddUser(envtest.User{Name: "anna", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	kubectl, err := user.Kubectl()
	if err != nil {
		t.Fatal(err)
	}
	out, said, err := kubectl.Run("get", "crontabs.envtest.example.com", "-o", "name")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != "crontab.envtest.example.com/a\n" {
		t.Errorf("%q %v", text, said)
	}
}

// assets is the folder that `wasmgate envtest` makes, with kubectl, as it is told of.
func assets(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "assets")
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), harness.Binary(t), append([]string{"envtest", dir}, args...)...)
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(harness.KubectlPath(t)))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, args := range [][]string{nil, {"--replace"}} {
		if out, err := run(args...); err != nil || out != "export KUBEBUILDER_ASSETS='"+dir+"'\n" {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if out, err := run(); err == nil || !strings.Contains(out, filepath.Join(dir, "etcd")+" is there already: name another directory, or say --replace") {
		t.Errorf("%v: %s", err, out)
	}
	return dir
}

// cronTabDefinition is the definition of most tests, for one server alone.
func cronTabDefinition(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	text := strings.NewReplacer("GROUP", "envtest.example.com", "SCHEMA", cronTabSchema).Replace(cronTabCRD)
	if err := json.Unmarshal([]byte(text), crd); err != nil {
		t.Fatal(err)
	}
	return crd
}
