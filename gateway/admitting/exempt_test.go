package admitting

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What may be subject to nothing that the API has is as in kube-apiserver: of reviews that
// others are let in by no policy is asked, of policies neither they nor webhooks are, and
// of configurations of webhooks policies alone.
func TestWhatIsExempt(t *testing.T) {
	for text, want := range map[string][3]bool{ // a review, a policy, a configuration
		"authentication.k8s.io tokenreviews":                 {true, false, false},
		"authentication.k8s.io selfsubjectreviews":           {true, false, false},
		"authorization.k8s.io subjectaccessreviews":          {true, false, false},
		"authorization.k8s.io localsubjectaccessreviews":     {true, false, false},
		"authorization.k8s.io selfsubjectaccessreviews":      {true, false, false},
		"authorization.k8s.io selfsubjectrulesreviews":       {true, false, false},
		"example.com tokenreviews":                           {},
		" configmaps":                                        {},
		registrations + " mutatingadmissionpolicies":         {false, true, true},
		registrations + " mutatingadmissionpolicybindings":   {false, true, true},
		registrations + " validatingadmissionpolicies":       {false, true, true},
		registrations + " validatingadmissionpolicybindings": {false, true, true},
		registrations + " mutatingwebhookconfigurations":     {false, false, true},
		registrations + " validatingwebhookconfigurations":   {false, false, true},
		"policy validatingadmissionpolicies":                 {},
	} {
		group, resource, _ := strings.Cut(text, " ")
		a := about{GroupVersionResource: schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}}
		if got := [3]bool{isReview(a), isPolicy(a), isConfiguration(a)}; got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestPoliciesAreAskedAboutConfigurationsOfWebhooks(t *testing.T) {
	w := newWorld(t)
	w.policy("validating", "p", "*", "*", `"validations":[{"expression":"!object.metadata.name.startsWith('no')"}]`)
	w.bind("validating", "b", "p", `,"validationActions":["Deny"]`)
	if _, err := w.try(registrations, "validatingwebhookconfigurations", "", `{"metadata":{"name":"no-hooks"}}`, alice); !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
		t.Errorf("a configuration: %v", err)
	}
	if _, err := w.try(registrations, "validatingadmissionpolicybindings", "", `{"metadata":{"name":"no-binding"},"spec":{"policyName":"p","validationActions":["Deny"]}}`, alice); err != nil {
		t.Errorf("a binding: %v", err)
	}
}
