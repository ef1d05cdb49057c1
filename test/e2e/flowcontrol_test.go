package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

const (
	flowSchemas    = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
	priorityLevels = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"
	schemaHeader   = "X-Kubernetes-Pf-Flowschema-Uid"
	levelHeader    = "X-Kubernetes-Pf-Prioritylevel-Uid"
)

// level is a PriorityLevelConfiguration of so many shares, where nobody waits.
func level(name string, shares int) object {
	return object{"apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "PriorityLevelConfiguration", "metadata": object{"name": name},
		"spec": object{"type": "Limited", "limited": object{"nominalConcurrencyShares": shares, "borrowingLimitPercent": 0, "limitResponse": object{"type": "Reject"}}}}
}

// schemaOf is a FlowSchema for whatever a user does.
func schemaOf(name, level, user string) object {
	return object{"apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "FlowSchema", "metadata": object{"name": name},
		"spec": object{"priorityLevelConfiguration": object{"name": level}, "matchingPrecedence": 50, "rules": []object{{
			"subjects":         []object{{"kind": "User", "user": object{"name": user}}},
			"resourceRules":    []object{{"verbs": []string{"*"}, "apiGroups": []string{"*"}, "resources": []string{"*"}, "namespaces": []string{"*"}, "clusterScope": true}},
			"nonResourceRules": []object{{"verbs": []string{"*"}, "nonResourceURLs": []string{"*"}}}}}}}
}

// TestFlowControl: what FlowSchemas and PriorityLevelConfigurations say is in force as
// soon as they are written, replies tell it, and there are those that kube-apiserver
// has. It can run against kube-apiserver, but that objects are in force at once.
func TestFlowControl(t *testing.T) {
	api := harness.Shared(t).API(t)
	uid := func(path string) string { return api.Get(path).Want(200).Str("metadata.uid") }
	falls := func(r *harness.Reply) [2]string {
		return [2]string{r.Header.Get(schemaHeader), r.Header.Get(levelHeader)}
	}
	for of, names := range map[string]string{
		flowSchemas: "catch-all exempt global-default kube-controller-manager kube-scheduler kube-system-service-accounts " +
			"probes service-accounts system-leader-election system-node-high system-nodes",
		priorityLevels: "catch-all exempt global-default leader-election node-high system workload-high workload-low",
	} {
		for _, name := range strings.Fields(names) {
			if r := api.Get(of + "/" + name).Want(200); r.Str("metadata.annotations.apf.kubernetes.io/autoupdate-spec") != "true" {
				t.Errorf("%s has %v", name, r.Str("metadata.annotations"))
			}
		}
	}
	if got, want := falls(api.Get(configMaps("default")).Want(200)), [2]string{uid(flowSchemas + "/exempt"), uid(priorityLevels + "/exempt")}; got != want {
		t.Errorf("an administrator falls under %v, want %v", got, want)
	}
	if got := rowNames(t, api.Get(flowSchemas, "Accept", "application/json;as=Table;g=meta.k8s.io;v=v1").Want(200)); !inThisOrder(got, "exempt", "probes", "system-leader-election", "system-node-high", "kube-controller-manager", "kube-scheduler", "service-accounts", "global-default", "catch-all") {
		t.Errorf("a table of schemas has the order %v", got)
	}
	user, l, s := "ann-"+unique(), "level-"+unique(), "schema-"+unique()
	as := []string{"Impersonate-User", user, "Impersonate-Group", "system:authenticated"}
	standard := [2]string{uid(flowSchemas + "/global-default"), uid(priorityLevels + "/global-default")}
	if got := falls(api.Get("/version", as...).Want(200)); got != standard {
		t.Errorf("a user falls under %v, want %v", got, standard)
	}
	if got := falls(api.Get(configMaps("default"), as...).Want(403)); got != standard { // it waits before it is asked what it may
		t.Errorf("who may not falls under %v, want %v", got, standard)
	}
	api.Post(flowSchemas, schemaOf(s, l, user)).Want(201)
	t.Cleanup(func() { api.Delete(flowSchemas + "/" + s) })
	dangling := func(status string) {
		t.Helper()
		api.Eventually(flowSchemas+"/"+s, func(r *harness.Reply) bool {
			return r.Str("status.conditions.0.type") == "Dangling" && r.Str("status.conditions.0.status") == status &&
				strings.Contains(r.Str("status.conditions.0.message"), `"`+l+`"`)
		})
	}
	dangling("True")
	if got := falls(api.Get("/version", as...).Want(200)); got != standard { // a schema without a level is not in force
		t.Errorf("a user falls under %v, want %v", got, standard)
	}
	api.Post(priorityLevels, level(l, 0)).Want(201)
	t.Cleanup(func() { api.Delete(priorityLevels + "/" + l) })
	dangling("False")
	mine := [2]string{uid(flowSchemas + "/" + s), uid(priorityLevels + "/" + l)}
	for _, path := range []string{"/version", configMaps("default"), configMaps("default") + "?watch=1"} {
		r := api.Get(path, as...).Want(429)
		if falls(r) != mine || r.Header.Get("Retry-After") == "" || string(r.Body) != "Too many requests, please try again later.\n" || r.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s: %v %q, want %v", path, r.Header, r.Body, mine)
		}
	}
	api.Get("/version").Want(200)
	api.Merge(priorityLevels+"/"+l, object{"spec": object{"limited": object{"nominalConcurrencyShares": 5}}}).Want(200)
	if got := falls(api.Get("/version", as...).Want(200)); got != mine {
		t.Errorf("a user falls under %v, want %v", got, mine)
	}
}

