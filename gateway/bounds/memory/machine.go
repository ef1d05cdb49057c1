package memory

import (
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// Least is the least that a process can do with.
const Least = 256 << 20

// unknown is how much there is where the system does not tell.
const unknown = 4 << 30

// Available is how much memory the process may take: what its control group is
// limited to, else what the machine has, and never less than [Least].
func Available() int64 { return max(available(os.DirFS("/")), Least) }

// available reads it from a root folder.
func available(root fs.FS) int64 {
	least := int64(math.MaxInt64)
	for _, file := range limitFiles(root) {
		if n, ok := number(root, file); ok && n > 0 {
			least = min(least, n)
		}
	}
	if n, ok := installed(root); ok {
		least = min(least, n)
	}
	if least == math.MaxInt64 {
		return unknown
	}
	return least
}

// limitFiles are the files that may limit the process: of its control group, and of
// all above it.
func limitFiles(root fs.FS) (files []string) {
	for _, line := range lines(root, "proc/self/cgroup") {
		_, rest, _ := strings.Cut(line, ":")
		controllers, group, ok := strings.Cut(rest, ":")
		base, name := "sys/fs/cgroup", "memory.max"
		if controllers == "memory" {
			base, name = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if controllers != "" {
			continue
		}
		// In a container the group's own files are often at the top.
		for group = path.Clean("/" + group); ok; group = path.Dir(group) {
			files = append(files, path.Join(base, group, name))
			ok = group != "/"
		}
	}
	return files
}

// installed is how much memory the machine has.
func installed(root fs.FS) (int64, bool) {
	for _, line := range lines(root, "proc/meminfo") {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kilobytes << 10, err == nil
		}
	}
	return 0, false
}

func lines(root fs.FS, file string) []string {
	text, err := fs.ReadFile(root, file)
	if err != nil { // not on this system
		return nil
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// number is what a file has; false where there is none, or no limit.
func number(root fs.FS, file string) (int64, bool) {
	all := lines(root, file)
	if len(all) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(all[0], 10, 64)
	return n, err == nil
}
