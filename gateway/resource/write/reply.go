package write

import (
	"context"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/view"
)

// draft makes the bytes for the store.
func draft(ctx context.Context, r *request, from *present, to *next) (*view.Draft, error) {
	if r.stored {
		return r.Resource.DraftStored(to.object.Object)
	}
	attachManaged(to, from)
	defer object.Detach(to.object.Object)
	return r.Resource.Draft(ctx, r.Version, to.object.Object, from.previews...)
}

// reply is what the client is told of the object, nil for nothing.
func reply(ctx context.Context, r *request, p *progress) ([]byte, error) {
	switch {
	case r.Options.NoReply:
		return nil, nil
	case p.ending == removes && p.operation == admission.Delete && !r.Resource.Def.ReturnsDeleted: // told by a Status
		return nil, nil
	case p.ending == removes && p.operation == admission.Delete:
		return ended(r, p)
	case p.ending == removes:
		object.SetRevision(p.object.Object, p.revision)
		if !r.stored {
			attachManaged(&p.next, &p.present)
		}
		return object.Encode(p.object.Object)
	case p.ending == keeps:
		return r.Resource.View(ctx, p.from.Entry, r.Version.Name)
	case !r.Options.DryRun:
		return p.out.Object, nil
	}
	data, err := p.draft.View(ctx, r.Version.Name)
	shown := p.named
	if p.from.Entry != nil {
		shown = p.from.Revision
	}
	if err == nil && shown != 0 {
		return object.WithRevision(data, shown)
	}
	return data, err
}
