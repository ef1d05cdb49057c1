package metrics

import (
	"strings"
	"testing"
)

func TestConnectionsAreShown(t *testing.T) {
	m := New()
	if err := ShowConnections(m, func() Connections {
		return Connections{Identified: 1, Unidentified: 2, RefusedAddress: 3, RefusedUser: 4}
	}); err != nil {
		t.Fatal(err)
	}
	text, err := m.Render()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{identified="true"} 1`, `{identified="false"} 2`, `_refused_total{by="address"} 3`, `_refused_total{by="user"} 4`} {
		if !strings.Contains(string(text), "\nwasmgate_connections"+want+"\n") {
			t.Errorf("no %s", want)
		}
	}
}
