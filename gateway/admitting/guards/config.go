package guards

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiserverv1 "k8s.io/apiserver/pkg/apis/apiserver/v1"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/admission/order"
)

// Modules is what the file calls the folder of modules and of their trust, beside the
// names of admission plugins. kube-apiserver passes over a name that it has no plugin of.
const Modules = "WasmModules"

// configuration is that of a plugin which has a folder.
type configuration struct {
	metav1.TypeMeta
	StaticManifestsDir string `json:"staticManifestsDir,omitempty"`
	// KubeConfigFile has what webhooks are shown.
	KubeConfigFile string `json:"kubeConfigFile,omitempty"`
}

// configurations are what those of the plugins that have folders are.
var configurations = map[string]metav1.TypeMeta{
	order.ValidatingAdmissionPolicy:  {APIVersion: "apiserver.config.k8s.io/v1", Kind: "ValidatingAdmissionPolicyConfiguration"},
	order.MutatingAdmissionPolicy:    {APIVersion: "apiserver.config.k8s.io/v1", Kind: "MutatingAdmissionPolicyConfiguration"},
	order.ValidatingAdmissionWebhook: {APIVersion: "apiserver.config.k8s.io/v1", Kind: "WebhookAdmissionConfiguration"},
	order.MutatingAdmissionWebhook:   {APIVersion: "apiserver.config.k8s.io/v1", Kind: "WebhookAdmissionConfiguration"},
	Modules:                          {APIVersion: "wasmgate.dev/v1", Kind: "WasmModuleConfiguration"},
}

// others are the plugins that have a configuration and no folder, and read it themselves.
var others = []string{order.PodSecurity, order.ResourceQuota, order.EventRateLimit, order.PodNodeSelector, order.PodTolerationRestriction}

// config is what an AdmissionConfiguration says of plugins, by their names.
type config struct {
	folders     map[string]string
	credentials map[string]*Credentials
	texts       map[string][]byte
}

// readConfig reads an AdmissionConfiguration. What would have no effect is refused:
// somebody relies on it.
func readConfig(path string) (config, error) {
	c := config{folders: map[string]string{}, credentials: map[string]*Credentials{}, texts: map[string][]byte{}}
	data, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	var all apiserverv1.AdmissionConfiguration
	if err := yaml.UnmarshalStrict(data, &all); err != nil {
		return c, err
	}
	if all.Kind != "AdmissionConfiguration" || all.APIVersion != "apiserver.config.k8s.io/v1" && all.APIVersion != "apiserver.k8s.io/v1alpha1" {
		return c, fmt.Errorf("it is no AdmissionConfiguration of apiserver.config.k8s.io/v1, but %s of %q", all.Kind, all.APIVersion)
	}
	for i, p := range all.Plugins {
		at := field.NewPath("plugins").Index(i)
		if _, twice := c.texts[p.Name]; twice {
			return c, field.Duplicate(at.Child("name"), p.Name)
		}
		text, err := textOf(p, filepath.Dir(path))
		if err == nil && !slices.Contains(others, p.Name) {
			c.folders[p.Name], c.credentials[p.Name], err = configured(p.Name, text)
		}
		if err != nil {
			return c, fmt.Errorf("%s: %s: %w", at, p.Name, err)
		}
		c.texts[p.Name] = text
	}
	return c, nil
}

// textOf is the configuration of a plugin, nil for none.
func textOf(p apiserverv1.AdmissionPluginConfiguration, beside string) ([]byte, error) {
	switch {
	case p.Path != "":
		path := p.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(beside, path)
		}
		return os.ReadFile(path)
	case p.Configuration != nil:
		return p.Configuration.Raw, nil
	}
	return nil, nil
}

// configured are the folder of a plugin, "" for none, and what webhooks are shown.
func configured(plugin string, text []byte) (folder string, shown *Credentials, err error) {
	want, known := configurations[plugin]
	if !known {
		return "", nil, errors.New("nothing is configured of it here")
	}
	if text == nil {
		return "", nil, nil
	}
	var c configuration
	if err := yaml.UnmarshalStrict(text, &c); err != nil {
		return "", nil, err
	}
	if c.TypeMeta != want {
		return "", nil, fmt.Errorf("its configuration is a %s of %s, not %q of %q", want.Kind, want.APIVersion, c.Kind, c.APIVersion)
	}
	switch {
	case c.KubeConfigFile == "":
	case want.Kind != "WebhookAdmissionConfiguration":
		return "", nil, field.Forbidden(field.NewPath("kubeConfigFile"), "nobody is called")
	default:
		if shown, err = readCredentials(c.KubeConfigFile); err != nil {
			return "", nil, err
		}
	}
	return c.StaticManifestsDir, shown, usable(c.StaticManifestsDir)
}

// usable says why a folder is none, in kube-apiserver's words.
func usable(folder string) error {
	at := field.NewPath("staticManifestsDir")
	if folder == "" {
		return nil
	}
	if !filepath.IsAbs(folder) {
		return field.Invalid(at, folder, "must be an absolute file path")
	}
	info, err := os.Stat(folder)
	if err != nil {
		return field.Invalid(at, folder, fmt.Sprintf("unable to read: %v", err))
	}
	if !info.IsDir() {
		return field.Invalid(at, folder, "must be a directory")
	}
	return nil
}
