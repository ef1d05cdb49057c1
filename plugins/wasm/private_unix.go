//go:build unix

package wasm

import (
	"io/fs"
	"syscall"
)

// ownerOf is the user id of a file's owner.
func ownerOf(info fs.FileInfo) (uid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
