// Package retire owns how versions of a CustomResourceDefinition are given up: which can
// go, what is in the way, and what is to be done, in order.
//
// It must not know where the facts come from, nor who takes the steps.
package retire

import (
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Usage is how the versions of a definition are used.
type Usage struct {
	Stored     []Stored  `json:"stored"`
	Unreadable int64     `json:"unreadable,omitempty"`
	Owners     []Owner   `json:"owners"`
	MoreOwners bool      `json:"moreOwners,omitempty"`
	Clients    []Client  `json:"clients"`
	Since      time.Time `json:"since"`
}

// Stored is how many objects are stored at a version.
type Stored struct {
	Version string `json:"version"`
	Objects int64  `json:"objects"`
}

// Owner is a field manager with fields at a version, in so many objects.
type Owner struct {
	Version   string     `json:"version"`
	Manager   string     `json:"manager"`
	Operation string     `json:"operation"`
	Objects   int64      `json:"objects"`
	Last      *time.Time `json:"last,omitempty"`
}

// Client is who asked for objects at a version.
type Client struct {
	Version  string    `json:"version"`
	User     string    `json:"user"`
	Agent    string    `json:"agent"`
	Requests int64     `json:"requests"`
	Last     time.Time `json:"last"`
}

// Facts are what a plan is made of.
type Facts struct {
	Definition *apiextensionsv1.CustomResourceDefinition
	// Usage is nil where nothing is known, and Unknown says why.
	Usage   *Usage
	Unknown string
	// Versions are to be given up; without any, those are that are deprecated or come
	// behind the storage version.
	Versions []string
	// Since is how far back requests and owners count; the zero time is for ever.
	Since time.Time
}

// Plan is how versions are given up.
type Plan struct {
	Definition string `json:"definition"`
	// Target is the version that all objects are stored at in the end.
	Target   string    `json:"target"`
	Versions []Version `json:"versions"`
	// InTheWay is what has to be done first, by people; nothing is if it is empty.
	InTheWay []Obstacle `json:"inTheWay"`
	Steps    []Step     `json:"steps"`
	// Since is from when requests are known; nil if they are not.
	Since *time.Time `json:"since,omitempty"`
}

// Version is what is known of one, and what may become of it.
type Version struct {
	Name       string `json:"name"`
	Served     bool   `json:"served"`
	Deprecated bool   `json:"deprecated,omitempty"`
	Storage    bool   `json:"storage,omitempty"`
	// Listed: it is in status.storedVersions.
	Listed bool `json:"listed,omitempty"`
	// Objects are those stored at it; nil if that is not known.
	Objects *int64   `json:"objects"`
	Clients []Client `json:"clients,omitempty"`
	Owners  []Owner  `json:"owners,omitempty"`
	// GivenUp: the plan is about it. CanUnserve and CanRemove tell what may be done to
	// it at once.
	GivenUp    bool `json:"givenUp"`
	CanUnserve bool `json:"canUnserve"`
	CanRemove  bool `json:"canRemove"`
}

// Obstacle is in the way of giving up a version.
type Obstacle struct {
	Version string `json:"version"`
	What    string `json:"what"`
	// Do is what ends it.
	Do string `json:"do"`
}

// The steps, in their order.
const (
	Store   = "store"
	Migrate = "migrate"
	Drop    = "drop"
	Unserve = "unserve"
	Remove  = "remove"
)

// Step is one thing to do.
type Step struct {
	Do      string `json:"do"`
	Version string `json:"version"`
	What    string `json:"what"`
	Command string `json:"command"`
	// Waits: something is in the way.
	Waits bool `json:"waits"`
}

// Make makes a plan. An error is a mistake in what is to be given up.
func Make(f Facts) (*Plan, error) {
	m := &making{Facts: f, crd: f.Definition, plan: &Plan{Definition: f.Definition.Name, InTheWay: []Obstacle{}, Steps: []Step{}}}
	if err := m.choose(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Definition.Name, err)
	}
	if f.Usage != nil {
		m.plan.Since = &f.Usage.Since
	}
	m.obstacles()
	m.versions()
	m.steps()
	return m.plan, nil
}

