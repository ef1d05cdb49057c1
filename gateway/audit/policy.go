package audit

import (
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/apis/audit"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/apis/audit/validation"
	apiserveraudit "k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
)

// maxPolicy is the longest policy, in bytes.
const maxPolicy = 1 << 20

// Policy says what is kept of which requests. Nil keeps the metadata of all.
type Policy struct {
	evaluator apiserveraudit.PolicyRuleEvaluator
}

var strict = serializer.NewCodecFactory(apiserveraudit.Scheme, serializer.EnableStrict).UniversalDecoder()

// LoadPolicy reads the policy in a file.
func LoadPolicy(path string) (*Policy, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxPolicy {
		return nil, fmt.Errorf("%s has more than %d bytes", path, maxPolicy)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p, err := ParsePolicy(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// ParsePolicy reads a Policy of audit.k8s.io/v1, in YAML or JSON. What is wrong with it
// is told by its field; nothing in it is passed over.
func ParsePolicy(data []byte) (*Policy, error) {
	if len(data) > maxPolicy {
		return nil, fmt.Errorf("it has more than %d bytes", maxPolicy)
	}
	o, kind, err := strict.Decode(data, nil, &audit.Policy{})
	if err != nil {
		return nil, err
	}
	p, ok := o.(*audit.Policy)
	if !ok || kind.GroupVersion() != auditv1.SchemeGroupVersion {
		return nil, fmt.Errorf("kind: it is a %s of %s, not a Policy of %s", kind.Kind, kind.GroupVersion(), auditv1.SchemeGroupVersion)
	}
	wrong := validation.ValidatePolicy(p)
	if len(p.Rules) == 0 {
		wrong = append(wrong, field.Required(field.NewPath("rules"), "without a rule nothing is kept"))
	}
	if err := wrong.ToAggregate(); err != nil {
		return nil, err
	}
	return &Policy{evaluator: policy.NewPolicyRuleEvaluator(p)}, nil
}

// withoutReceived are the stages that nothing is kept of unless a policy says so.
var withoutReceived = api.Stages(0).With(api.Received)

// judge says what is kept of a request of somebody; nil is somebody unknown.
func (p *Policy) judge(i *api.Info, by *authn.User) api.Keep {
	if p == nil {
		return api.Keep{Level: api.KeepMetadata, Omit: withoutReceived}
	}
	a := i.Attributes(by)
	shown := authorizer.AttributesRecord{
		Verb: a.Verb, Namespace: a.Namespace, APIGroup: a.Group, APIVersion: a.Version, Resource: a.Resource, Subresource: a.Subresource,
		Name: a.Name, ResourceRequest: a.ResourceRequest, Path: a.Path,
	}
	if by != nil {
		shown.User = by
	}
	c := p.evaluator.EvaluatePolicyRule(&shown)
	out := api.Keep{Level: levels[c.Level], Unmanaged: c.OmitManagedFields, ByPolicy: true}
	for _, s := range c.OmitStages {
		out.Omit = out.Omit.With(stages[s])
	}
	return out
}

// levels and stages are those of policies, which have no others.
var (
	levels = map[audit.Level]api.Level{
		audit.LevelNone: api.KeepNone, audit.LevelMetadata: api.KeepMetadata, audit.LevelRequest: api.KeepRequest, audit.LevelRequestResponse: api.KeepResponse,
	}
	stages = map[audit.Stage]api.Stage{
		audit.StageRequestReceived: api.Received, audit.StageResponseStarted: api.Started, audit.StageResponseComplete: api.Complete, audit.StagePanic: api.Panicked,
	}
)
