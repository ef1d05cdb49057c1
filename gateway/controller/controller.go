// Package controller owns how the gateway's background work is run: controllers
// are called whenever something that they look after may have changed, again
// after a failure, and never twice at a time for one object. What controllers do
// is in the packages below.
//
// It must not know what any controller does, nor HTTP, the store or the Wasm
// runtime.
package controller

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Key names one object to look at.
type Key struct {
	schema.GroupResource
	Namespace string
	Name      string
}

// String is group/resource/namespace/name without the empty parts, for logs.
func (k Key) String() string {
	s := k.GroupResource.String() + "/"
	if k.Namespace != "" {
		s += k.Namespace + "/"
	}
	return s + k.Name
}

// Scope is the objects of one kind in one namespace ("" = in all).
type Scope struct {
	schema.GroupResource
	Namespace string
}

// Queue is how a controller asks to be called again. All methods may be called
// from anywhere and never block.
type Queue interface {
	// Add asks for key now. A key that waits already is not added twice; one
	// that is being reconciled comes again afterwards.
	Add(key Key)
	// AddAfter asks for key after d.
	AddAfter(key Key, d time.Duration)
	// Follow asks for key whenever an object in one of scopes changes, and once
	// a moment after it began, until the next Follow of the same key; without
	// scopes it stops that.
	Follow(key Key, scopes ...Scope)
}

// Controller makes the world match one kind of object. One key is never
// reconciled twice at the same time.
type Controller interface {
	// Name is for logs.
	Name() string
	// Watches lists the resources whose every change is reconciled.
	Watches() []schema.GroupResource
	// Reconcile looks at the present state of key, which may be gone. A
	// Conflict is retried at once from a fresh cache, every other error with a
	// growing delay.
	Reconcile(ctx context.Context, q Queue, key Key) error
}

// Concurrent is a Controller that reconciles several keys at a time; others
// reconcile one.
type Concurrent interface {
	Controller
	Workers() int
}

// Working is a Controller with work of its own beside its reconciling: one that
// finds out by itself what to reconcile.
type Working interface {
	Controller
	// Work runs until ctx ends. When it ends or panics before that, it is
	// called again after a growing delay.
	Work(ctx context.Context, q Queue) error
}

// Resyncing is a Controller that wants to see everything again from time to
// time, because what it looks at can change without an event.
type Resyncing interface {
	Controller
	Resync() time.Duration
}

// Seeded is a Controller with keys to reconcile at the start and with each
// resync, whether or not they exist.
type Seeded interface {
	Controller
	Seeds() []Key
}
