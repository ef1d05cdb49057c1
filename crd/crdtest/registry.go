// Package crdtest owns what tests of definitions share: strategies in the form that
// Kubernetes' registries know. It must not know any kind.
package crdtest

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"

	"github.com/wasmgate/wasmgate/crd"
)

// Registry is a strategy as Kubernetes' registries know one, so that a test can do
// around it what they do: rest.BeforeCreate and rest.BeforeUpdate.
func Registry(d *crd.Definition, s crd.Strategy) *Strategy {
	return &Strategy{crdserverscheme.NewUnstructuredObjectTyper(), names.SimpleNameGenerator, d, s}
}

// Strategy is what [Registry] returns.
type Strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	of  *crd.Definition
	own crd.Strategy
}

var (
	_ rest.RESTCreateStrategy = &Strategy{}
	_ rest.RESTUpdateStrategy = &Strategy{}
)

// as is an object as strategies take it, nil of none.
func as(obj runtime.Object) *unstructured.Unstructured {
	u, _ := obj.(*unstructured.Unstructured)
	return u
}

// NamespaceScoped implements rest.RESTCreateStrategy.
func (s *Strategy) NamespaceScoped() bool { return s.of.Namespaced }

// AllowCreateOnUpdate implements rest.RESTUpdateStrategy.
func (s *Strategy) AllowCreateOnUpdate(context.Context) bool { return s.of.CreateOnUpdate }

// AllowUnconditionalUpdate implements rest.RESTUpdateStrategy.
func (s *Strategy) AllowUnconditionalUpdate(context.Context) bool { return !s.of.ConditionalUpdate }

// Canonicalize implements rest.RESTCreateStrategy.
func (s *Strategy) Canonicalize(obj runtime.Object) { s.own.Canonicalize(as(obj)) }

// PrepareForCreate implements rest.RESTCreateStrategy.
func (s *Strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	s.own.Prepare(ctx, as(obj), nil)
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (s *Strategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	s.own.Prepare(ctx, as(obj), as(old))
}

// Validate implements rest.RESTCreateStrategy.
func (s *Strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	return s.own.Validate(ctx, as(obj), nil).Errors
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (s *Strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return s.own.Validate(ctx, as(obj), as(old)).Errors
}

// WarningsOnCreate implements rest.RESTCreateStrategy.
func (s *Strategy) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	return s.own.Validate(ctx, as(obj), nil).Warnings
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (s *Strategy) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	return s.own.Validate(ctx, as(obj), as(old)).Warnings
}
