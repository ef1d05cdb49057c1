package lossless

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/plugins"
)

// Runtime runs a revision beside what serves.
type Runtime interface {
	// Set compiles rev and lets it serve calls to name.
	Set(ctx context.Context, name string, rev plugins.Revision) error
	// Remove forgets a name.
	Remove(name string)
}

// Content has the bytes of modules by digest.
type Content interface {
	// Get returns the bytes that have the digest.
	Get(ctx context.Context, digest string) ([]byte, error)
	// Digest is the digest that bytes are kept under.
	Digest(bytes []byte) string
}

// Proofs look for what is lost.
type Proofs interface {
	// Prove looks for what the module of that name loses of the objects of a
	// definition, led by the branches of its code that it takes; nil where it does not
	// tell. The error is that there is nothing to look at.
	Prove(ctx context.Context, name string, definition *unstructured.Unstructured, acknowledged []string, branches proof.Branches) (proof.Report, error)
}

// bench proves revisions that are loaded for that alone.
type bench struct {
	modules Runtime
	content Content
	proofs  Proofs
}

// work is a revision to prove.
type work struct {
	beside       string // what it is loaded as
	revision     plugins.Revision
	acknowledged []string
}

// prove proves a revision for definitions, and tells what came out, and whether it was
// tried: in safe mode nothing is. An error may go away by itself.
func (b bench) prove(ctx context.Context, w work, definitions []*unstructured.Unstructured, told func(d *unstructured.Unstructured, r proof.Report, tried bool)) error {
	if w.revision.Bytes == nil {
		var err error
		if w.revision.Bytes, err = b.content.Get(ctx, w.revision.Digest); err != nil {
			return err
		}
	}
	branches := &plugins.Branches{}
	w.revision.Branches = branches
	defer b.modules.Remove(w.beside)
	err := b.modules.Set(ctx, w.beside, w.revision)
	var refused *plugins.LoadError
	if err != nil && !errors.As(err, &refused) {
		return err
	}
	for _, d := range definitions {
		branches.Forget()
		var report proof.Report
		if refused != nil {
			report = proof.Report{Verdict: proof.Unknown, Why: err.Error(), Again: !refused.Reason.Final()}
		} else if report, err = b.proofs.Prove(ctx, w.beside, d, w.acknowledged, branches); err != nil {
			report = proof.Report{Verdict: proof.Unknown, Why: err.Error()}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		told(d, report, refused == nil || refused.Reason != plugins.SafeMode)
	}
	return nil
}
