package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// standIns are the programs that controller-runtime's envtest starts, and that this one
// is when it is called so.
var standIns = []string{"etcd", "kube-apiserver"}

func newEnvtest() *cobra.Command {
	var replace bool
	cmd := &cobra.Command{
		Use:   "envtest [DIRECTORY]",
		Short: "Make a folder of programs for controller-runtime's envtest",
		Long: "Make a folder with the programs that controller-runtime's envtest starts: etcd and\n" +
			"kube-apiserver, which are both wasmgate under another name, and kubectl, if it is on the\n" +
			"PATH. The output is a line for the shell; tests started in that shell use the folder.\n\n" +
			"Like envtest's own kube-apiserver, this one runs no controllers unless --controllers is set.",
		Example: "  eval \"$(wasmgate envtest)\" && go test ./...\n" +
			"  wasmgate envtest bin/envtest",
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fromEnv(cmd.Flags()); err != nil {
				return err
			}
			dir, err := envtestDir(args)
			if err != nil {
				return err
			}
			if err := makeAssets(dir, replace || len(args) == 0, cmd.ErrOrStderr()); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "export KUBEBUILDER_ASSETS='%s'\n", strings.ReplaceAll(dir, "'", `'\''`))
			return err
		},
	}
	cmd.Flags().BoolVar(&replace, "replace", false, "replace existing programs in the directory")
	return cmd
}

// envtestDir is the absolute path of the folder that is meant: a cache without arguments.
func envtestDir(args []string) (string, error) {
	if len(args) > 0 {
		return filepath.Abs(args[0])
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder to keep programs in, name a directory: %w", err)
	}
	return filepath.Join(cache, "wasmgate", "envtest"), nil
}

// makeAssets puts the programs into dir, and says what is missing.
func makeAssets(dir string, replace bool, says io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return mistake{fmt.Errorf("%s is a file: name a directory, which is made if there is none", dir)}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range standIns {
		if err := place(self, filepath.Join(dir, name), replace); err != nil {
			return err
		}
	}
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		_, err = fmt.Fprintln(says, "There is no kubectl on the PATH: tests that ask envtest for it will not find it.")
		return err
	}
	if kubectl, err = filepath.Abs(kubectl); err != nil {
		return err
	}
	link := filepath.Join(dir, "kubectl")
	if kubectl == link {
		return nil
	}
	return putInPlace(link, replace, func(path string) error { return os.Symlink(kubectl, path) })
}

// place makes to the same program as from: another name of the same file, which stays
// when from is removed, or a copy where that cannot be.
func place(from, to string, replace bool) error {
	return putInPlace(to, replace, func(path string) error {
		if os.Link(from, path) == nil {
			return nil
		}
		return copyProgram(from, path)
	})
}

// putInPlace has make write a file beside path, and renames it, so that a program that
// runs is not written to.
func putInPlace(path string, replace bool, make func(path string) error) error {
	if _, err := os.Lstat(path); err == nil && !replace {
		return mistake{fmt.Errorf("%s is there already: name another directory, or say --replace", path)}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	beside := path + ".new"
	if err := os.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := make(beside); err != nil {
		return err
	}
	// Renaming a file to another name of the same one does nothing.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(beside, path)
}

// copyProgram copies a program.
func copyProgram(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}
