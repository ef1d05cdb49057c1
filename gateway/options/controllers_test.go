package options

import (
	"slices"
	"strings"
	"testing"
)

// The list has kube-controller-manager's syntax.
func TestControllers(t *testing.T) {
	if s := Default(); !slices.Equal(s.Controllers, []string{"*"}) {
		t.Errorf("by default %q", s.Controllers)
	}
	for list, on := range map[string]string{
		"*":                                  Controllers(),
		"":                                   "",
		"namespace-controller":               Namespaces,
		"namespace,resourcequota-controller": Namespaces + ", " + ResourceQuotas,
		"*,-garbage-collector-controller":    strings.Replace(Controllers(), GarbageCollector+", ", "", 1),
		"-garbagecollector,*":                strings.Replace(Controllers(), GarbageCollector+", ", "", 1),
		"-namespace-controller":              "",
		"namespace,-namespace":               Namespaces,
		"*,-namespace,namespace":             strings.Replace(Controllers(), Namespaces+", ", "", 1),
	} {
		s := Default()
		s.Controllers = slices.DeleteFunc(strings.Split(list, ","), func(c string) bool { return c == "" })
		if err := s.Validate(); err != nil {
			t.Errorf("%q: %v", list, err)
		}
		var got []string
		for _, name := range controllers {
			if s.Runs(name) {
				got = append(got, name)
			}
		}
		if strings.Join(got, ", ") != on {
			t.Errorf("%q: on are %q", list, got)
		}
	}
	for _, wrong := range []string{"deployment-controller", "-deployment-controller", "--namespace-controller", "-*"} {
		s := Default()
		s.Controllers = []string{"*", wrong}
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "--controllers: ") || !strings.Contains(err.Error(), Controllers()) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
