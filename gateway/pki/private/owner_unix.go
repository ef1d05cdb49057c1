//go:build unix

package private

import (
	"io/fs"
	"syscall"
)

// owner is the number of the user that owns a file.
func owner(info fs.FileInfo) (uid int, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
