package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// completionTime bounds how long a shell waits for names.
const completionTime = 3 * time.Second

// completeModule completes one argument, the name of a module.
func (f *clientFlags) completeModule(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return f.namesOf(cmd, modules)
}

// completeModuleAndFile completes a first argument that is the name of a module. Those
// after it are files.
func (f *clientFlags) completeModuleAndFile(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return f.namesOf(cmd, modules)
}

// completeModules completes arguments that are names of modules, each once.
func (f *clientFlags) completeModules(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return f.others(cmd, args, modules)
}

// completeDefinitions completes arguments that are names of definitions, each once.
func (f *clientFlags) completeDefinitions(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return f.others(cmd, args, definitionsResource)
}

// others are the names of all objects of a kind but those that are given already.
func (f *clientFlags) others(cmd *cobra.Command, given []string, of schema.GroupVersionResource) ([]string, cobra.ShellCompDirective) {
	names, directive := f.namesOf(cmd, of)
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(given, name) }), directive
}

// namesOf are the names of all objects of a kind. A gateway that does not answer has
// none.
func (f *clientFlags) namesOf(cmd *cobra.Command, of schema.GroupVersionResource) (names []string, _ cobra.ShellCompDirective) {
	if cmd.Context() == nil {
		cmd.SetContext(context.Background())
	}
	f.timeout = min(f.timeout, completionTime)
	err := f.run(cmd, func(ctx context.Context, cfg *rest.Config) error {
		client, err := dynamic.NewForConfig(cfg)
		if err != nil {
			return err
		}
		list, err := client.Resource(of).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range list.Items {
			names = append(names, list.Items[i].GetName())
		}
		return nil
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
