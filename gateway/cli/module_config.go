package cli

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/yaml"
)

// readConfig reads a configuration; nil without a file.
func readConfig(file string) (config any, err error) {
	if file == "" {
		return nil, nil
	}
	text, err := named(file)
	if err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, mistake{fmt.Errorf("%s: %w", file, err)}
	}
	if config == nil {
		return nil, mistake{fmt.Errorf("%s has no configuration; to say that there is none, write {}", file)}
	}
	return config, nil
}

// announce lets a module ask for content and, if there is one, for a configuration at
// once: neither serves without the other. The content may come later.
func (p *pushCommand) announce(obj *unstructured.Unstructured, digest string) {
	if p.config != nil {
		obj.Object["spec"].(map[string]any)["config"] = p.config
	}
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[contentAnnotation] = digest
	obj.SetAnnotations(annotations)
}

// configure announces what is uploaded afterwards to a module that is there,
// unless the content would be refused, and returns the module as it is then.
func (p *pushCommand) configure(ctx context.Context, cfg *rest.Config, objects dynamic.ResourceInterface, name, digest string, content []byte) (obj *unstructured.Unstructured, err error) {
	if err := upload(ctx, cfg, name, content, true); err != nil {
		return nil, err
	}
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if obj, err = objects.Get(ctx, name, metav1.GetOptions{}); err != nil {
			return noModule(name, err)
		}
		p.announce(obj, digest)
		obj, err = objects.Update(ctx, obj, metav1.UpdateOptions{})
		return err
	})
	return obj, err
}

// withdrawn deletes a module that was made for content that is refused, unless
// somebody gave it other content meanwhile, and returns why it was refused.
func withdrawn(ctx context.Context, objects dynamic.ResourceInterface, made *unstructured.Unstructured, refused error) error {
	if !permanent(refused) { // the content may have come
		return fmt.Errorf("%w\nwasmmodule/%s was made for it", refused, made.GetName())
	}
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		obj, err := objects.Get(ctx, made.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		uid, revision := obj.GetUID(), obj.GetResourceVersion()
		if uid != made.GetUID() || chosen(obj) != chosen(made) {
			return nil
		}
		return objects.Delete(ctx, made.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &revision}})
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return errors.Join(refused, fmt.Errorf("wasmmodule/%s was made for it, and cannot be deleted: %w", made.GetName(), err))
	}
	return refused
}
