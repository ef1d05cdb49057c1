package guards

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

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
	// KubeConfigFile has the credentials of webhooks where kube-apiserver reads it.
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

// readConfig reads which plugin has which folder from an AdmissionConfiguration. What
// would have no effect is refused: somebody relies on it.
func readConfig(path string) (map[string]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all apiserverv1.AdmissionConfiguration
	if err := yaml.UnmarshalStrict(data, &all); err != nil {
		return nil, err
	}
	if all.Kind != "AdmissionConfiguration" || all.APIVersion != "apiserver.config.k8s.io/v1" && all.APIVersion != "apiserver.k8s.io/v1alpha1" {
		return nil, fmt.Errorf("it is no AdmissionConfiguration of apiserver.config.k8s.io/v1, but %s of %q", all.Kind, all.APIVersion)
	}
	folders := map[string]string{}
	for i, p := range all.Plugins {
		at := field.NewPath("plugins").Index(i)
		if _, twice := folders[p.Name]; twice {
			return nil, field.Duplicate(at.Child("name"), p.Name)
		}
		folder, err := folderOf(p, filepath.Dir(path))
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", at, p.Name, err)
		}
		folders[p.Name] = folder
	}
	return folders, nil
}

// folderOf is the folder of a plugin, "" for none.
func folderOf(p apiserverv1.AdmissionPluginConfiguration, beside string) (string, error) {
	want, known := configurations[p.Name]
	if !known {
		return "", errors.New("nothing is configured of it here")
	}
	var text []byte
	switch {
	case p.Path != "":
		path := p.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(beside, path)
		}
		var err error
		if text, err = os.ReadFile(path); err != nil {
			return "", err
		}
	case p.Configuration != nil:
		text = p.Configuration.Raw
	default:
		return "", nil
	}
	var c configuration
	if err := yaml.UnmarshalStrict(text, &c); err != nil {
		return "", err
	}
	if c.TypeMeta != want {
		return "", fmt.Errorf("its configuration is a %s of %s, not %q of %q", want.Kind, want.APIVersion, c.Kind, c.APIVersion)
	}
	if c.KubeConfigFile != "" {
		return "", field.Forbidden(field.NewPath("kubeConfigFile"), "webhooks are called without credentials")
	}
	return c.StaticManifestsDir, usable(c.StaticManifestsDir)
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
