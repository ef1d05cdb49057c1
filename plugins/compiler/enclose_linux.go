package compiler

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What a file may be used for, as Landlock has it, by the version that knows it
// (Documentation/userspace-api/landlock.rst).
const (
	onlyRead   = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_EXECUTE
	firstFiles = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1 // all of version 1
	ofFiles    = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
)

// libraries are what a program may need before it begins: the loader and the
// libraries of the system, where it is linked with them.
var libraries = []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"}

// landlock is the version of Landlock that the kernel has, 0 for none.
func landlock() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}

// Encloses reports whether the process that compiles sees its own folder only.
func Encloses() bool { return landlock() > 0 }

// enclose makes this process one that sees dir and its own program and nothing
// else: no other file, no network by TCP, no process but its own; and that never
// gets another right. What runs already in a program cannot all be enclosed, so it
// begins again with args. It returns only where it fails, and nil where the kernel
// knows no such thing.
func enclose(dir string, args []string) error {
	version := landlock()
	if version == 0 {
		return nil
	}
	runtime.LockOSThread() // it is the one that is enclosed
	rules, err := newRules(version)
	if err != nil {
		return err
	}
	program, err := unix.Open("/proc/self/exe", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := rules.allow(dir, rules.files&^unix.LANDLOCK_ACCESS_FS_EXECUTE); err != nil {
		return err
	}
	if err := rules.add(program, ofFiles); err != nil {
		return err
	}
	for _, path := range append(mapped(), libraries...) {
		if err := rules.allow(path, onlyRead); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	if err := rules.enforce(); err != nil {
		return err
	}
	return fmt.Errorf("begin again: %w", unix.Exec("/proc/self/exe", append([]string{"wasmgate"}, args...), os.Environ()))
}

// mapped are the files that this program is made of, which may be libraries
// somewhere else.
func mapped() (files []string) {
	maps, _ := os.ReadFile("/proc/self/maps")
	for line := range strings.Lines(string(maps)) {
		if at := strings.IndexByte(line, '/'); at >= 0 {
			files = append(files, strings.TrimSpace(line[at:]))
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// rules are what an enclosed process may do.
type rules struct {
	fd    int
	files uint64 // what is forbidden of files where nothing allows it
}

func newRules(version int) (*rules, error) {
	r := &rules{files: firstFiles}
	var a struct{ files, network, scopes uint64 }
	size := unsafe.Sizeof(a.files)
	if version >= 2 {
		r.files |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		r.files |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 4 {
		a.network = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size += unsafe.Sizeof(a.network)
	}
	if version >= 5 {
		r.files |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= 6 {
		a.scopes = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size += unsafe.Sizeof(a.scopes)
	}
	a.files = r.files
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&a)), size, 0)
	if errno != 0 {
		return nil, fmt.Errorf("landlock: %w", errno)
	}
	r.fd = int(fd)
	return r, nil
}

// allow lets the process use what is at a path, and below it.
func (r *rules) allow(path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("landlock: %s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	var about unix.Stat_t
	if err := unix.Fstat(fd, &about); err != nil {
		return fmt.Errorf("landlock: %s: %w", path, err)
	}
	if about.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= ofFiles
	}
	return r.add(fd, access)
}

func (r *rules) add(fd int, access uint64) error {
	// struct landlock_path_beneath_attr, which has no room between its fields.
	var a [12]byte
	binary.NativeEndian.PutUint64(a[:], access)
	binary.NativeEndian.PutUint32(a[8:], uint32(fd))
	const pathBeneath = 1
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), pathBeneath, uintptr(unsafe.Pointer(&a)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	return nil
}

// enforce makes the rules those of this thread, for ever.
func (r *rules) enforce() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	return unix.Close(r.fd)
}
