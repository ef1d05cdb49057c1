package e2e

import (
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestControllersCanBeTurnedOff: what --controllers turns off is left to others, what
// it leaves on is done, and a gateway without the flag makes up for all of it.
func TestControllersCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	o := harness.Options{DataDir: t.TempDir(), Args: []string{
		"--controllers=*,-namespace-controller,-garbage-collector-controller,-resourcequota-controller,-storage-version-migrator-controller,-persistentvolumeclaim-protection-controller"}}
	g := harness.Start(t, o)
	api, ns := g.API(t), "n"+unique()
	path := "/api/v1/namespaces/" + ns
	api.Post("/api/v1/namespaces", object{"metadata": object{"name": ns}}).Want(201)
	owner := api.Post(path+"/configmaps", object{"metadata": object{"name": "owner"}}).Want(201)
	api.Post(path+"/configmaps", object{"metadata": object{"name": "owned", "ownerReferences": []object{
		{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.Str("metadata.uid")}}}}).Want(201)
	api.Post(path+"/resourcequotas", object{"metadata": object{"name": "q"}, "spec": object{"hard": object{"configmaps": "9"}}}).Want(201)
	api.Post(path+"/persistentvolumeclaims", object{"metadata": object{"name": "c"}, "spec": object{
		"accessModes": []string{"ReadWriteOnce"}, "resources": object{"requests": object{"storage": "1Gi"}}}}).Want(201)
	const migrations = "/apis/storagemigration.k8s.io/v1/storageversionmigrations"
	api.Post(migrations, object{"metadata": object{"name": ns}, "spec": object{"resource": object{"group": "", "resource": "configmaps"}}}).Want(201)
	api.Delete(path + "/persistentvolumeclaims/c").Want(200)
	api.Delete(path + "/configmaps/owner").Want(200)
	api.Delete(path).Want(200)

	// The controllers that are left do their work: of a policy, and of a volume.
	const policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
	api.Post(policies, object{"metadata": object{"name": ns}, "spec": object{
		"matchConstraints": object{"resourceRules": []object{{"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "operations": []string{"CREATE"}, "resources": []string{"secrets"}}}},
		"validations":      []object{{"expression": "object.nothing == 1"}}}}).Want(201)
	api.Eventually(policies+"/"+ns, func(r *harness.Reply) bool { return r.Str("status.observedGeneration") == "1" })
	api.Post("/api/v1/persistentvolumes", object{"metadata": object{"name": ns}, "spec": object{
		"capacity": object{"storage": "1Gi"}, "accessModes": []string{"ReadWriteOnce"}, "csi": object{"driver": "d", "volumeHandle": "h"}}}).Want(201)
	api.Delete("/api/v1/persistentvolumes/" + ns).Want(200)
	api.Eventually("/api/v1/persistentvolumes/"+ns, func(r *harness.Reply) bool { return r.Code == 404 })

	api.Get(path).Want(200).Equal("status.phase", "Terminating").Equal("spec.finalizers.0", "kubernetes")
	api.Get(path + "/configmaps/owned").Want(200)
	api.Get(path+"/resourcequotas/q").Want(200).Equal("status.used", "")
	api.Get(path+"/persistentvolumeclaims/c").Want(200).Equal("metadata.finalizers.0", "kubernetes.io/pvc-protection")
	api.Get(migrations+"/"+ns).Want(200).Equal("status.conditions", "")

	g.Terminate(t)
	o.Args = nil
	api = harness.Start(t, o).API(t)
	api.Eventually(path, func(r *harness.Reply) bool { return r.Code == 404 })
	api.Eventually(migrations+"/"+ns, func(r *harness.Reply) bool {
		return condition(r.Object(), "Succeeded")["status"] == "True"
	})
}
