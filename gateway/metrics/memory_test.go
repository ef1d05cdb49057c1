package metrics

import (
	"strings"
	"testing"
)

func TestMemoryIsShown(t *testing.T) {
	m := New()
	if err := ShowMemory(m, func() Memory {
		return Memory{Total: 100, Rest: 20, Room: 50, Used: map[string]int64{"lists": 7}}
	}); err != nil {
		t.Fatal(err)
	}
	text, err := m.Render()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"budget_bytes 100", "held_bytes 20", `limit_bytes{purpose="lists"} 25`, `used_bytes{purpose="lists"} 7`} {
		if !strings.Contains(string(text), "\nwasmgate_memory_"+want+"\n") {
			t.Errorf("no %s", want)
		}
	}
}
