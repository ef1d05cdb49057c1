package definition

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

const (
	// tried is how many stored objects a converter that takes over is tried on.
	tried = 10
	// triedFor is how long that may take: a write waits for it.
	triedFor = 5 * time.Second
)

// replaces tells that another converter is to be asked: another address of a webhook, a
// module or rules. What it is believed by (caBundle), and how it is asked, may change.
func replaces(old, now *unstructured.Unstructured) bool {
	address := func(o *unstructured.Unstructured) any {
		config, _, _ := unstructured.NestedMap(o.Object, "spec", "conversion", "webhook", "clientConfig")
		return []any{config["url"], config["service"]}
	}
	return !reflect.DeepEqual(address(old), address(now))
}

// takesOver tries the converter of now on stored objects, and returns what it loses of
// them that the one of old keeps; "" for nothing. The warning says why that could not be
// found out.
func (p conversionLoss) takesOver(ctx context.Context, gr schema.GroupResource, old, now *unstructured.Unstructured) (lost, warning string, err error) {
	ctx, cancel := context.WithTimeout(ctx, triedFor)
	defer cancel()
	before, errBefore := p.made(old)
	after, errAfter := p.made(now)
	if before.definition == nil || after.definition == nil || errors.Join(errBefore, errAfter) != nil {
		return "", "", nil // it is not served, or refused by who validates it
	}
	objects, err := p.some(ctx, gr, tried)
	if err != nil {
		return "", "", err
	}
	for _, one := range objects {
		losses, err := after.losses(ctx, one)
		if err != nil {
			return "", fmt.Sprintf("spec.conversion: whether the new converter converts what is stored could not be tried: %v", err), nil
		}
		if len(losses) == 0 {
			continue
		}
		known, err := before.losses(ctx, one)
		if err != nil {
			return "", fmt.Sprintf("spec.conversion: the new converter does not convert all that is stored, and the former one could not be asked: %v", err), nil
		}
		losses = slices.DeleteFunc(losses, func(l proof.Loss) bool {
			return slices.ContainsFunc(known, func(k proof.Loss) bool {
				unread := k.Problem == proof.Fails && !k.Back // nothing is known of its way back
				return k.Pair == l.Pair && k.Problem == l.Problem && (k.Field == l.Field && k.Back == l.Back || unread && l.Back)
			})
		})
		if len(losses) > 0 {
			u := unstructured.Unstructured{Object: one}
			return saidOf(&u, losses[0]), "", nil
		}
	}
	return "", "", nil
}

// saidOf says what becomes of an object.
func saidOf(o *unstructured.Unstructured, l proof.Loss) string {
	name := o.GetName()
	if ns := o.GetNamespace(); ns != "" {
		name = ns + "/" + name
	}
	if l.Problem == proof.Fails {
		return fmt.Sprintf("of %q between %s and %s it says: %s", name, l.From, l.To, l.Message)
	}
	return fmt.Sprintf("of %q between %s and %s it loses %s", name, l.From, l.To, l.Field)
}

// candidate is a definition with its converter.
type candidate struct {
	definition *crd.Definition
	converter  conversion.Converter
}

func (p conversionLoss) made(o *unstructured.Unstructured) (c candidate, err error) {
	text, err := object.Encode(o.Object)
	if err != nil {
		return c, err
	}
	if c.definition, err = p.compile(text, nil); err != nil || c.definition == nil {
		return c, err
	}
	c.converter, err = p.convert(c.definition)
	return c, err
}

// losses are what is lost of an object on its way to other versions and back. The error
// is that the converter was not there.
func (c candidate) losses(ctx context.Context, o map[string]any) ([]proof.Loss, error) {
	o = object.Clone(o)
	version, _ := o["apiVersion"].(string)
	if c.converter == nil || c.definition.At(version) == nil {
		return nil, nil
	}
	all, err := proof.Try(ctx, c.definition, c.converter, o, proof.Options{Temporary: isAway, BackToAll: true})
	if err != nil && (ctx.Err() != nil || isAway(err)) {
		return nil, err
	}
	return slices.DeleteFunc(all, func(l proof.Loss) bool {
		return l.Problem != proof.Lost && l.Problem != proof.Fails && l.Problem != proof.Metadata
	}), nil
}

// isAway tells that a conversion failed for want of the converter.
func isAway(err error) bool {
	var failed *conversion.Error
	return errors.As(err, &failed) && !failed.OfObjects()
}
