package server

import (
	"github.com/wasmgate/wasmgate/gateway/bounds/memory"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// memoryNow is what the budget of memory says at this moment.
func (g *gateway) memoryNow() metrics.Memory {
	used, rest, room := g.memory.Uses()
	now := metrics.Memory{Total: g.memory.Total(), Rest: rest, Room: room, Used: map[string]int64{}}
	for p, n := range used {
		now.Used[memory.Names[p]] = n
	}
	return now
}
