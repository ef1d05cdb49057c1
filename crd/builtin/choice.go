package builtin

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/builtin/file"
	"github.com/wasmgate/wasmgate/lifecycle"
)

// Choice is which versions of built-in kinds are served: keys and what they are
// set to, as kube-apiserver's --runtime-config has them. The key of a version is
// GROUP/VERSION, that of a resource GROUP/VERSION/PLURAL; api/all, api/ga, api/beta
// and api/alpha are all versions, or those of a kind. The more particular key
// counts. Without a key what is stable is served and nothing else.
type Choice map[string]bool

// tracks are the keys of many versions, those that count more last.
var tracks = []struct {
	key     string
	version *regexp.Regexp
}{
	{"api/all", regexp.MustCompile(`.*`)},
	{"api/ga", regexp.MustCompile(`^v\d+$`)},
	{"api/beta", regexp.MustCompile(`^v\d+beta\d+$`)},
	{"api/alpha", regexp.MustCompile(`^v\d+alpha\d+$`)},
}

// serves tells whether a version of a kind is served; by default it is as the
// kind's file says.
func (c Choice) serves(group, version, plural string, byDefault bool) bool {
	out := byDefault
	for _, t := range tracks {
		if on, set := c[t.key]; set && t.version.MatchString(version) {
			out = on
		}
	}
	for _, key := range []string{group + "/" + version, group + "/" + version + "/" + plural} {
		if on, set := c[key]; set {
			out = on
		}
	}
	return out
}

// apply makes the versions of kinds served or not, all but those of kinds that
// are essential. With essentialOnly no others are served by default. It returns
// what cannot be done.
func (c Choice) apply(files []*file.File, essentialOnly bool, now lifecycle.Release) error {
	var errs []error
	all := make([]known, 0, len(files))
	for _, f := range files {
		for i := range f.Versions {
			v := &f.Versions[i]
			at := f.GVK(v.Name)
			essential := f.Essential && at.Group == f.Group // and not another group's way to it
			if !essential {
				v.Served = c.serves(at.Group, at.Version, f.Names.Plural, v.Served && (f.Essential || !essentialOnly))
			}
			all = append(all, known{at.Group, at.Version, f.Names.Plural, essential})
		}
		errs = append(errs, c.live(f, now)...)
	}
	for _, key := range slices.Sorted(maps.Keys(c)) {
		errs = append(errs, c.check(key, all))
	}
	return errors.Join(append(errs, complete(files))...)
}

// known is one version of a kind, by what a key may name.
type known struct {
	group, version, plural string
	essential              bool
}

// check finds out what is wrong with a key.
func (c Choice) check(key string, all []known) error {
	for _, t := range tracks {
		if t.key == key {
			return nil
		}
	}
	parts := strings.Split(key, "/")
	if key == "v1" || key == "api/v1" { // the core group
		parts = []string{"", "v1"}
	}
	if len(parts) < 2 || len(parts) > 3 {
		return fmt.Errorf("%q is no version, such as apps/v1, nor a resource of one, such as apps/v1/deployments", key)
	}
	at := schema.GroupVersion{Group: parts[0], Version: parts[1]}
	group, version := goTypes.IsGroupRegistered(at.Group), false
	for _, k := range all {
		group = group || k.group == at.Group
		if k.group != at.Group || k.version != at.Version {
			continue
		}
		version = true
		if k.essential && !c[key] && (len(parts) == 2 || parts[2] == k.plural) {
			return fmt.Errorf("%s cannot be turned off: custom resources and the gateway itself need %s", key, k.plural)
		}
	}
	switch {
	case !group:
		return fmt.Errorf("unknown api groups %s", at)
	case version:
		return nil // of what is in it kube-apiserver does not care either
	case !goTypes.IsVersionRegistered(at):
		return fmt.Errorf("group version %s that has not been registered", at)
	case c[key]:
		return fmt.Errorf("%s is not served here", at)
	}
	return nil
}

// complete checks that what is served does not need what is not.
func complete(all []*file.File) error {
	off := map[string]bool{}
	for _, f := range all {
		off[f.Names.Plural] = !f.IsServed()
	}
	var errs []error
	for _, f := range all {
		for _, need := range f.Needs {
			if f.IsServed() && off[need] {
				errs = append(errs, fmt.Errorf("%s cannot be turned off: %s need them", need, f.Names.Plural))
			}
		}
	}
	return errors.Join(errs...)
}
