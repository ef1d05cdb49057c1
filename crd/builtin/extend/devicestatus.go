package extend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	resourcev1 "k8s.io/api/resource/v1"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// deviceID names a device, or a share of one. It is shown as kube-apiserver shows it.
type deviceID struct{ Driver, Pool, Device, ShareID string }

// allocatedDevices are those of a claim.
func allocatedDevices(allocation *resourcev1.AllocationResult) map[deviceID]bool {
	out := map[deviceID]bool{}
	if allocation != nil {
		for _, r := range allocation.Devices.Results {
			id := deviceID{r.Driver, r.Pool, r.Device, ""}
			if r.ShareID != nil {
				id.ShareID = string(*r.ShareID)
			}
			out[id] = true
		}
	}
	return out
}

func reportedDevice(d resourcev1.AllocatedDeviceStatus) deviceID {
	id := deviceID{d.Driver, d.Pool, d.Device, ""}
	if d.ShareID != nil {
		id.ShareID = *d.ShareID
	}
	return id
}

// dropDeallocated takes away what is said of devices that are not a claim's any more, for
// clients that do not know that anything is said of them.
func dropDeallocated(subresource string, obj, old map[string]any) {
	status := object.Child(obj, "status")
	said, _ := status["devices"].([]any)
	if subresource != "status" || len(said) == 0 {
		return
	}
	had, has := resultsIn(old), resultsIn(obj)
	kept := make([]any, 0, len(said))
	for _, d := range said {
		if id := idIn(d); !had[id] || has[id] {
			kept = append(kept, d)
		}
	}
	if len(kept) == 0 {
		delete(status, "devices")
	} else {
		status["devices"] = kept
	}
}

// resultsIn are the devices that are allocated by a tree that nobody has checked yet.
func resultsIn(claim map[string]any) map[deviceID]bool {
	out := map[deviceID]bool{}
	for _, r := range object.Objects(object.Child(claim, "status", "allocation", "devices")["results"]) {
		out[idIn(r)] = true
	}
	return out
}

func idIn(item any) deviceID {
	d, _ := item.(map[string]any)
	return deviceID{object.TextAt(d, "driver"), object.TextAt(d, "pool"), object.TextAt(d, "device"), object.TextAt(d, "shareID")}
}

// validateClaimStatus checks what is allocated of a claim, for whom, and what is said of it.
func validateClaimStatus(claim, old *resourcev1.ResourceClaim) (errs field.ErrorList) {
	path, now, before := field.NewPath("status"), claim.Status, old.Status
	errs = validateConsumers(now.ReservedFor, path.Child("reservedFor"))
	allocated := allocatedDevices(now.Allocation)
	for i, d := range now.Devices {
		errs = append(errs, validateReported(d, allocated, path.Child("devices").Index(i))...)
	}
	errs = append(errs, twice(now.Devices, reportedDevice, path.Child("devices"))...)
	if len(now.ReservedFor) > 0 && now.Allocation == nil {
		errs = append(errs, field.Forbidden(path.Child("reservedFor"), "may not be specified when `allocated` is not set"))
	} else if claim.DeletionTimestamp != nil && slices.ContainsFunc(now.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool {
		return !slices.Contains(before.ReservedFor, r)
	}) {
		errs = append(errs, field.Forbidden(path.Child("reservedFor"), "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"))
	}
	switch {
	case now.Allocation == nil:
	case before.Allocation != nil:
		errs = append(errs, apimachineryvalidation.ValidateImmutableField(now.Allocation, before.Allocation, path.Child("allocation"))...)
	default:
		errs = append(errs, validateAllocated(now.Allocation.Devices, claim.Spec.Devices, path.Child("allocation", "devices"))...)
	}
	return errs
}

func validateConsumers(all []resourcev1.ResourceClaimConsumerReference, path *field.Path) (errs field.ErrorList) {
	if len(all) > resourcev1.ResourceClaimReservedForMaxSize {
		return field.ErrorList{field.TooMany(path, len(all), resourcev1.ResourceClaimReservedForMaxSize)}
	}
	for i, r := range all {
		for _, f := range []struct{ name, value string }{{"resource", r.Resource}, {"name", r.Name}, {"uid", string(r.UID)}} {
			if f.value == "" {
				errs = append(errs, field.Required(path.Index(i).Child(f.name), ""))
			}
		}
	}
	return append(errs, twice(all, func(r resourcev1.ResourceClaimConsumerReference) types.UID { return r.UID }, path)...)
}

