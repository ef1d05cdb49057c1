package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/test/harness"
)

// planned is what `wasmgate plan -o json` prints.
type planned struct {
	Definition string
	InTheWay   []struct{ Version, What, Do string }
	Steps      []struct {
		Do, Version, Command string
		Waits                bool
	}
}

// TestPlanIsCarriedOut: what is stored, asked for and owned at an old version is told,
// and once nothing is in the way, the commands of the plan leave the new version alone.
func TestPlanIsCarriedOut(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	c := newCronTabs(t, &g.Server, func(crd object) { storeAt(crd, "v1beta1") })
	for _, name := range []string{"one", "two"} {
		c.api.Post(c.list("v1beta1"), c.object("v1beta1", name, `{"host":"h"}`), "User-Agent", "old-operator/1").Want(201)
	}
	applied := c.object("v1beta1", "two", `{"replicas":3}`)
	c.api.Do("PATCH", c.path("v1beta1", "two")+"?fieldManager=deployer", applied, "Content-Type", "application/apply-patch+yaml").Want(200)
	crd := c.api.Get(c.crdPath()).Want(200).Object()
	storeAt(crd, "v1")
	c.api.Put(c.crdPath(), crd).Want(200)
	c.api.Eventually(c.crdPath(), func(r *harness.Reply) bool { return r.Str("status.storedVersions") == `["v1beta1","v1"]` })
	c.api.Post(c.list("v1"), c.object("v1", "three", `{"host":"h"}`)).Want(201)

	usage := c.api.Get(c.crdPath() + "/usage").Want(200)
	usage.Equal("stored", `[{"objects":1,"version":"v1"},{"objects":2,"version":"v1beta1"}]`)
	for _, part := range []string{`"agent":"old-operator/1"`, `"manager":"deployer","operation":"Apply","objects":1`} {
		if !usage.Contains(part) {
			t.Errorf("%s is not in %s", part, usage.Body)
		}
	}
	plan, status := runPlan(t, g, "crontabs."+c.group)
	told := ""
	for _, o := range plan.InTheWay {
		told += o.Version + ": " + o.What + "\n"
	}
	mustContain(t, told, "v1beta1: ", "as old-operator/1: ", "v1beta1: deployer applies at it, and owns fields of 1 object")
	if status != 1 || len(plan.Steps) != 3 || plan.Steps[0].Waits || !plan.Steps[1].Waits || !plan.Steps[2].Waits {
		t.Errorf("status %d of %+v", status, plan)
	}

	// The deployer goes to v1. What was asked for before does not count.
	applied["apiVersion"] = c.group + "/v1"
	c.api.Do("PATCH", c.path("v1", "two")+"?fieldManager=deployer&force=true", applied, "Content-Type", "application/apply-patch+yaml").Want(200)
	if plan, status = runPlan(t, g, "crontabs."+c.group, "--since", "1ms"); status != 0 || len(plan.InTheWay) > 0 {
		t.Fatalf("status %d: %+v", status, plan.InTheWay)
	}
	carryOut(t, g, plan)
	left := c.api.Get(c.crdPath()).Want(200)
	if versions := left.Object().At("spec.versions").([]any); len(versions) != 1 || left.Str("spec.versions.0.name") != "v1" {
		t.Errorf("left are %v", versions)
	}
	left.Equal("status.storedVersions", `["v1"]`)
	if plan, status = runPlan(t, g); status != 0 || len(plan.Steps) > 0 {
		t.Errorf("afterwards: status %d, %+v", status, plan)
	}
}

// runPlan runs `wasmgate plan` and returns the first plan, and the exit status.
func runPlan(t *testing.T, g *harness.Gateway, args ...string) (planned, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), g.Binary, append([]string{"plan", "-o", "json", "--kubeconfig", g.Kubeconfig}, args...)...)
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	var all []planned
	if err := yaml.Unmarshal(out, &all); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if len(all) == 0 {
		return planned{}, cmd.ProcessState.ExitCode()
	}
	return all[0], cmd.ProcessState.ExitCode()
}

// carryOut pastes the commands of a plan into a shell.
func carryOut(t *testing.T, g *harness.Gateway, plan planned) {
	t.Helper()
	bin := t.TempDir()
	for name, target := range map[string]string{"kubectl": harness.KubectlPath(t), "wasmgate": g.Binary} {
		if err := os.Symlink(target, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "KUBECONFIG="+g.Kubeconfig, "KUBECACHEDIR="+filepath.Join(bin, "cache"))
	var done []string
	for _, s := range plan.Steps {
		harness.Shell(t, bin, env, s.Command)
		done = append(done, s.Do)
	}
	if got := strings.Join(done, " "); got != "migrate unserve remove" {
		t.Errorf("done was %q", got)
	}
}

// TestUsageHasItsPermission: it names users, so who reads definitions does not have it
// for that.
func TestUsageHasItsPermission(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	c := newCronTabs(t, &g.Server, nil)
	k := g.Kubectl(t)
	k.Must("create", "clusterrole", "reader", "--verb=get,list", "--resource=customresourcedefinitions")
	k.Must("create", "clusterrolebinding", "reader", "--clusterrole=reader", "--user=ann")
	k.Must("create", "clusterrolebinding", "viewer", "--clusterrole=wasmgate:viewer", "--user=vera")
	c.api.Eventually(c.crdPath(), func(*harness.Reply) bool {
		r := c.api.Get(c.crdPath(), "Impersonate-User", "ann")
		return r.Code == 200 && c.api.Get(c.crdPath()+"/usage", "Impersonate-User", "vera").Code == 200
	})
	c.api.Get(c.crdPath()+"/usage", "Impersonate-User", "ann").WantStatus(403, "Forbidden", `cannot get resource "customresourcedefinitions/usage"`)
	c.api.Get(crdPath+"/none.example.com/usage").WantStatus(404, "NotFound", "none.example.com")
	c.api.Post(c.crdPath()+"/usage", object{}).WantStatus(405, "MethodNotAllowed")
	out, err := run(t, g, "__complete", "plan", "--kubeconfig", g.Kubeconfig, "")
	if err != nil || !strings.Contains(out, "crontabs."+c.group) {
		t.Errorf("completion: %v\n%s", err, out)
	}
	for want, args := range map[string][]string{
		"--versions is about one definition": {"--versions", "v1"},
		`it has no version "v9"`:             {"crontabs." + c.group, "--versions", "v9"},
		`there is no definition "crontabs"`:  {"crontabs"},
		"--since: must not be negative":      {"--since", "-1h"},
	} {
		cmd := exec.CommandContext(t.Context(), g.Binary, append([]string{"plan", "--kubeconfig", g.Kubeconfig}, args...)...)
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), want) {
			t.Errorf("%v: status %d\n%s", args, cmd.ProcessState.ExitCode(), out)
		}
	}
}
