package builtin

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
)

func secret() *crd.Definition {
	docs := corev1.Secret{}.SwaggerDoc()
	return define(kind[corev1.Secret]{
		version: "v1", name: "Secret", plural: "secrets", namespaced: true,
		defaults: defaultSecret,
		rules: rules[corev1.Secret]{
			prepareUpdate: func(obj, old map[string]any) {
				if text(obj, "type") == "" {
					keep(obj, old, "type")
				}
			},
			validate:       validateSecret,
			validateUpdate: validateSecretUpdate,
			warn:           warnSecret,
			unconditional:  true,
		},
		columns: []metav1.TableColumnDefinition{nameColumn, column("Type", docs["type"]), column("Data", docs["data"]), ageColumn},
		cells: func(s *corev1.Secret) []any {
			return []any{s.Name, string(s.Type), int64(len(s.Data)), since(s.CreationTimestamp)}
		},
		fieldNames: []string{"type"},
		fieldSet:   func(obj map[string]any) fields.Set { return fields.Set{"type": text(obj, "type")} },
	})
}

// defaultSecret sets the type and moves stringData, which is only for writing,
// into data.
func defaultSecret(obj map[string]any) {
	if text(obj, "type") == "" {
		obj["type"] = string(corev1.SecretTypeOpaque)
	}
	if plain := child(obj, "stringData"); len(plain) > 0 {
		data := ensure(obj, "data")
		for k, v := range plain {
			s, _ := v.(string)
			data[k] = base64.StdEncoding.EncodeToString([]byte(s))
		}
	}
	delete(obj, "stringData")
}

var dataPath = field.NewPath("data")

func validateSecret(s *corev1.Secret) field.ErrorList {
	errs := validateMeta(&s.ObjectMeta, true, apivalidation.NameIsDNSSubdomain)
	size := 0
	for _, key := range sortedKeys(s.Data) {
		errs = append(errs, validateKey(dataPath, key)...)
		size += len(s.Data[key])
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(dataPath, "", corev1.MaxSecretSize))
	}
	return append(errs, validateSecretType(s)...)
}

// validateSecretType checks that what the type promises is there.
func validateSecretType(s *corev1.Secret) field.ErrorList {
	switch s.Type {
	case corev1.SecretTypeServiceAccountToken:
		if s.Annotations[corev1.ServiceAccountNameKey] == "" {
			return field.ErrorList{field.Required(metadataPath.Child("annotations").Key(corev1.ServiceAccountNameKey), "")}
		}
	case corev1.SecretTypeDockercfg:
		return validateJSONKey(s, corev1.DockerConfigKey)
	case corev1.SecretTypeDockerConfigJson:
		return validateJSONKey(s, corev1.DockerConfigJsonKey)
	case corev1.SecretTypeBasicAuth:
		_, user := s.Data[corev1.BasicAuthUsernameKey]
		_, password := s.Data[corev1.BasicAuthPasswordKey]
		if !user && !password {
			return field.ErrorList{
				field.Required(dataPath.Key(corev1.BasicAuthUsernameKey), ""),
				field.Required(dataPath.Key(corev1.BasicAuthPasswordKey), ""),
			}
		}
	case corev1.SecretTypeSSHAuth:
		if len(s.Data[corev1.SSHAuthPrivateKey]) == 0 {
			return field.ErrorList{field.Required(dataPath.Key(corev1.SSHAuthPrivateKey), "")}
		}
	case corev1.SecretTypeTLS:
		var errs field.ErrorList
		for _, key := range []string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey} {
			if _, ok := s.Data[key]; !ok {
				errs = append(errs, field.Required(dataPath.Key(key), ""))
			}
		}
		return errs
	}
	return nil
}

func validateJSONKey(s *corev1.Secret, key string) field.ErrorList {
	data, ok := s.Data[key]
	if !ok {
		return field.ErrorList{field.Required(dataPath.Key(key), "")}
	}
	if err := json.Unmarshal(data, &map[string]any{}); err != nil {
		return field.ErrorList{field.Invalid(dataPath.Key(key), "<secret contents redacted>", err.Error())}
	}
	return nil
}

func validateSecretUpdate(s, old *corev1.Secret) field.ErrorList {
	errs := validateMetaUpdate(&s.ObjectMeta, &old.ObjectMeta)
	errs = append(errs, apivalidation.ValidateImmutableField(s.Type, old.Type, field.NewPath("type"))...)
	errs = append(errs, validateFrozen(s.Immutable, old.Immutable, part{"data", reflect.DeepEqual(s.Data, old.Data)})...)
	return append(errs, validateSecret(s)...)
}

func warnSecret(s, _ *corev1.Secret) []string {
	if s.Type != corev1.SecretTypeTLS {
		return nil
	}
	if _, err := tls.X509KeyPair(s.Data[corev1.TLSCertKey], s.Data[corev1.TLSPrivateKeyKey]); err != nil {
		return []string{err.Error()}
	}
	return nil
}