// validateReported checks what a driver says of a device, which has to be the claim's.
func validateReported(d resourcev1.AllocatedDeviceStatus, allocated map[deviceID]bool, path *field.Path) (errs field.ErrorList) {
	errs = validateDeviceNames(d.Driver, d.Pool, d.Device, d.ShareID, path)
	if id := reportedDevice(d); !allocated[id] {
		errs = append(errs, field.Invalid(path, id, "must be an allocated device in the claim"))
	}
	if len(d.Conditions) > resourcev1.AllocatedDeviceStatusMaxConditions {
		errs = append(errs, field.TooMany(path.Child("conditions"), len(d.Conditions), resourcev1.AllocatedDeviceStatusMaxConditions))
	}
	errs = append(errs, validation.ValidateConditions(d.Conditions, path.Child("conditions"))...)
	if d.Data != nil && len(d.Data.Raw) > 0 {
		errs = append(errs, validateDeviceData(*d.Data, resourcev1.AllocatedDeviceStatusDataMaxLength, path.Child("data"))...)
	}
	if n := d.NetworkData; n != nil {
		at := path.Child("networkData")
		if len(n.InterfaceName) > resourcev1.NetworkDeviceDataInterfaceNameMaxLength {
			errs = append(errs, field.TooLong(at.Child("interfaceName"), "", resourcev1.NetworkDeviceDataInterfaceNameMaxLength))
		}
		if len(n.HardwareAddress) > resourcev1.NetworkDeviceDataHardwareAddressMaxLength {
			errs = append(errs, field.TooLong(at.Child("hardwareAddress"), "", resourcev1.NetworkDeviceDataHardwareAddressMaxLength))
		}
		errs = append(errs, validateInterfaceAddresses(n.IPs, at.Child("ips"))...)
	}
	return errs
}

func validateInterfaceAddresses(ips []string, path *field.Path) (errs field.ErrorList) {
	if len(ips) > resourcev1.NetworkDeviceDataMaxIPs {
		return field.ErrorList{field.TooMany(path, len(ips), resourcev1.NetworkDeviceDataMaxIPs)}
	}
	for i, ip := range ips {
		errs = append(errs, utilvalidation.IsValidInterfaceAddress(path.Index(i), ip)...)
	}
	return append(errs, twice(ips, itself, path)...)
}

// twice finds items whose key an earlier one has.
func twice[T any, K comparable](items []T, key func(T) K, path *field.Path) (errs field.ErrorList) {
	seen := make(map[K]bool, len(items))
	for i, item := range items {
		k := key(item)
		if seen[k] {
			errs = append(errs, field.Duplicate(path.Index(i), k))
		}
		seen[k] = true
	}
	return errs
}

func itself(text string) string { return text }

func validateDeviceData(data runtime.RawExtension, most int, path *field.Path) field.ErrorList {
	if !fits(data, most) {
		return field.ErrorList{field.TooLong(path, "", most)}
	}
	if json.Unmarshal(data.Raw, new(map[string]any)) != nil { // it is JSON, of a tree
		return field.ErrorList{field.Invalid(path, "<value omitted>", "must be a valid JSON object")}
	}
	return nil
}

// fits tells whether what is said to a driver, or by one, has no more than so many bytes as
// a client writes it: what is read from a tree has six for each of <, > and &.
func fits(data runtime.RawExtension, most int) bool {
	if len(data.Raw) <= most || len(data.Raw) > 6*most {
		return len(data.Raw) <= most
	}
	var said any
	in := json.NewDecoder(bytes.NewReader(data.Raw))
	in.UseNumber()
	if in.Decode(&said) != nil {
		return false
	}
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	return out.Encode(said) == nil && text.Len()-1 <= most // it ends the line
}

// validateDeviceNames checks what names a device.
func validateDeviceNames[Share ~string](driver, pool, device string, share *Share, path *field.Path) (errs field.ErrorList) {
	errs = validateDriver(driver, path.Child("driver"))
	errs = append(errs, validatePool(pool, path.Child("pool"))...)
	for _, why := range utilvalidation.IsDNS1123Label(device) {
		errs = append(errs, field.Invalid(path.Child("device"), device, why))
	}
	if share != nil {
		errs = append(errs, validateShare(string(*share), path.Child("shareID"))...)
	}
	return errs
}

// validateDriver checks the name of a driver, in which letters may be large.
func validateDriver(name string, path *field.Path) (errs field.ErrorList) {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	if len(name) > resourcev1.DriverNameMaxLength {
		errs = append(errs, field.TooLong(path, "", resourcev1.DriverNameMaxLength))
	}
	for _, why := range utilvalidation.IsDNS1123Subdomain(strings.ToLower(name)) {
		errs = append(errs, field.Invalid(path, name, why))
	}
	return errs
}

// validatePool checks the name of a pool, which is names with slashes between them.
func validatePool(name string, path *field.Path) (errs field.ErrorList) {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	if len(name) > resourcev1.PoolNameMaxLength {
		errs = append(errs, field.TooLong(path, "", resourcev1.PoolNameMaxLength))
	}
	for part := range strings.SplitSeq(name, "/") {
		for _, why := range utilvalidation.IsDNS1123Subdomain(part) {
			errs = append(errs, field.Invalid(path, part, why))
		}
	}
	return errs
}

func validateShare(id string, path *field.Path) field.ErrorList {
	if err := uuid.Validate(id); err != nil {
		return field.ErrorList{field.Invalid(path, id, fmt.Sprintf("error validating uid: %v", err))}
	}
	if len(id) != 36 || id != strings.ToLower(id) {
		return field.ErrorList{field.Invalid(path, id, "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters")}
	}
	return nil
}
