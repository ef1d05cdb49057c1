// Package usage owns what is known of the use of the versions of a custom resource: how
// many objects are stored at each, who owns fields at which, and who asked for which.
//
// It must not know what follows from that: who asks decides (lifecycle/retire).
package usage

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/custom"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/lifecycle/retire"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// Usage is what is known.
type Usage struct {
	metav1.TypeMeta `json:",inline"`
	// Definition is the name of the definition.
	Definition string `json:"definition"`
	// Usage has lists that are not nil, and times in whole seconds. Clients are who asked
	// this gateway, Since it started.
	retire.Usage
}

// maxOwners is how many owners are told.
const maxOwners = 1000

// Objects are those that are in memory.
type Objects interface {
	Bucket(name string) *watchcache.Bucket[*view.Entry]
}

// Question is the question for the usage of a definition's versions. All fields are
// required.
type Question struct {
	// Exists fails for a definition that does not exist. Once it returns, Objects shows
	// what was committed before it was called.
	Exists  func(ctx context.Context, t resource.Target) error
	Objects Objects
	Clients *metrics.Clients
}

// Answer returns the usage of the named definition.
func (q Question) Answer(ctx context.Context, t resource.Target, _ string, _ []byte, _ resource.WriteOptions) (any, error) {
	if err := q.Exists(ctx, t); err != nil {
		return nil, err
	}
	gr := schema.ParseGroupResource(t.Name)
	c := counting{group: gr.Group, stored: map[string]int64{}, owners: map[owner]*retire.Owner{}}
	if err := c.all(ctx, q.Objects.Bucket(gr.Group+"/"+gr.Resource).Snapshot()); err != nil {
		return nil, err
	}
	u := c.usage()
	u.TypeMeta = metav1.TypeMeta{APIVersion: "wasmgate.dev/v1", Kind: "DefinitionUsage"}
	u.Definition = t.Name
	clients, since := q.Clients.Of(gr.Group, gr.Resource)
	u.Clients, u.Since = []retire.Client{}, whole(since)
	for _, k := range clients {
		u.Clients = append(u.Clients, retire.Client{Version: k.Version, User: k.User, Agent: k.Agent, Requests: k.Requests, Last: whole(k.Last)})
	}
	return u, nil
}

// counting goes through the objects of a resource.
type counting struct {
	group      string
	stored     map[string]int64
	unreadable int64
	owners     map[owner]*retire.Owner
	more       bool
}

type owner struct{ version, manager, operation string }

// manager is an entry of managedFields without its fields.
type manager struct {
	APIVersion string
	Manager    string
	Operation  string
	Time       *time.Time
}

func (c *counting) all(ctx context.Context, objects watchcache.Snapshot[*view.Entry]) error {
	objects.Ascend("", "", func(it watchcache.Item[*view.Entry]) bool {
		c.one(it.Value)
		return ctx.Err() == nil
	})
	return ctx.Err()
}

// one counts an object, as it is stored.
func (c *counting) one(e *view.Entry) {
	version, managers, ok := read(e)
	if ok {
		version, ok = c.version(version)
	}
	if !ok {
		c.unreadable++
		return
	}
	c.stored[version]++
	seen := map[owner]bool{}
	for _, m := range managers {
		at, ok := c.version(m.APIVersion)
		if !ok {
			continue
		}
		key := owner{at, m.Manager, m.Operation}
		o := c.owners[key]
		if o == nil {
			if len(c.owners) == maxOwners {
				c.more = true
				continue
			}
			o = &retire.Owner{Version: at, Manager: m.Manager, Operation: m.Operation}
			c.owners[key] = o
		}
		if !seen[key] { // an owner has one entry for each subresource
			seen[key] = true
			o.Objects++
		}
		if m.Time != nil && (o.Last == nil || o.Last.Before(*m.Time)) {
			last := whole(*m.Time)
			o.Last = &last
		}
	}
}

// whole is a time as the API writes them.
func whole(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// version is that of an apiVersion of the group.
func (c *counting) version(apiVersion string) (string, bool) {
	group, version, ok := strings.Cut(apiVersion, "/")
	return version, ok && group == c.group
}

// read reads as much of an object as is counted.
func read(e *view.Entry) (apiVersion string, managers []manager, ok bool) {
	data := e.Stored()
	if e.Sealed() {
		return "", nil, false
	}
	if len(data) == 0 || data[0] != '{' { // CBOR
		tree, err := custom.JSON.Decode(data)
		if err != nil {
			return "", nil, false
		}
		if data, err = object.Encode(tree); err != nil {
			return "", nil, false
		}
	}
	apiVersion, ok = object.String(object.Field(data, "apiVersion"))
	if !ok {
		return "", nil, false
	}
	// What cannot be read of its owners is as if there were none: so it is written, too.
	_ = json.Unmarshal(object.Field(object.Field(data, "metadata"), "managedFields"), &managers)
	return apiVersion, managers, true
}

// usage is what was counted, in order.
func (c *counting) usage() Usage {
	u := Usage{Usage: retire.Usage{Stored: []retire.Stored{}, Unreadable: c.unreadable, Owners: []retire.Owner{}, MoreOwners: c.more}}
	for version, n := range c.stored {
		u.Stored = append(u.Stored, retire.Stored{Version: version, Objects: n})
	}
	slices.SortFunc(u.Stored, func(a, b retire.Stored) int { return cmp.Compare(a.Version, b.Version) })
	for _, o := range c.owners {
		u.Owners = append(u.Owners, *o)
	}
	slices.SortFunc(u.Owners, func(a, b retire.Owner) int {
		return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.Operation, b.Operation))
	})
	return u
}
