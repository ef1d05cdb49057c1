package local

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Follow calls fn for every object that exists and then for every change, in
// order, until ctx ends. It is level-triggered: fn gets names only, and none after
// all that exists, since what was deleted before makes no event. The kind has to
// be served when it begins; that it is redefined or removed afterwards changes
// nothing.
func (c Client) Follow(ctx context.Context, gr schema.GroupResource, fn func(namespace, name string)) error {
	select {
	case <-c.e.Ready():
	case <-ctx.Done():
		return nil
	}
	t, err := c.target(gr, "", "", "")
	if err != nil {
		return err
	}
	for {
		s := t.Resource.Bucket().Snapshot()
		s.Ascend("", "", func(it watchcache.Item[*view.Entry]) bool {
			fn(catalog.SplitKey(it.Key))
			return ctx.Err() == nil
		})
		fn("", "")
		cursor, err := t.Resource.Bucket().Watch(s.Revision())
		for err == nil {
			var events []watchcache.Event[*view.Entry]
			if events, _, err = cursor.Next(ctx, maxEvents); err != nil {
				break
			}
			for _, ev := range events {
				fn(catalog.SplitKey(ev.Item.Key))
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		var x *watchcache.Expired
		if !errors.As(err, &x) {
			return fmt.Errorf("following %s: %w", gr, err)
		}
	}
}
