package authn

import "testing"

// Only a user whose name is that of a service account, in whole, is one.
func TestNamesOfServiceAccounts(t *testing.T) {
	for user, want := range map[string]string{
		"system:serviceaccount:default:builder": "default builder", "system:serviceaccount:a:b.c": "a b.c",
		"default:builder": "", "builder": "", "": "", "system:serviceaccount:": "", "system:serviceaccount:default": "",
		"system:serviceaccount:default:": "", "system:serviceaccount::builder": "", "system:serviceaccount:default:a:b": "",
		"system:serviceaccount:UPPER:builder": "", "system:serviceaccount:default:no name": "", "System:serviceaccount:default:builder": "",
		"system:serviceaccount:half-:builder": "", "system:serviceaccount:default:half-": "",
		"system:serviceaccounts:default:builder": "", " system:serviceaccount:default:builder": "",
	} {
		namespace, name, ok := ServiceAccount(user)
		if got := namespace + " " + name; ok != (want != "") || ok && got != want || !ok && got != " " {
			t.Errorf("%q is %q, %v", user, got, ok)
		}
	}
}

// Nor is a node whose name is none.
func TestNamesOfNodes(t *testing.T) {
	for user, want := range map[string]string{"system:node:worker-1": "worker-1", "worker-1": "", "system:node:": "", "system:node:Worker": "", "system:nodes:worker-1": ""} {
		if name, ok := Node(user); name != want || ok != (want != "") {
			t.Errorf("%q is %q, %v", user, name, ok)
		}
	}
}
