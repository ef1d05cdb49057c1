package e2e

import (
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/wasmgate/wasmgate/test/harness"
)

const outageMaps = "/api/v1/namespaces/default/configmaps"

// TestFullEtcd has etcd raise and lower its alarm about space: what needs room
// is refused with the reason, everything else works, and afterwards nothing has
// to be done to the gateways.
func TestFullEtcd(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	embedded := harness.Start(t, harness.Options{})
	external := harness.Start(t, harness.Options{EtcdServers: embedded.EtcdURL})
	alarms := pb.NewMaintenanceClient(embedded.Etcd(t).ActiveConnection())
	alarm := func(a pb.AlarmRequest_AlarmAction) {
		t.Helper()
		if _, err := alarms.Alarm(t.Context(), &pb.AlarmRequest{Action: a, MemberID: 1, Alarm: pb.AlarmType_NOSPACE}); err != nil {
			t.Fatal(err)
		}
	}
	for name, s := range map[string]*harness.Server{"embedded": &embedded.Server, "external": &external.Server} {
		api := s.API(t)
		api.Post(outageMaps, named("there-"+name)).Want(201)
		api.Post(outageMaps, named("old-"+name)).Want(201)
	}
	seen := external.API(t).Watch(outageMaps + "?watch=1&resourceVersion=" + external.API(t).Get(outageMaps).Want(200).Object().RV())
	alarm(pb.AlarmRequest_ACTIVATE)
	for name, s := range map[string]*harness.Server{"embedded": &embedded.Server, "external": &external.Server} {
		api := s.API(t)
		api.Post(outageMaps, named("new")).WantStatus(500, "InternalError", "database space exceeded")
		api.Merge(outageMaps+"/there-"+name, `{"data":{"a":"b"}}`).WantStatus(500, "InternalError", "database space exceeded")
		api.Get(outageMaps + "/there-" + name).Want(200)
		api.Get(outageMaps + "/new").Want(404)
		api.Delete(outageMaps + "/old-" + name).Want(200)
		seen.Expect("DELETED", "old-"+name)
		api.Get("/readyz").Want(200)
	}
	alarm(pb.AlarmRequest_DEACTIVATE)
	for name, s := range map[string]*harness.Server{"embedded": &embedded.Server, "external": &external.Server} {
		s.API(t).Merge(outageMaps+"/there-"+name, `{"data":{"a":"b"}}`).Want(200)
		seen.Expect("MODIFIED", "there-"+name)
		s.API(t).Post(outageMaps, named("new-"+name)).Want(201)
		seen.Expect("ADDED", "new-"+name)
	}
}

// TestEtcdGoesAway takes etcd away from a gateway and gives it back: meanwhile
// it says so and answers what it may from memory, afterwards it serves again by
// itself, and a watch that was open all the time has missed nothing.
func TestEtcdGoesAway(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	etcd := harness.Start(t, harness.Options{})
	g := harness.Start(t, harness.Options{EtcdServers: etcd.EtcdURL, Args: []string{"--request-timeout", "10s"}})
	api := g.API(t)
	api.Post(outageMaps, named("before")).Want(201)
	seen := api.Watch(outageMaps + "?watch=1&resourceVersion=" + api.Get(outageMaps).Want(200).Object().RV())
	etcd.Kill(t)
	harness.Eventually(t, "not ready", func() bool { return api.Get("/readyz").Code == 500 })
	api.Get(outageMaps + "/before?resourceVersion=0").Want(200)
	api.Get(outageMaps+"/before").Want(503, 504)
	// Which it is depends on who gives up first, the store or the request.
	r := api.Post(outageMaps, named("lost")).Want(500, 504)
	if r.Code == 500 && !r.Contains("the store did not confirm the write") || r.Code == 504 && !r.Contains(`"reason":"Timeout"`) || r.Header.Get("Retry-After") != "" {
		t.Errorf("%d %v, of what may have been written", r.Code, r.Header)
	}
	etcd.Restart(t)
	etcd.API(t).Post(outageMaps, named("elsewhere")).Want(201)
	seen.Expect("ADDED", "elsewhere")
	harness.Eventually(t, "ready", func() bool { return api.Get("/readyz").Code == 200 })
	api.Get(outageMaps + "/elsewhere").Want(200)
	api.Post(outageMaps, named("here")).Want(201)
	seen.Expect("ADDED", "here")
	if code := api.Get(outageMaps + "/lost").Code; code != 404 {
		t.Errorf("a write that nobody could take is there: %d", code)
	}
}

func named(name string) string { return `{"metadata":{"name":"` + name + `"}}` }
