// Package proofs owns the condition Lossless of CustomResourceDefinitions whose converter
// is a webhook of somebody: whether what it converts comes back as it was. It is looked for
// where the definition asks for it, by an annotation.
//
// It must not know how objects are made and compared (conversion/proof). Modules have
// such a condition of their own (gateway/kinds/module/lossless).
package proofs

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/lossless"
)

const (
	// Annotation asks for a proof of the webhook that converts for a definition: with the
	// value Report the condition informs, with Enforce the [Guard] refuses, too.
	Annotation = "conversion.wasmgate.dev/proof"
	// AcknowledgedAnnotation lists paths of fields whose loss is meant, with commas.
	AcknowledgedAnnotation = "conversion.wasmgate.dev/acknowledged-loss"
)

// Objects are definitions as the controller uses them.
type Objects interface {
	client.Getter
	client.MetadataGetter
	client.Updater
}

// Prover looks for what the webhook of a definition loses. The error is that there is
// nothing to look at.
type Prover func(ctx context.Context, definition *unstructured.Unstructured, b Bounds) (proof.Report, error)

// Bounds are those of one proof.
type Bounds struct {
	// Acknowledged are paths of fields whose loss is meant.
	Acknowledged []string
	// Budget is how long it may take.
	Budget time.Duration
}

// Controller proves webhooks, one at a time. It runs in one gateway. The condition says of
// which generation it is, so that no other gateway looks again.
type Controller struct {
	objects Objects
	prove   Prover
	// tried is what is known, by the names of all that asked.
	tried map[string]module.Proved
}

// New returns the controller.
func New(objects Objects, prove Prover) *Controller {
	return &Controller{objects: objects, prove: prove, tried: map[string]module.Proved{}}
}

// Name implements [controller.Controller].
func (c *Controller) Name() string { return "webhook-proofs" }

// Watches implements [controller.Controller].
func (c *Controller) Watches() []schema.GroupResource { return []schema.GroupResource{gvr.Definitions} }

// Reconcile implements [controller.Controller].
func (c *Controller) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	known, err := c.objects.GetMetadata(ctx, gvr.Definitions, "", key.Name)
	if err != nil {
		delete(c.tried, key.Name)
		return gvr.IgnoreNotFound(err)
	}
	last, asked := c.tried[key.Name]
	if !asked && known.Annotations[Annotation] == "" {
		return nil // nearly all of them, and schemas are large
	}
	obj, err := c.objects.Get(ctx, gvr.Definitions, "", key.Name)
	if err != nil {
		return gvr.IgnoreNotFound(err)
	}
	said, err := conditionOf(obj)
	if err != nil {
		return err
	}
	if c.tried[key.Name] = last; !asks(obj) {
		if err := c.report(ctx, key.Name, nil); err != nil {
			return gvr.IgnoreNotFound(err)
		}
		delete(c.tried, key.Name)
		return nil
	}
	_, acknowledged := askedOf(obj)
	besides := besidesOf(acknowledged, module.Retired(obj)) // which the generation does not tell
	inputs := fmt.Sprint(obj.GetUID(), " ", obj.GetGeneration(), besides)
	changed := last.Inputs != inputs
	if said != nil && said.ObservedGeneration == obj.GetGeneration() && said.Status != metav1.ConditionUnknown && toldBesides(said.Message) == besides {
		c.tried[key.Name] = module.Proved{Inputs: inputs}
		return nil
	}
	if changed {
		last = module.Proved{Inputs: inputs}
	}
	if last.Lossless == "" || last.Again() && last.Due(time.Now()) <= 0 {
		report, err := c.prove(ctx, obj, Bounds{acknowledged, budget})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			report = proof.Report{Verdict: proof.Unknown, Why: err.Error()}
		}
		last = last.Then(lossless.Outcome(report), true)
		c.tried[key.Name] = last
	}
	if last.Again() {
		q.AddAfter(key, last.Due(time.Now()))
	}
	condition := lossless.ConditionOf([]*unstructured.Unstructured{obj}, func(*unstructured.Unstructured) module.Proved { return last }, obj.GetGeneration())
	condition.Message += besides
	return gvr.IgnoreNotFound(c.report(ctx, key.Name, condition))
}

// The texts that begin what a condition says at its end of [besidesOf], and how long that is
// at most.
const (
	besidesBegin = "\nproved with "
	maxBesides   = 512
)

// besidesOf is what a proof depends on besides the generation, as the condition tells it: the
// losses that are meant, and the versions that objects are only stored at; "" for neither.
func besidesOf(acknowledged, retired []string) string {
	if len(acknowledged) == 0 && len(retired) == 0 {
		return ""
	}
	text := fmt.Sprintf("acknowledged losses %q, versions that are only stored %q", acknowledged, retired)
	if len(text) > maxBesides {
		text = fmt.Sprintf("acknowledged losses and stored versions of the digest %x", sha256.Sum256([]byte(text)))
	}
	return besidesBegin + text
}

// toldBesides is what a message says of that.
func toldBesides(message string) string {
	if at := strings.LastIndex(message, besidesBegin); at >= 0 {
		return message[at:]
	}
	return ""
}

// askedOf is what a definition asks for, and the paths of fields whose loss is meant.
func askedOf(obj *unstructured.Unstructured) (asked module.Proof, acknowledged []string) {
	all := obj.GetAnnotations()
	for path := range strings.SplitSeq(all[AcknowledgedAnnotation], ",") {
		if path = strings.TrimSpace(path); path != "" {
			acknowledged = append(acknowledged, path)
		}
	}
	return module.Proof(all[Annotation]), acknowledged
}

// asks tells that a definition asks for a proof, and that there is something to prove.
func asks(obj *unstructured.Unstructured) bool {
	asked, _ := askedOf(obj)
	return (asked == module.ReportLoss || asked == module.EnforceProof) && isConverted(obj)
}

// isConverted tells that a definition is converted for by a webhook that is no module and no
// rules.
func isConverted(obj *unstructured.Unstructured) bool {
	if obj.GetDeletionTimestamp() != nil {
		return false
	}
	strategy, _, _ := unstructured.NestedString(obj.Object, "spec", "conversion", "strategy")
	url, _, _ := unstructured.NestedString(obj.Object, "spec", "conversion", "webhook", "clientConfig", "url")
	_, isModule := crd.ModuleName(url)
	_, isRules := crd.RulesName(url)
	return strategy == "Webhook" && !isModule && !isRules
}

func conditionOf(obj *unstructured.Unstructured) (*metav1.Condition, error) {
	all, err := gvr.Conditions(obj)
	return meta.FindStatusCondition(all, module.Lossless), err
}

// report writes the condition, if it is another.
func (c *Controller) report(ctx context.Context, name string, condition *metav1.Condition) error {
	obj, err := c.objects.Get(ctx, gvr.Definitions, "", name) // a proof takes a while
	if err != nil {
		return err
	}
	changed, err := gvr.ChangeConditions(obj, func(all []metav1.Condition) []metav1.Condition {
		if condition == nil {
			meta.RemoveStatusCondition(&all, module.Lossless)
		} else {
			meta.SetStatusCondition(&all, *condition)
		}
		return all
	})
	if err != nil || !changed {
		return err
	}
	_, err = c.objects.Update(ctx, gvr.Definitions, "status", gvr.WithoutSpec(obj))
	return err
}
