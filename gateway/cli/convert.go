package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/wasmgate/wasmgate/gateway/cli/manifest"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// convertCommand is one run of `wasmgate convert`.
type convertCommand struct {
	tools        workbench.Tools
	client       clientFlags
	module       moduleFile
	what         workbench.Conversion
	files        []string
	moduleFile   string
	crdFile      string
	write, check bool
	format       output
	// lost are the comments that a file loses, in words.
	lost []string
}

func newConvert(tools workbench.Tools) *cobra.Command {
	c := &convertCommand{tools: tools}
	cmd := &cobra.Command{
		Use:   "convert -f FILE --to-version VERSION [--module FILE.wasm]",
		Short: "Convert objects in files and folders to another version",
		Long: "Convert the objects in files, YAML or JSON, to another version of their kind, and\n" +
			"print them or, with --write, write them back into their files. In YAML files comments,\n" +
			"order and unchanged lines stay as they are. Comments of fields that are replaced or\n" +
			"removed are lost, and all comments of what has to be written anew, such as values with\n" +
			"anchors: they are named on the standard error. In folders, all files that end with\n" +
			".yaml, .yml or .json are read.\n\n" +
			"A gateway converts them with the converter that its CustomResourceDefinition names. The\n" +
			"objects need not exist there, but you need permission to get objects of their kind.\n" +
			"Objects of kinds that the gateway does not serve at that version stay as they are.\n\n" +
			"With --module, a module or ConversionRules in a file convert them, and no server is\n" +
			"needed. With --crd as well, objects of other kinds stay as they are, and fields that\n" +
			"the version does not have are dropped, as a gateway does.\n\n" +
			"The status is 0 if all were converted, 1 if one was not or, with --check, if a file\n" +
			"would change, and 2 if the command line is wrong.",
		Example: "  wasmgate convert -f crontab.yaml --to-version v1\n" +
			"  wasmgate convert -f crontab.yaml --to-version v1 --module crontab.wasm --crd crd.yaml\n" +
			"  wasmgate convert -f manifests/ --write --to-version v1 --module crontab.wasm --crd crd.yaml",
		Args:        arguments(0, 0),
		Annotations: map[string]string{mistakesAre: ""},
		RunE:        c.run,
	}
	cmd.Flags().StringSliceVarP(&c.files, "filename", "f", nil, "`files` and folders with objects, YAML or JSON; - is the standard input")
	cmd.Flags().StringVar(&c.what.To, "to-version", "", "`version` to convert to, such as v1")
	cmd.Flags().StringVar(&c.moduleFile, "module", "", "`file` with the module that converts, or with ConversionRules")
	cmd.Flags().StringVar(&c.crdFile, "crd", "", "`file` with the CustomResourceDefinition, YAML or JSON")
	cmd.Flags().BoolVarP(&c.write, "write", "w", false, "write the converted objects into their files, and print nothing")
	cmd.Flags().BoolVar(&c.check, "check", false, "only print the names of files that would change")
	c.module.add(cmd)
	c.client.add(cmd, 5*time.Minute)
	c.format.add(cmd, asYAML, asJSON)
	return cmd
}

func (c *convertCommand) run(cmd *cobra.Command, _ []string) (err error) {
	if err := fromEnv(cmd.Flags()); err != nil {
		return err
	}
	switch {
	case len(c.files) == 0 || c.what.To == "":
		return fmt.Errorf("-f and --to-version are needed\nUsage: %s", cmd.UseLine())
	case c.moduleFile == "" && (c.crdFile != "" || c.module.configFile != ""):
		return fmt.Errorf("--crd and --config go with --module: a gateway has its own")
	case c.write && (c.check || c.format.format != ""):
		return fmt.Errorf("--write cannot be combined with --check or -o")
	case c.check && c.format.format != "":
		return fmt.Errorf("--check cannot be combined with -o: it prints the names of files")
	}
	files, err := readManifests(c.files, standardIn(cmd))
	if err != nil {
		return err
	}
	for _, f := range files {
		if c.write && f.name == standardInput {
			return fmt.Errorf("--write needs files, and - is none")
		}
		for _, d := range f.documents {
			if d.object != nil {
				c.what.Objects = append(c.what.Objects, d.object)
			}
		}
	}
	converted, err := c.convert(cmd)
	if err != nil {
		return err
	}
	return c.give(cmd.OutOrStdout(), cmd.ErrOrStderr(), files, converted)
}

