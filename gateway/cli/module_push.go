package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// staleAfter is how long a failure that was reported before the upload is taken
// to be about the content before. After it the gateway must mean the new
// content, which then fails in the very same way.
const staleAfter = 30 * time.Second

// contentAnnotation is the digest of the content that was uploaded last.
const contentAnnotation = "wasmgate.dev/content-digest"

// The reasons that are no refusal yet: a module that has no content, and one
// whose content is still being compiled.
const (
	awaitingContent = "ContentMissing"
	stillCompiling  = "Slow"
)

// pushCommand is one run of `wasmgate module push`.
type pushCommand struct {
	client     clientFlags
	wait       bool
	dryRun     bool
	configFile string
	reporter

	// config is what the module is to be configured with, nil to leave that.
	config any
}

func newModulePush() *cobra.Command {
	p := &pushCommand{}
	cmd := &cobra.Command{
		Use:   "push NAME FILE.wasm",
		Short: "Upload a WebAssembly module",
		Long: "Upload a WebAssembly module and wait until it is ready. The WasmModule NAME is created\n" +
			"if there is none. If the new content cannot be used, the reason is printed and the\n" +
			"previous content stays in use. With --config the new content and the new spec.config\n" +
			"come into use together. With --dry-run the gateway checks the content without compiling\n" +
			"it, and stores nothing. The file may be a bundle of OPA; its policy.wasm is the module.",
		Example: "  wasmgate module push crontab crontab.wasm\n" +
			"  wasmgate module push limits limits.wasm --config limits.yaml",
		Args:              arguments(2, 2),
		ValidArgsFunction: p.client.completeModuleAndFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			p.out, p.errOut = cmd.OutOrStdout(), cmd.ErrOrStderr()
			if err := fromEnv(cmd.Flags()); err != nil {
				return err
			}
			content, err := pushed(args[1]) // before any server is looked for
			if err == nil {
				p.config, err = readConfig(p.configFile)
			}
			if err != nil {
				return mistake{err}
			}
			return p.client.run(cmd, func(ctx context.Context, cfg *rest.Config) error {
				return p.run(ctx, cfg, args[0], content)
			})
		},
	}
	p.client.add(cmd, 5*time.Minute)
	cmd.Flags().BoolVar(&p.wait, "wait", true, "wait until the module is ready")
	cmd.Flags().BoolVar(&p.dryRun, "dry-run", false, "only let the gateway check the content and the object")
	p.format.add(cmd, asJSON, asYAML, asName)
	cmd.Flags().StringVar(&p.configFile, "config", "", "`file` with the configuration of the module, spec.config, as YAML or JSON")
	return cmd
}

// pushed is the module in a file.
func pushed(file string) ([]byte, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if len(content) == 0 {
		return nil, fmt.Errorf("%s is empty", file)
	}
	if content, err = moduleIn(content); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return content, nil
}

func (p *pushCommand) run(ctx context.Context, cfg *rest.Config, name string, content []byte) error {
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return err
	}
	objects := client.Resource(modules)
	digest := digestOf(content)
	if p.dryRun {
		return p.check(ctx, cfg, objects, name, digest, content)
	}
	before, made, err := p.ensureModule(ctx, objects, name, digest)
	if err != nil {
		return err
	}
	if p.config != nil && !made {
		if before, err = p.configure(ctx, cfg, objects, name, digest, content); err != nil {
			return err
		}
	}
	if err := upload(ctx, cfg, name, content, false); err != nil {
		if made {
			err = withdrawn(ctx, objects, before, err)
		}
		return err
	}
	if !p.wait {
		obj, err := objects.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return noModule(name, err)
		}
		return p.done(obj, digest, fmt.Sprintf("uploaded: %s, %d bytes", digest, len(content)))
	}
	obj, waits, err := p.awaitReady(ctx, objects, before, digest)
	if err != nil {
		return err
	}
	if waits {
		return p.done(obj, digest, fmt.Sprintf("uploaded: %s, %d bytes; it waits to be promoted, with: wasmgate module promote %s", digest, len(content), name))
	}
	return p.done(obj, digest, fmt.Sprintf("ready: %s, %d bytes", digest, len(content)))
}

// check lets the gateway say what it would of an upload, which does not happen.
func (p *pushCommand) check(ctx context.Context, cfg *rest.Config, objects dynamic.ResourceInterface, name, digest string, content []byte) error {
	obj, err := objects.Get(ctx, name, metav1.GetOptions{})
	missing := gone(err)
	switch {
	case err != nil && !missing:
		return noModules(err)
	case err == nil && !isUpload(obj):
		return notUploaded(name)
	}
	// The bytes are checked before the module is looked for.
	if err := upload(ctx, cfg, name, content, true); err != nil && !(missing && apierrors.IsNotFound(err)) {
		return err
	}
	if dry := []string{metav1.DryRunAll}; missing {
		fresh := newModuleObject(name)
		p.announce(fresh, digest)
		obj, err = objects.Create(ctx, fresh, metav1.CreateOptions{DryRun: dry})
	} else {
		p.announce(obj, digest)
		obj, err = objects.Update(ctx, obj, metav1.UpdateOptions{DryRun: dry})
	}
	if err != nil {
		return noModules(err)
	}
	if p.format.forPrograms() {
		return p.format.object(p.out, modules.GroupResource(), obj)
	}
	_, err = fmt.Fprintf(p.out, "wasmmodule/%s can be uploaded (dry run): %s, %d bytes\n", name, digest, len(content))
	return err
}

