package extend

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"
	apiregistrationvalidation "k8s.io/kube-aggregator/pkg/apis/apiregistration/validation"

	"github.com/wasmgate/wasmgate/crd/object"
)

// prepareAPIService makes those that this server answers itself available at once.
func prepareAPIService(_ context.Context, obj map[string]any) {
	obj["status"] = map[string]any{}
	if object.Child(obj, "spec")["service"] != nil {
		return
	}
	local := helper.NewLocalAvailableAPIServiceCondition()
	obj["status"] = map[string]any{"conditions": []any{map[string]any{
		"type": string(local.Type), "status": string(local.Status), "reason": local.Reason, "message": local.Message,
		"lastTransitionTime": local.LastTransitionTime.ToUnstructured(),
	}}}
}

// validateAPIService is the library's, whose functions are of the internal type.
func validateAPIService(subresource string, s, old *apiregistrationv1.APIService) field.ErrorList {
	ctx := context.Background() // nothing of it is looked at
	now, errs := internalAPIService(s)
	if errs != nil {
		return errs
	}
	if old == nil {
		return apiregistrationvalidation.ValidateAPIService(ctx, now)
	}
	was, errs := internalAPIService(old)
	switch {
	case errs != nil:
		return errs
	case subresource == "status":
		return apiregistrationvalidation.ValidateAPIServiceStatusUpdate(ctx, now, was)
	}
	return apiregistrationvalidation.ValidateAPIServiceUpdate(ctx, now, was)
}

func internalAPIService(s *apiregistrationv1.APIService) (*apiregistration.APIService, field.ErrorList) {
	out := &apiregistration.APIService{}
	if err := apiregistrationv1.Convert_v1_APIService_To_apiregistration_APIService(s, out, nil); err != nil {
		return nil, field.ErrorList{field.InternalError(nil, err)}
	}
	return out, nil
}
