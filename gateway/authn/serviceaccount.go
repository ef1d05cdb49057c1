package authn

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
)

// What Kubernetes calls service accounts and nodes, and their groups.
const (
	// ServiceAccountPrefix begins the name of the user that a service account is:
	// its namespace, a colon and its name follow.
	ServiceAccountPrefix = "system:serviceaccount:"
	// AllServiceAccounts is a group of every service account.
	AllServiceAccounts = "system:serviceaccounts"
	// NodeNameKey is what is known of a service account whose token is bound to a
	// pod: the node that it runs on.
	NodeNameKey = "authentication.kubernetes.io/node-name"
	// AllNodes is a group of every node.
	AllNodes = "system:nodes"

	nodePrefix = "system:node:"
)

// ServiceAccountGroups are the groups of the service accounts of a namespace.
func ServiceAccountGroups(namespace string) []string {
	return []string{AllServiceAccounts, AllServiceAccounts + ":" + namespace}
}

// ServiceAccount splits the name of a user who is a service account. It returns
// false of all other names.
func ServiceAccount(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, ServiceAccountPrefix)
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	if !ok || len(validation.ValidateNamespaceName(namespace, false)) > 0 || len(validation.ValidateServiceAccountName(name, false)) > 0 {
		return "", "", false
	}
	return namespace, name, true
}

// Node is the name of the node that a user is. It returns false of all other
// users.
func Node(user string) (name string, ok bool) {
	name, ok = strings.CutPrefix(user, nodePrefix)
	if !ok || len(validation.NameIsDNSSubdomain(name, false)) > 0 {
		return "", false
	}
	return name, true
}
