package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// The formats of -o. Without one, a command prints text for people.
const (
	asJSON = "json"
	asYAML = "yaml"
	asName = "name"
	asWide = "wide"
)

// output is the flag -o of a command. The zero value prints text.
type output struct {
	format  string
	formats []string
}

// add gives the command the flag, with the formats that it can print.
func (o *output) add(cmd *cobra.Command, formats ...string) {
	o.formats = formats
	cmd.Flags().VarP(o, "output", "o", "print as: "+strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// String implements pflag.Value.
func (o *output) String() string { return o.format }

// Type implements pflag.Value.
func (o *output) Type() string { return "format" }

// Set implements pflag.Value.
func (o *output) Set(format string) error {
	if !slices.Contains(o.formats, format) {
		return fmt.Errorf("want one of: %s", strings.Join(o.formats, ", "))
	}
	o.format = format
	return nil
}

// forPrograms reports whether what is printed is read by programs: text for people
// must not be mixed into it.
func (o *output) forPrograms() bool { return o.format != "" && o.format != asWide }

// value prints any value as JSON or YAML.
func (o *output) value(out io.Writer, v any) error {
	if o.format == asYAML {
		text, err := yaml.Marshal(v)
		if err != nil {
			return err
		}
		_, err = out.Write(text)
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "    ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// object prints an object of a resource, or its name.
func (o *output) object(out io.Writer, gr schema.GroupResource, obj *unstructured.Unstructured) error {
	if o.format == asName {
		_, err := fmt.Fprintf(out, "%s.%s/%s\n", strings.TrimSuffix(gr.Resource, "s"), gr.Group, obj.GetName())
		return err
	}
	return o.value(out, without(obj))
}

// list prints a list of objects of a resource, or their names.
func (o *output) list(out io.Writer, gr schema.GroupResource, list *unstructured.UnstructuredList) error {
	if o.format != asName {
		items := make([]any, len(list.Items))
		for i := range list.Items {
			items[i] = without(&list.Items[i])
		}
		tree := runtime.DeepCopyJSON(list.Object)
		tree["items"] = items
		return o.value(out, tree)
	}
	for i := range list.Items {
		if err := o.object(out, gr, &list.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// without is an object without what only the server needs of it, as kubectl
// shows it.
func without(obj *unstructured.Unstructured) map[string]any {
	obj = obj.DeepCopy()
	obj.SetManagedFields(nil)
	return obj.Object
}
