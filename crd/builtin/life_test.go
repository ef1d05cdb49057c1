package builtin

import (
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/lifecycle"
)

// Versions of built-in kinds live as the policy says.
func TestLivesOfVersions_VER10_VER11(t *testing.T) {
	lives, err := Lives()
	if err != nil {
		t.Fatal(err)
	}
	var all []lifecycle.Element
	for name, life := range lives {
		group, resource, _ := strings.Cut(name, " ")
		if life.Replacement != "" { // the same resource of another version
			life.Replacement += " " + resource
		}
		all = append(all, lifecycle.Element{Sort: lifecycle.Version, Name: group + " " + resource, Life: life})
	}
	for _, v := range lifecycle.Check(all, lifecycle.Current) {
		t.Error(v)
	}
	dated := 0
	for _, life := range lives {
		if !life.Introduced.IsZero() {
			dated++
		}
	}
	if dated < 50 {
		t.Errorf("of %d versions %d have a date", len(lives), dated)
	}
}

// An earlier release has the versions that it had.
func TestVersionsOfAnEarlierRelease(t *testing.T) {
	served := func(release lifecycle.Release, choice Choice) (out []string) {
		all, err := All(Options{Release: release, Choice: choice})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			for _, v := range d.Versions {
				if v.Served {
					name := d.GVK(v.Name).GroupVersion().String() + " " + d.Plural
					if v.Deprecated {
						name += " deprecated"
					}
					out = append(out, name)
				}
			}
		}
		return out
	}
	now, then := served(lifecycle.Current, nil), served(lifecycle.Oldest, nil)
	for _, version := range []string{"resource.k8s.io/v1 resourceclaims", "storage.k8s.io/v1 volumeattributesclasses"} {
		if !slices.Contains(now, version) || slices.Contains(then, version) {
			t.Errorf("%s came in 1.34", version)
		}
	}
	all := Choice{"api/beta": true}
	now, then = served(lifecycle.Current, all), served(lifecycle.Oldest, all)
	const addresses = "networking.k8s.io/v1beta1 ipaddresses"
	if !slices.Contains(now, addresses+" deprecated") || !slices.Contains(then, addresses) {
		t.Errorf("%s is deprecated from 1.34:\n%q\n%q", addresses, now, then)
	}
	later := served(lifecycle.Release{Major: 1, Minor: 40}, all)
	if !slices.Contains(later, "networking.k8s.io/v1 ipaddresses") || slices.Contains(later, addresses) || slices.Contains(later, addresses+" deprecated") {
		t.Errorf("in 1.40 %s is gone: %q", addresses, later)
	}
	_, err := All(Options{Release: lifecycle.Oldest, Choice: Choice{"storage.k8s.io/v1/volumeattributesclasses": true}})
	if err == nil || err.Error() != "storage.k8s.io/v1/volumeattributesclasses is not there in 1.33" {
		t.Error(err)
	}
}
