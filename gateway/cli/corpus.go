package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// corpusFlags say with what objects something is tried.
type corpusFlags struct {
	files   []string
	crdFile string
	made    int
}

func (c *corpusFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVarP(&c.files, "filename", "f", nil, "`files` and folders with objects of the kind; - is the standard input; without any, objects are generated from the schemas")
	cmd.Flags().StringVar(&c.crdFile, "crd", "", "`file` with the CustomResourceDefinition, YAML or JSON")
	cmd.Flags().IntVar(&c.made, "objects", 100, "how many objects of each version are generated, without -f")
}

func (c *corpusFlags) read(cmd *cobra.Command) (out workbench.Corpus, err error) {
	switch {
	case c.crdFile == "":
		return out, fmt.Errorf("--crd is needed: the file with the CustomResourceDefinition\nUsage: %s", cmd.UseLine())
	case c.made <= 0:
		return out, fmt.Errorf("--objects has to be more than 0")
	}
	if out.Definitions, err = os.ReadFile(c.crdFile); err != nil {
		return out, err
	}
	out.Made = c.made
	out.Objects, err = readObjects(c.files, cmd)
	if err == nil && len(c.files) > 0 && len(out.Objects) == 0 {
		err = fmt.Errorf("there are no objects in %v", c.files)
	}
	return out, err
}

// inDefinitions names the file that definitions are from where they are what is wrong.
func inDefinitions(err error, file string) error {
	if errors.As(err, new(workbench.DefinitionError)) {
		return fmt.Errorf("%s: %w", file, err)
	}
	return err
}

// readObjects reads the objects of files and folders.
func readObjects(names []string, cmd *cobra.Command) (all [][]byte, err error) {
	files, err := readManifests(names, standardIn(cmd))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		for _, d := range f.documents {
			if d.object != nil {
				all = append(all, d.object)
			}
		}
	}
	return all, nil
}