// ensureModule returns the module, which it makes if there is none.
func (p *pushCommand) ensureModule(ctx context.Context, objects dynamic.ResourceInterface, name, digest string) (obj *unstructured.Unstructured, made bool, err error) {
	obj, err = objects.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		fresh := newModuleObject(name)
		if p.config != nil {
			p.announce(fresh, digest)
		}
		obj, err = objects.Create(ctx, fresh, metav1.CreateOptions{})
		made = err == nil
		if apierrors.IsAlreadyExists(err) {
			obj, err = objects.Get(ctx, name, metav1.GetOptions{})
		}
	}
	if err != nil {
		return nil, false, noModules(err)
	}
	if !isUpload(obj) {
		return nil, false, notUploaded(name)
	}
	return obj, made, nil
}

// notUploaded is the error of uploading to a module whose bytes come from elsewhere.
func notUploaded(name string) error {
	return fmt.Errorf("wasmmodule/%s does not take uploads: set its spec.source to {\"upload\": {}}", name)
}

// upload puts the bytes; dry only lets them be checked.
func upload(ctx context.Context, cfg *rest.Config, name string, content []byte, dry bool) error {
	client, err := modulesClient(cfg)
	if err != nil {
		return err
	}
	put := client.Put().Resource(modules.Resource).Name(name).SubResource("content").
		SetHeader("Content-Type", "application/wasm").Body(content)
	if dry {
		put.Param("dryRun", metav1.DryRunAll)
	}
	if err := put.Do(ctx).Error(); err != nil {
		return fmt.Errorf("upload refused: %w", err)
	}
	return nil
}

// awaitReady waits until the gateway serves the digest or says why it does
// not, and returns the module as it is then; waits tells that it has to be promoted
// first. before is the module as it was before the upload.
func (p *pushCommand) awaitReady(ctx context.Context, objects dynamic.ResourceInterface, before *unstructured.Unstructured, digest string) (obj *unstructured.Unstructured, waits bool, err error) {
	name := before.GetName()
	var last moduleStatus
	check := func(final bool) func(*unstructured.Unstructured) (bool, error) {
		return func(now *unstructured.Unstructured) (bool, error) {
			obj = now
			if last = statusOf(obj); last.ObservedGeneration < before.GetGeneration() {
				return false, nil // about the configuration before
			}
			if last.serves(digest) {
				return true, nil
			}
			if waits = last.waits(digest); waits {
				return true, nil
			}
			if c, failed := last.refusal(statusOf(before), final); failed {
				return true, pushError(name, c, last)
			}
			return false, nil
		}
	}
	// A gateway that refuses the same content again may have nothing new to
	// write, so a refusal that looks stale is looked at again later.
	again := before.GetAnnotations()[contentAnnotation] == digest
	first, cancel := context.WithTimeout(ctx, staleAfter)
	defer cancel()
	err = follow(first, objects, name, check(again))
	if first.Err() != nil && ctx.Err() == nil {
		err = follow(ctx, objects, name, check(true))
	}
	if ctx.Err() != nil {
		c := last.condition(compiled)
		return nil, false, interrupted(ctx, err, fmt.Sprintf("the module was uploaded and the gateway goes on with it (Compiled is %s %s); see it with: kubectl get wasmmodule %s -o yaml", c.Status, c.Reason, name))
	}
	return obj, waits, err
}

// serves tells that calls are served by this content.
func (s moduleStatus) serves(digest string) bool {
	return s.Digest == digest && s.condition(compiled).Status == metav1.ConditionTrue && s.condition(ready).Status == metav1.ConditionTrue
}

// refusal returns the condition by which the gateway refuses the content. One
// that is as it was before the upload counts only when final.
func (s moduleStatus) refusal(before moduleStatus, final bool) (metav1.Condition, bool) {
	for _, name := range []string{compiled, ready} {
		c := s.condition(name)
		if c.Status == metav1.ConditionFalse && c.Reason != awaitingContent && c.Reason != stillCompiling && (final || c != before.condition(name)) {
			return c, true
		}
	}
	return metav1.Condition{}, false
}

func pushError(name string, c metav1.Condition, s moduleStatus) error {
	keeps := ""
	if s.condition(ready).Status == metav1.ConditionTrue {
		keeps = "\nThe previous content stays in use: " + s.Digest
	}
	return fmt.Errorf("wasmmodule/%s cannot be used: %s is False: %s: %s%s", name, c.Type, c.Reason, shown(c.Message), keeps)
}
