package module

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Trusted is the condition of a WasmModule that tells whether the policies of trust let
// its newest content serve. It is there once there is a policy.
const Trusted = "Trusted"

// Signer vouches for content.
type Signer struct {
	// Trust is the name of the ModuleTrust that demands it.
	Trust string `json:"trust"`
	// Authority is what that calls whose key it is.
	Authority string `json:"authority"`
	// Key names the key; or Subject is who signed without one, as an Issuer says.
	Key     string `json:"key,omitempty"`
	Issuer  string `json:"issuer,omitempty"`
	Subject string `json:"subject,omitempty"`
}

// by is who that is, in a few words.
func (s Signer) by() string {
	if s.Key != "" {
		return "key " + s.Key
	}
	return s.Subject + ", says " + s.Issuer
}

// SetTrusted sets the condition to what became of the newest content: refused, or
// signed; judged is false where it was not looked at yet.
func SetTrusted(conditions *[]metav1.Condition, generation int64, policies int, judged bool, refused *Refusal, signers []Signer) {
	c := metav1.Condition{Type: Trusted, Status: metav1.ConditionTrue, Reason: "Signed", ObservedGeneration: generation}
	switch {
	case policies == 0 && meta.FindStatusCondition(*conditions, Trusted) == nil:
		return
	case refused != nil:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, refused.Reason, refused.Message
	case !judged:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, "NotJudged", "the newest content was not looked at yet"
	case len(signers) == 0:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, "NotDemanded", "no ModuleTrust demands a signature of it"
	default:
		var by []string
		for _, s := range signers {
			by = append(by, fmt.Sprintf("%s of ModuleTrust %q (%s)", s.Authority, s.Trust, s.by()))
		}
		c.Message = "signed by " + strings.Join(by, ", ")
	}
	meta.SetStatusCondition(conditions, c)
}

// SignersOf are who vouches for content of a module that serves, each as the names of a
// ModuleTrust and of an authority in it.
func SignersOf(obj *unstructured.Unstructured, digest string) (all []string) {
	said := StatusOf(obj)
	if said.Digest != digest {
		return nil
	}
	for _, by := range said.SignedBy {
		all = append(all, by.Trust+"/"+by.Authority)
	}
	return all
}