// rowNames are the first cells of a table.
func rowNames(t *testing.T, table *harness.Reply) (out []string) {
	t.Helper()
	var body struct{ Rows []struct{ Cells []any } }
	if err := json.Unmarshal(table.Body, &body); err != nil {
		t.Fatal(err)
	}
	for _, row := range body.Rows {
		out = append(out, fmt.Sprint(row.Cells[0]))
	}
	return out
}

// inThisOrder tells whether names are in a list, one after the other.
func inThisOrder(list []string, names ...string) bool {
	for _, one := range list {
		if len(names) > 0 && one == names[0] {
			names = names[1:]
		}
	}
	return len(names) == 0
}

// TestFlowControlIsKept: mandatory objects are as they are, suggested ones as long as
// nobody says otherwise.
func TestFlowControlIsKept(t *testing.T) {
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	api := g.API(t)
	shares := func(n int) object { return object{"spec": object{"limited": object{"nominalConcurrencyShares": n}}} }
	const path = "spec.limited.nominalConcurrencyShares"
	api.Merge(priorityLevels+"/workload-low", shares(7)).Want(200)
	api.Eventually(priorityLevels+"/workload-low", func(r *harness.Reply) bool { return r.Str(path) == "100" })
	api.Merge(priorityLevels+"/workload-high", object{"metadata": object{"annotations": object{"apf.kubernetes.io/autoupdate-spec": "false"}}}).Want(200)
	api.Merge(priorityLevels+"/workload-high", shares(7)).Want(200)
	api.Delete(priorityLevels + "/catch-all").Want(200)
	api.Delete(flowSchemas + "/exempt").Want(200)
	api.Delete(flowSchemas + "/probes").Want(200)
	for _, one := range []string{priorityLevels + "/catch-all", flowSchemas + "/exempt", flowSchemas + "/probes"} {
		api.Eventually(one, func(r *harness.Reply) bool { return r.Code == 200 })
	}
	api.Get(priorityLevels+"/workload-high").Want(200).Equal(path, "7")
	api.Merge(priorityLevels+"/exempt", object{"spec": object{"exempt": object{"nominalConcurrencyShares": 3}}}).Want(200)
	name := "stale-" + unique()
	stale := level(name, 1)
	stale["metadata"] = object{"name": name, "annotations": object{"apf.kubernetes.io/autoupdate-spec": "true"}}
	api.Post(priorityLevels, stale).Want(201)
	api.Eventually(priorityLevels+"/"+name, func(r *harness.Reply) bool { return r.Code == 404 })
	api.Get(priorityLevels+"/exempt").Want(200).Equal("spec.exempt.nominalConcurrencyShares", "3")
}

