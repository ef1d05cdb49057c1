// Package signingrequest owns what becomes of CertificateSigningRequests beyond being
// stored: who may approve and sign them, that nobody asks for a certificate of
// administrators, that those of clients of the API are signed by the gateway's authority
// once they are approved, and that old ones go.
//
// It must not know who believes the certificates, nor, but for kind.go, where the
// authority is kept.
package signingrequest
