package load

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
)

// missingHint tells how content that is not in the store comes there again.
func missingHint(obj *unstructured.Unstructured) string {
	if _, ok := module.Image(obj); ok {
		return "let it be pulled again with: " + retryCommand(obj.GetName())
	}
	return module.UploadHint(obj.GetName())
}

func retryCommand(name string) string {
	return fmt.Sprintf("kubectl annotate wasmmodule %s --overwrite %s=$(date +%%s)", name, module.RetryAnnotation)
}

// compilerHint tells what helps where the compiler needs more than it may have.
func compilerHint(name, flag string) string {
	return fmt.Sprintf("give it other content, or start every gateway with a larger %s; to try the same again: %s", flag, retryCommand(name))
}