// making is a plan that is being made.
type making struct {
	Facts
	crd  *apiextensionsv1.CustomResourceDefinition
	plan *Plan
	// storage is the version that is stored now, and given those that go.
	storage string
	given   []string
	// left are the served versions that stay, and offered is that of which clients are told.
	left    []string
	offered string
}

// obstacles finds out what is in the way of each version that goes.
func (m *making) obstacles() {
	for _, name := range m.given {
		add := func(do, format string, args ...any) {
			m.plan.InTheWay = append(m.plan.InTheWay, Obstacle{name, fmt.Sprintf(format, args...), do})
		}
		if len(m.left) == 0 && m.served(name) {
			add("serve it first", "%s, which is stored, is not served", m.storage)
		}
		if m.Usage == nil {
			add("find out yourself: objects in etcd, managedFields, audit events", "how it is used is not known: %s", m.Unknown)
			continue
		}
		if !m.Since.IsZero() && m.Usage.Since.After(m.Since) {
			add("wait, or ask about less with --since", "who asks for it is known from %s on only", moment(m.Usage.Since))
		}
		for _, c := range m.clients(name) {
			if !m.served(name) {
				continue // it gets nothing any more, whatever it asked for before
			}
			add("change this client to "+m.offered, "%s uses it, as %s: %s, the last at %s", c.User, c.Agent, times(c.Requests), moment(c.Last))
		}
		for _, o := range m.owners(name) {
			if o.Operation == "Apply" {
				add("let it apply at "+m.offered, "%s applies at it, and owns fields of %s", o.Manager, objects(o.Objects))
			}
		}
		if m.Usage.MoreOwners {
			add("look at managedFields yourself", "there are more owners than are told")
		}
		if m.Usage.Unreadable > 0 {
			add("see `wasmgate migrate`, which names them", "%s cannot be read, so nobody knows at which version", objects(m.Usage.Unreadable))
		}
	}
}

// clients are those of a version that count.
func (m *making) clients(name string) (all []Client) {
	for _, c := range m.Usage.Clients {
		if c.Version == name && !c.Last.Before(m.Since) {
			all = append(all, c)
		}
	}
	return all
}

// owners are those of a version that count.
func (m *making) owners(name string) (all []Owner) {
	for _, o := range m.Usage.Owners {
		if o.Version == name && (o.Last == nil || !o.Last.Before(m.Since)) {
			all = append(all, o)
		}
	}
	return all
}

// stored is how many objects are stored at a version; nil if that is not known.
func (m *making) stored(name string) *int64 {
	if m.Usage == nil {
		return nil
	}
	var n int64
	for _, s := range m.Usage.Stored {
		if s.Version == name {
			n += s.Objects
		}
	}
	return &n
}

// blocked tells whether something is in the way of a version.
func (m *making) blocked(name string) bool {
	return slices.ContainsFunc(m.plan.InTheWay, func(o Obstacle) bool { return o.Version == name })
}

func (m *making) served(name string) bool {
	return slices.ContainsFunc(m.crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == name && v.Served })
}

func (m *making) listed(name string) bool {
	return slices.Contains(m.crd.Status.StoredVersions, name)
}

func (m *making) versions() {
	for _, v := range m.crd.Spec.Versions {
		is := Version{Name: v.Name, Served: v.Served, Deprecated: v.Deprecated, Storage: v.Storage, Listed: m.listed(v.Name), Objects: m.stored(v.Name), GivenUp: slices.Contains(m.given, v.Name)}
		if m.Usage != nil {
			is.Clients, is.Owners = m.clients(v.Name), m.owners(v.Name)
		}
		free := is.GivenUp && !m.blocked(v.Name)
		is.CanUnserve = free && is.Served
		is.CanRemove = free && !is.Storage && !is.Listed && *is.Objects == 0
		m.plan.Versions = append(m.plan.Versions, is)
	}
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func objects(n int64) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}

func list(names []string) string { return strings.Join(names, ", ") }