// convert has a module convert, or a gateway.
func (c *convertCommand) convert(cmd *cobra.Command) (converted []workbench.Converted, err error) {
	if c.moduleFile == "" {
		err = c.client.run(cmd, func(ctx context.Context, cfg *rest.Config) error {
			converted, err = convertThere(ctx, cfg, c.tools, c.what)
			return err
		})
		return converted, err
	}
	if c.what.Module, err = c.module.read(c.moduleFile); err != nil {
		return nil, err
	}
	if c.crdFile != "" {
		if c.what.Definitions, err = os.ReadFile(c.crdFile); err != nil {
			return nil, err
		}
	}
	converted, err = c.tools.Convert(cmd.Context(), c.what)
	return converted, inDefinitions(err, c.crdFile)
}

// give prints or writes what became of files, and tells what failed.
func (c *convertCommand) give(out, errOut io.Writer, files []manifestFile, converted []workbench.Converted) error {
	failed, differ, printed := 0, 0, 0
	for _, f := range files {
		texts, changed, problems, err := c.texts(f, &converted)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		for _, lost := range c.lost {
			fmt.Fprintf(errOut, "%s: %s\n", f.name, shown(lost))
		}
		for _, p := range problems {
			fmt.Fprintf(errOut, "%s: %s\n", f.name, shown(p))
		}
		failed += len(problems)
		switch {
		case len(problems) > 0:
		case c.check && changed:
			differ++
			fmt.Fprintln(out, f.name)
		case c.check || c.write && !changed:
		case c.write:
			err = writeFile(f.name, bytes.Join(texts, nil))
		default:
			for _, text := range texts {
				if err = printDocument(out, text, printed > 0 && c.format.format != asJSON); err != nil {
					break
				}
				printed++
			}
		}
		if err != nil {
			return err
		}
	}
	switch {
	case failed > 0:
		return &outcome{statusFound, counted(int64(failed), "object") + " not converted"}
	case differ > 0:
		return &outcome{statusFound, fmt.Sprintf("%d files are not at version %s", differ, c.what.To)}
	}
	return nil
}

// texts are the documents of a file as they are to be. They take what they need of
// converted.
func (c *convertCommand) texts(f manifestFile, converted *[]workbench.Converted) (texts [][]byte, changed bool, problems []string, err error) {
	c.lost = nil
	for i, d := range f.documents {
		text := d.text
		if d.object == nil {
			if c.format.format == asJSON { // which has no word for nothing
				continue
			}
		} else {
			is := (*converted)[0]
			*converted = (*converted)[1:]
			switch {
			case is.Problem != "":
				problems = append(problems, fmt.Sprintf("document %d: %s", i+1, is.Problem))
			case c.format.format == asJSON && is.Object == nil: // it stays what it is
				text = append(bytes.Clone(d.object), '\n')
			case is.Object == nil:
			case c.format.format == asJSON:
				text = append(is.Object, '\n')
			case bytes.Equal(is.Object, d.object): // it stays as it is written
			default:
				if text, err = d.with(is.Object); err != nil {
					return nil, false, nil, err
				}
				if lost := manifest.LostComments(d.text, text); len(lost) > 0 {
					c.lost = append(c.lost, fmt.Sprintf("document %d: comments are lost: %s", i+1, strings.Join(lost, " ")))
				}
			}
		}
		changed = changed || !bytes.Equal(text, d.text)
		texts = append(texts, text)
	}
	return texts, changed, problems, nil
}

// printDocument prints a document, and what separates it from one before it.
func printDocument(out io.Writer, text []byte, separate bool) error {
	if separate && !bytes.HasPrefix(text, []byte("---")) {
		text = append([]byte("---\n"), text...)
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(bytes.Clone(text), '\n')
	}
	_, err := out.Write(text)
	return err
}
