package flow

import (
	"testing"

	fcv1 "k8s.io/api/flowcontrol/v1"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// Whom a subject of a schema means, and what a rule is for, as kube-apiserver reads them.
func TestWhatRulesAreFor(t *testing.T) {
	bot := &authn.User{Name: "system:serviceaccount:ns:bot", Groups: []string{"g"}}
	named := func(name string) *fcv1.UserSubject { return &fcv1.UserSubject{Name: name} }
	group := func(name string) *fcv1.GroupSubject { return &fcv1.GroupSubject{Name: name} }
	account := func(namespace, name string) *fcv1.ServiceAccountSubject {
		return &fcv1.ServiceAccountSubject{Namespace: namespace, Name: name}
	}
	for i, c := range []struct {
		fcv1.Subject
		want bool
	}{
		{fcv1.Subject{Kind: "User", User: named("*")}, true}, {fcv1.Subject{Kind: "User", User: named(bot.Name)}, true}, {fcv1.Subject{Kind: "User", User: named("ann")}, false},
		{fcv1.Subject{Kind: "Group", Group: group("*")}, true}, {fcv1.Subject{Kind: "Group", Group: group("g")}, true}, {fcv1.Subject{Kind: "Group", Group: group("h")}, false},
		{fcv1.Subject{Kind: "ServiceAccount", ServiceAccount: account("ns", "*")}, true}, {fcv1.Subject{Kind: "ServiceAccount", ServiceAccount: account("ns", "bot")}, true},
		{fcv1.Subject{Kind: "ServiceAccount", ServiceAccount: account("ns", "other")}, false}, {fcv1.Subject{Kind: "ServiceAccount", ServiceAccount: account("other", "*")}, false},
		{fcv1.Subject{Kind: "ServiceAccount", ServiceAccount: account("other", "bot")}, false},
		// Half a subject means nobody.
		{fcv1.Subject{Kind: "User"}, false}, {fcv1.Subject{Kind: "Group"}, false}, {fcv1.Subject{Kind: "ServiceAccount"}, false}, {fcv1.Subject{Kind: "Odd", User: named("*"), Group: group("*"), ServiceAccount: account("ns", "*")}, false},
	} {
		if got := sentBy(&c.Subject, bot); got != c.want {
			t.Errorf("subject %d: %t", i, got)
		}
	}
	if sentBy(&fcv1.Subject{Kind: "ServiceAccount", ServiceAccount: account("", "*")}, &authn.User{Name: "ann"}) || sentByOne(nil, bot) {
		t.Error("who is no service account is one, or nobody somebody")
	}
	if odd := (&authn.User{Name: "system:serviceaccount:ns:a:b"}); !sentBy(&fcv1.Subject{Kind: "ServiceAccount", ServiceAccount: account("ns", "*")}, odd) || sentBy(&fcv1.Subject{Kind: "ServiceAccount", ServiceAccount: account("ns", "a")}, odd) {
		t.Error("all accounts of a namespace are who is called like them")
	}
	rule := func(verb, group, resource, namespace string, cluster bool) []fcv1.ResourcePolicyRule {
		return []fcv1.ResourcePolicyRule{{Verbs: []string{"none"}}, {Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}, Namespaces: []string{namespace}, ClusterScope: cluster}}
	}
	at := func(verb, resource, sub, namespace string) *authz.Attributes {
		return &authz.Attributes{Verb: verb, Group: "apps", Resource: resource, Subresource: sub, Namespace: namespace, ResourceRequest: true}
	}
	for i, c := range []struct {
		rules []fcv1.ResourcePolicyRule
		a     *authz.Attributes
		want  bool
	}{
		{rule("get", "apps", "sets", "ns", false), at("get", "sets", "", "ns"), true}, {rule("*", "*", "*", "*", false), at("get", "sets", "", "ns"), true},
		{rule("list", "apps", "sets", "ns", false), at("get", "sets", "", "ns"), false}, {rule("get", "", "sets", "ns", false), at("get", "sets", "", "ns"), false},
		{rule("get", "apps", "pods", "ns", false), at("get", "sets", "", "ns"), false}, {rule("get", "apps", "sets", "other", false), at("get", "sets", "", "ns"), false},
		{rule("get", "apps", "sets", "*", false), at("get", "sets", "", ""), false}, {rule("get", "apps", "sets", "none", true), at("get", "sets", "", ""), true},
		{rule("get", "apps", "sets", "none", true), at("get", "sets", "", "ns"), false},
		{rule("get", "apps", "sets", "ns", false), at("get", "sets", "scale", "ns"), false}, {rule("get", "apps", "sets/scale", "ns", false), at("get", "sets", "scale", "ns"), true},
		{rule("get", "apps", "sets/status", "ns", false), at("get", "sets", "scale", "ns"), false}, {rule("get", "apps", "pods/scale", "ns", false), at("get", "sets", "scale", "ns"), false},
		{rule("get", "apps", "*", "ns", false), at("get", "sets", "scale", "ns"), true}, {nil, at("get", "sets", "", "ns"), false},
	} {
		if got := forResource(c.rules, c.a); got != c.want {
			t.Errorf("rule %d: %t", i, got)
		}
	}
	if hasResource([]string{"*", "x"}, at("get", "sets", "scale", "ns")) {
		t.Error("all resources and one more are all subresources")
	}
}

// What a level is worth among others, and lends, is what it says, or Kubernetes' default.
func TestWhatLevelsSay(t *testing.T) {
	seven := int32(7)
	for i, c := range []struct {
		fcv1.PriorityLevelConfigurationSpec
		shares, lends int32
	}{
		{fcv1.PriorityLevelConfigurationSpec{}, 0, 0},
		{fcv1.PriorityLevelConfigurationSpec{Limited: &fcv1.LimitedPriorityLevelConfiguration{}}, 30, 0},
		{fcv1.PriorityLevelConfigurationSpec{Limited: &fcv1.LimitedPriorityLevelConfiguration{NominalConcurrencyShares: &seven, LendablePercent: &seven}}, 7, 7},
		{fcv1.PriorityLevelConfigurationSpec{Exempt: &fcv1.ExemptPriorityLevelConfiguration{}}, 0, 0},
		{fcv1.PriorityLevelConfigurationSpec{Exempt: &fcv1.ExemptPriorityLevelConfiguration{NominalConcurrencyShares: &seven, LendablePercent: &seven}}, 7, 7},
	} {
		l := &fcv1.PriorityLevelConfiguration{Spec: c.PriorityLevelConfigurationSpec}
		if sharesOf(l) != c.shares || lendable(l) != c.lends {
			t.Errorf("%d: %d shares, lends %d%%", i, sharesOf(l), lendable(l))
		}
	}
}
