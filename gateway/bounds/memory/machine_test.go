package memory

import (
	"testing"
	"testing/fstest"
)

// The least of what the control group, those above it, and the machine allow counts.
func TestAvailable(t *testing.T) {
	const meminfo = "MemTotal:       16384 kB\nMemFree:  10 kB\n"
	for name, x := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"a machine":               {map[string]string{"proc/meminfo": meminfo}, 16 << 20},
		"no limit":                {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, 16 << 20},
		"a group":                 {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "2097152\n"}, 2 << 20},
		"the group above":         {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "3145728\n"}, 3 << 20},
		"a container":             {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/memory.max": "1048576\n"}, 1 << 20},
		"the first version":       {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "5:memory:/a\n4:cpu:/b\n0::/\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "4194304\n"}, 4 << 20},
		"without bound, formerly": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "5:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 16 << 20},
		"another system":          {nil, unknown},
		"nonsense":                {map[string]string{"proc/meminfo": "MemTotal: many\n", "proc/self/cgroup": "x\n::\n0::/../..\n"}, unknown},
	} {
		root := fstest.MapFS{}
		for file, text := range x.files {
			root[file] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := available(root); got != x.want {
			t.Errorf("%s: %d, want %d", name, got, x.want)
		}
	}
	if got := Available(); got < Least {
		t.Errorf("this machine has %d", got)
	}
}
