package extend

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// moveStringData moves what is only for writing into data.
func moveStringData(obj map[string]any) {
	if plain := object.Child(obj, "stringData"); len(plain) > 0 {
		data := object.Ensure(obj, "data")
		for k, v := range plain {
			s, _ := v.(string)
			data[k] = base64.StdEncoding.EncodeToString([]byte(s))
		}
	}
	delete(obj, "stringData")
}

func keepSecretType(_ string, obj, old map[string]any) {
	if object.TextAt(obj, "type") == "" {
		object.Keep(obj, old, "type")
	}
}

var dataPath = field.NewPath("data")

// validateSecret tells of a change before of what is wrong with the new state.
func validateSecret(_ string, s, old *corev1.Secret) field.ErrorList {
	var errs field.ErrorList
	if old != nil {
		errs = validateMetaUpdate(&s.ObjectMeta, &old.ObjectMeta)
		errs = append(errs, apivalidation.ValidateImmutableField(s.Type, old.Type, field.NewPath("type"))...)
		errs = append(errs, validateFrozen(s, old)...)
	}
	errs = append(errs, ValidateMeta(&s.ObjectMeta, true, apivalidation.NameIsDNSSubdomain)...)
	size := 0
	for _, key := range slices.Sorted(maps.Keys(s.Data)) {
		for _, msg := range validation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(dataPath.Key(key), key, msg))
		}
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
			return field.ErrorList{field.Required(MetadataPath.Child("annotations").Key(corev1.ServiceAccountNameKey), "")}
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

// validateFrozen checks a secret that may have been made immutable.
func validateFrozen(s, old *corev1.Secret) field.ErrorList {
	if old.Immutable == nil || !*old.Immutable {
		return nil
	}
	const message = "field is immutable when `immutable` is set"
	var errs field.ErrorList
	if s.Immutable == nil || !*s.Immutable {
		errs = append(errs, field.Forbidden(field.NewPath("immutable"), message))
	}
	if !reflect.DeepEqual(s.Data, old.Data) {
		errs = append(errs, field.Forbidden(dataPath, message))
	}
	return errs
}

func warnSecret(obj, _ map[string]any) []string {
	s := &corev1.Secret{}
	if object.TextAt(obj, "type") != string(corev1.SecretTypeTLS) || object.ToTyped(obj, s) != nil {
		return nil
	}
	if _, err := tls.X509KeyPair(s.Data[corev1.TLSCertKey], s.Data[corev1.TLSPrivateKeyKey]); err != nil {
		return []string{err.Error()}
	}
	return nil
}
