package trust

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/signature"
	"github.com/wasmgate/wasmgate/plugins/wasm/binary"
)

// The reasons for which content is refused that are not about its signatures.
const (
	// Revoked: a policy revokes its digest.
	Revoked signature.Reason = "Revoked"
	// Unreadable: a policy cannot be read, so that nobody knows what it demands.
	Unreadable signature.Reason = "TrustUnreadable"
)

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// Signer vouches for content.
type Signer = module.Signer

// Subject is the module that content is for.
type Subject struct {
	Name   string
	Labels labels.Set
	// Beside is what registries had beside the images that its content came from.
	Beside []module.Beside
	// Binding is a definition that is about to have the module convert, "" for none.
	Binding string
	// converts tells that a definition of a name has the module convert; true where
	// nobody knows.
	converts func(definition string) bool
}

// SubjectOf is that of an object.
func SubjectOf(obj *unstructured.Unstructured) Subject {
	pulled, _ := module.PulledOf(obj)
	return Subject{Name: obj.GetName(), Labels: labels.Set(obj.GetLabels()), Beside: pulled.Beside}
}

// Evidence is what content says of itself, without the content.
type Evidence struct {
	digest, signed string
	signatures     []signature.Signature
	malformed      error
	hooks          []plugins.Hook // that it exports; nil for unknown
}

// Examine reads content that has a digest.
func Examine(digest string, content []byte) *Evidence {
	e := &Evidence{digest: digest}
	signed, all, err := signature.Split(content)
	e.signed, e.signatures, e.malformed = signature.Digest(signed), all, err
	decoded, err := binary.Decode(content)
	if err != nil {
		return e
	}
	e.hooks = []plugins.Hook{}
	for _, export := range decoded.Exports {
		switch h := plugins.Hook(export.Name); {
		case slices.Contains(plugins.Hooks(), h):
			e.hooks = append(e.hooks, h)
		case export.Name == plugins.ExportGuestCall || export.Name == plugins.ExportOPA: // admission, under others' names
			e.hooks = append(e.hooks, plugins.Admit)
		}
	}
	return e
}

// Verdict is what the policies in force say of content.
type Verdict struct {
	// Policies is how many there are.
	Policies int
	// Signers are who vouches for it: one for each policy that demands it.
	Signers []Signer
	// Refused is why it may not serve; nil when it may.
	Refused *module.Refusal
}

// Error is why content may not serve, nil when it may.
func (v Verdict) Error(name string) error {
	if v.Refused == nil {
		return nil
	}
	return v.LoadError(name)
}

// LoadError is Refused as the runtime says it.
func (v Verdict) LoadError(name string) *plugins.LoadError {
	return &plugins.LoadError{Module: name, Reason: plugins.LoadReason(v.Refused.Reason), Detail: v.Refused.Message}
}

// Objects are ModuleTrusts and definitions.
type Objects interface {
	client.Lister
	client.Getter
}

// Policies are those in force: what the cache holds of ModuleTrusts, the file, and the folder. It is
// safe for concurrent use.
type Policies struct {
	objects Objects
	file    atomic.Pointer[file]
	folder  atomic.Pointer[Folder]
	changed chan struct{}

	mu   sync.Mutex
	made map[types.UID]made // of the objects that there were last
}

// made is a policy that was made of an object at a revision: conditions take a while to be
// compiled.
type made struct {
	revision string
	policy   *policy
}

// New makes those of objects, and of no file.
func New(objects Objects) *Policies {
	p := &Policies{objects: objects, changed: make(chan struct{}, 1)}
	p.file.Store(&file{})
	p.folder.Store(&Folder{})
	return p
}

// Count is how many policies there are.
func (p *Policies) Count(ctx context.Context) int { return len(p.inForce(ctx)) }

// Judge tells whether content may be a module. All policies have to let it.
func (p *Policies) Judge(ctx context.Context, s Subject, e *Evidence) (v Verdict) {
	all := p.inForce(ctx)
	v.Policies = len(all)
	s.converts = func(definition string) bool {
		return definition == s.Binding && definition != "" || p.converts(ctx, definition, s.Name)
	}
	var says []string
	for _, one := range all {
		by, refused := one.refuses(s, e)
		if by != nil {
			v.Signers = append(v.Signers, *by)
		}
		if refused == nil {
			continue
		}
		if v.Refused == nil {
			v.Refused = &module.Refusal{Reason: string(refused.Reason)}
		}
		says = append(says, fmt.Sprintf("ModuleTrust %q does not let it serve: %s", one.name, refused.Detail))
	}
	if v.Refused != nil {
		v.Signers, v.Refused.Message = nil, strings.Join(says, "; ")
	}
	return v
}

// inForce are the policies, in order of their names, those of disk first. One that
// cannot be read is one that lets nothing serve: somebody may have written it into etcd.
func (p *Policies) inForce(ctx context.Context) []*policy {
	all := slices.Concat(p.file.Load().policies, p.folder.Load().policies)
	if p.objects == nil { // those of disk alone
		return all
	}
	objects, err := p.objects.List(ctx, gvr.Trusts, "")
	if err != nil {
		return append(all, brokenPolicy("(any)", fmt.Errorf("ModuleTrusts cannot be read: %w", err)))
	}
	slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	p.mu.Lock()
	defer p.mu.Unlock()
	now := make(map[types.UID]made, len(objects))
	for _, obj := range objects {
		one, known := p.made[obj.GetUID()]
		if !known || one.revision != obj.GetResourceVersion() || one.revision == "" {
			one = made{obj.GetResourceVersion(), policyOf(obj)}
		}
		now[obj.GetUID()] = one
		all = append(all, one.policy)
	}
	p.made = now
	return all
}

// policyOf is what an object demands.
func policyOf(obj *unstructured.Unstructured) *policy {
	var o object
	if err := gvr.Decode(obj, &o); err != nil {
		return brokenPolicy(obj.GetName(), err)
	}
	one, _ := read(o.Name, o.Spec)
	return one
}

// converts tells that a definition has a module convert. Of one that cannot be read nobody
// knows.
func (p *Policies) converts(ctx context.Context, definition, name string) bool {
	if p.objects == nil {
		return true
	}
	obj, err := p.objects.Get(ctx, gvr.Definitions, "", definition)
	if err != nil {
		return !apierrors.IsNotFound(err)
	}
	return slices.ContainsFunc(module.References(gvr.Definitions, obj.Object), func(r module.Reference) bool { return r.Module == name })
}

// ByDefinition reports whether a policy depends on what a definition says.
func (p *Policies) ByDefinition(ctx context.Context, definition string) bool {
	return slices.ContainsFunc(p.inForce(ctx), func(one *policy) bool { return slices.Contains(one.spec.Modules.Definitions, definition) })
}

// Check is Judge of bytes that are written, for who writes them.
func (p *Policies) Check(ctx context.Context, obj *unstructured.Unstructured, content []byte) error {
	return p.CheckPulled(ctx, obj, content, nil)
}

// CheckPulled is Check of what came from a registry, with what that had beside it.
func (p *Policies) CheckPulled(ctx context.Context, obj *unstructured.Unstructured, content []byte, beside *module.Beside) error {
	s := SubjectOf(obj)
	s.Beside = beside.Remembering(s.Beside)
	return p.Judge(ctx, s, Examine(signature.Digest(content), content)).Error(obj.GetName())
}
