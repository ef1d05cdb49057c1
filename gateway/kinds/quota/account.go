package quota

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	apiserveradmission "k8s.io/apiserver/pkg/admission"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/plugin/resourcequota"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
)

// account is the quotas of a namespace, as one write is charged to them.
type account struct {
	quotas    *Quotas
	namespace string
	about     apiserveradmission.Attributes
	space     *space // nil for a dry run, which takes nothing
	// met are states that the store told of, nil for quotas that are gone.
	met map[string]*view.Entry
	// postings are what was charged last.
	postings []resource.Posting
}

// most is how many quotas one write can be charged to: a transaction of etcd has
// 128 operations, if it is not told otherwise.
const most = 100

// newAccount makes the account of a write; nil if no quota is about its kind.
func newAccount(ctx context.Context, q *Quotas, a admission.Attributes) (*account, error) {
	gr := a.GetResource().GroupResource()
	if resourcequota.Of(gr) == nil {
		return nil, nil
	}
	now, err := resourcequota.Typed(gr, a.GetObject().Object)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	var old runtime.Object
	if a.GetOperation() == admission.Update {
		was, err := a.GetOldObject(ctx)
		if err == nil {
			old, err = resourcequota.Typed(gr, was.Object)
		}
		if err != nil {
			return nil, err
		}
	}
	return &account{quotas: q, namespace: a.GetNamespace(), met: map[string]*view.Entry{}, about: admission.Record(a, now, old)}, nil
}

// Charge implements [resource.Account].
func (a *account) Charge(context.Context) ([]resource.Posting, error) {
	states, err := a.states()
	if err != nil {
		return nil, err
	}
	before := make([]corev1.ResourceQuota, len(states))
	for i, s := range states {
		before[i] = *s.quota
	}
	after, err := resourcequota.Charge(before, a.quotas.limited, a.about)
	if err != nil {
		if _, ok := err.(apierrors.APIStatus); !ok {
			err = apierrors.NewInternalError(err)
		}
		return nil, err
	}
	a.postings = nil
	for i, s := range states {
		if resourcequota.Equal(s.quota.Status.Used, after[i].Status.Used) {
			continue
		}
		c, err := s.using(a.quotas.kind, after[i].Status.Used)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		a.postings = append(a.postings, c)
	}
	if n := len(a.postings); n > most {
		return nil, apierrors.NewForbidden(a.about.GetResource().GroupResource(), a.about.GetName(), fmt.Errorf("%d ResourceQuotas of the namespace count it: at most %d can", n, most))
	}
	return a.postings, nil
}

// Changed implements [resource.Account].
func (a *account) Changed(key string, now *view.Entry) { a.met[key] = now }

// Close implements [resource.Account].
func (a *account) Close(revision int64) {
	if a.space == nil {
		return
	}
	for key, e := range a.met {
		if e != nil {
			a.space.last[key] = e
		}
	}
	if revision > 0 {
		for _, c := range a.postings {
			a.space.last[c.Key] = view.StateOf(c.Stored, revision)
		}
	}
	a.quotas.leave(a.namespace, a.space)
}

// states are the quotas as they are, as far as is known.
func (a *account) states() (out []state, err error) {
	for _, it := range within(a.quotas.kind.Bucket().Snapshot(), a.namespace) {
		key, e := a.quotas.kind.Root()+it.Key, it.Value
		if a.space != nil {
			e = newer(e, a.space.last[key])
		}
		if met, told := a.met[key]; told && met == nil {
			continue
		} else if told {
			e = newer(e, met)
		}
		s, err := read(a.quotas.kind, key, e)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func newer(a, b *view.Entry) *view.Entry {
	if b != nil && b.Revision > a.Revision {
		return b
	}
	return a
}

// state is one state of a quota.
type state struct {
	key   string
	entry *view.Entry
	tree  map[string]any
	quota *corev1.ResourceQuota
}

func read(kind *catalog.Resource, key string, e *view.Entry) (s state, err error) {
	tree, err := kind.Decode(e)
	if err != nil {
		return s, err
	}
	meta, _ := tree["metadata"].(map[string]any)
	whole := map[string]any{"metadata": map[string]any{"name": meta["name"], "namespace": meta["namespace"]}, "spec": tree["spec"], "status": tree["status"]}
	for field, v := range whole {
		if v == nil {
			delete(whole, field)
		}
	}
	q := &corev1.ResourceQuota{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(whole, q); err != nil {
		return s, kind.Unreadable(e, err)
	}
	return state{key, e, tree, q}, nil
}

// using is the change of the quota to one of which so much is used.
func (s state) using(kind *catalog.Resource, used corev1.ResourceList) (c resource.Posting, err error) {
	status, ok := s.tree["status"].(map[string]any)
	if !ok {
		return c, fmt.Errorf("the quota %s has no status", s.quota.Name)
	}
	all := make(map[string]any, len(used))
	for name, q := range used {
		all[string(name)] = q.String()
	}
	status["used"] = all
	d, err := kind.DraftStored(s.tree)
	if err != nil {
		return c, err
	}
	return resource.Posting{Key: s.key, Stored: d.Stored, Revision: s.entry.Revision}, nil
}