// TestWithoutFlowControl: nothing waits, and replies say nothing of it.
func TestWithoutFlowControl(t *testing.T) {
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{Args: []string{"--enable-priority-and-fairness=false"}})
	r := g.API(t).Get("/version").Want(200)
	if r.Header.Get(schemaHeader)+r.Header.Get(levelHeader) != "" {
		t.Errorf("headers %v", r.Header)
	}
}

// TestFlowControlIsShown: what flow control does is in metrics and in tables for who
// looks for a fault. It can run against kube-apiserver.
func TestFlowControlIsShown(t *testing.T) {
	api := harness.Shared(t).API(t)
	const debug = "/debug/api_priority_and_fairness/"
	columns := func(row string) string { return strings.ReplaceAll(row, " ", "") }
	for path, head := range map[string]string{
		"dump_priority_levels": "PriorityLevelName,ActiveQueues,IsIdle,IsQuiescing,WaitingRequests,ExecutingRequests,DispatchedRequests,RejectedRequests,TimedoutRequests,CancelledRequests",
		"dump_queues":          "PriorityLevelName,Index,PendingRequests,ExecutingRequests,SeatsInUse,NextDispatchR,InitialSeatsSum,MaxSeatsSum,TotalWorkSum",
		"dump_requests":        "PriorityLevelName,FlowSchemaName,QueueIndex,RequestIndexInQueue,FlowDistingsher,ArriveTime,InitialSeats,FinalSeats,AdditionalLatency,StartTime",
		"dump_requests?includeRequestDetails=please": "PriorityLevelName,FlowSchemaName,QueueIndex,RequestIndexInQueue,FlowDistingsher,ArriveTime,InitialSeats,FinalSeats,AdditionalLatency,StartTime,UserName,Verb,APIPath,Namespace,Name,APIVersion,Resource,SubResource",
	} {
		r := api.Get(debug + path).Want(200)
		rows := strings.Split(string(r.Body), "\n")
		if columns(rows[0]) != head || r.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s: %s %q", path, r.Header.Get("Content-Type"), rows[0])
		}
		if strings.HasPrefix(path, "dump_requests") && !strings.Contains(columns(string(r.Body)), "\nexempt,exempt,-1,-1,,") {
			t.Errorf("%s does not show itself: %s", path, r.Body)
		}
		if strings.Contains(path, "?") && !strings.Contains(columns(string(r.Body)), ",get,/debug/api_priority_and_fairness/dump_requests,") {
			t.Errorf("%s says nothing of itself: %s", path, r.Body)
		}
	}
	if r := api.Get(debug + "dump_queues").Want(200); !strings.Contains(columns(string(r.Body)), "\nworkload-low,127,0,0,0,") {
		t.Errorf("queues: %.2000s", r.Body)
	}
	as := []string{"Impersonate-User", "ann-" + unique(), "Impersonate-Group", "system:authenticated"}
	api.Get(debug+"dump_requests", as...).Want(403)
	api.Get("/version", as...).Want(200)
	metrics := string(api.Get("/metrics").Want(200).Body)
	const flow = `{flow_schema="global-default",priority_level="global-default"`
	for _, want := range []string{
		"dispatched_requests_total" + flow + "} ", `request_wait_duration_seconds_count{execute="true",flow_schema="global-default",priority_level="global-default"} `,
		"request_execution_seconds_count" + flow + `,type="regular"} `, "work_estimated_seats_count" + flow + "} ", "current_executing_requests" + flow + "} ", "current_executing_seats" + flow + "} ",
		"current_inqueue_requests" + flow + "} ", `current_executing_requests{flow_schema="exempt",priority_level="exempt"} `,
		`nominal_limit_seats{priority_level="workload-low"} `, `lower_limit_seats{priority_level="workload-low"} `, `upper_limit_seats{priority_level="workload-low"} `, `current_limit_seats{priority_level="workload-low"} `,
	} {
		if !strings.Contains(metrics, "\napiserver_flowcontrol_"+want) {
			t.Errorf("there is no %s", want)
		}
	}
}
