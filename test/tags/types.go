package tags

// Each has rules for what is in maps and lists. Keys are strings: of maps with
// others the generator makes nothing.
type Each struct {
	Kind string `json:"kind"`

	// +k8s:eachKey=+k8s:maxLength=3
	Keys map[string]string `json:"keys"`
	// +k8s:eachVal=+k8s:minimum=1
	Values map[string]int `json:"values"`
	// +k8s:eachVal=+k8s:minimum=1
	Items []int `json:"items"`
}

// Letter is one of two letters.
// +k8s:enum
type Letter string

// The letters.
const (
	A Letter = "A"
	B Letter = "B"
)

// Enum has a value that is one of few.
type Enum struct {
	Kind string `json:"kind"`

	Letter Letter `json:"letter"`
}

// Presence has fields that must be there, need not, and must not.
type Presence struct {
	Kind string `json:"kind"`

	// +k8s:required
	Required string `json:"required"`
	// +k8s:optional
	Optional string `json:"optional"`
	// +k8s:forbidden
	Forbidden string `json:"forbidden"`
	// +k8s:optional
	// +k8s:maxLength=3
	Short *string `json:"short"`
	// +k8s:required
	Pointer *int `json:"pointer"`
}

// Format has names and addresses. The generator knows k8s-ip in its documentation
// only and refuses it, so the address is checked by a function of the package.
type Format struct {
	Kind string `json:"kind"`

	// +k8s:optional
	// +k8s:customValidation
	IP string `json:"ip"`
	// +k8s:optional
	// +k8s:format=k8s-long-name
	Long string `json:"long"`
	// +k8s:optional
	// +k8s:format=k8s-short-name
	Short string `json:"short"`
}

// Option has rules that are in force by options.
type Option struct {
	Kind string `json:"kind"`

	// +k8s:ifEnabled("my-feature")=+k8s:required
	Enabled string `json:"enabled"`
	// +k8s:ifDisabled("my-feature")=+k8s:required
	Disabled string `json:"disabled"`
}

// Port is an item of a list that is a map of two keys.
type Port struct {
	Number   int    `json:"number"`
	Protocol string `json:"protocol"`
	Name     string `json:"name"`
}

// List has lists of all types.
type List struct {
	Kind string `json:"kind"`

	// +k8s:listType=atomic
	Atomic []string `json:"atomic"`
	// +k8s:listType=set
	Set []string `json:"set"`
	// +k8s:listType=map
	// +k8s:listMapKey=number
	// +k8s:listMapKey=protocol
	Map []Port `json:"map"`
}

// Condition is something that was decided.
type Condition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
}

// Slot is an item of a list with a key of each type.
type Slot struct {
	Name string `json:"name"`
	Row  int    `json:"row"`
	Free bool   `json:"free"`
	Note string `json:"note"`
}

// Item has rules for single items of lists.
type Item struct {
	Kind string `json:"kind"`

	// +k8s:listType=map
	// +k8s:listMapKey=type
	// +k8s:item(type: "Approved")=+k8s:zeroOrOneOfMember
	// +k8s:item(type: "Denied")=+k8s:zeroOrOneOfMember
	Conditions []Condition `json:"conditions"`
	// +k8s:listType=map
	// +k8s:listMapKey=name
	// +k8s:listMapKey=row
	// +k8s:listMapKey=free
	// +k8s:item(name: "a", row: 42, free: true)=+k8s:subfield(note)=+k8s:required
	Slots []Slot `json:"slots"`
}

// Limit has the most and the least of things.
type Limit struct {
	Kind string `json:"kind"`

	// +k8s:maxItems=5
	Items []string `json:"items"`
	// +k8s:maxLength=10
	Text string `json:"text"`
	// +k8s:minimum=0
	Number int `json:"number"`
}

// Other has values that are not allowed.
type Other struct {
	Kind string `json:"kind"`

	// +k8s:neq="disallowed"
	Text string `json:"text"`
	// +k8s:neq=0
	Number int `json:"number"`
	// +k8s:neq=true
	Flag bool `json:"flag"`
}

// Inner has a rule of its own.
type Inner struct {
	// +k8s:required
	Name string `json:"name"`
	Note string `json:"note"`
}

// Opaque has the same type with and without its rules.
type Opaque struct {
	Kind string `json:"kind"`

	Seen Inner `json:"seen"`
	// +k8s:opaqueType
	Unseen Inner `json:"unseen"`
}

// Subfield has a rule for a field of its field.
type Subfield struct {
	Kind string `json:"kind"`

	// +k8s:subfield("note")=+k8s:required
	Inner Inner `json:"inner"`
}

// Member is something that may be there.
type Member struct{}

// Discriminator says which of the members is there.
// +k8s:enum
type Discriminator string

// The discriminator's values, by default the names of the fields.
const (
	M1     Discriminator = "M1"
	Second Discriminator = "Second"
)

// Union has exactly one of what it may have: what the discriminator names, and
// one of those that have none.
type Union struct {
	Kind string `json:"kind"`

	// +k8s:unionDiscriminator
	D Discriminator `json:"d"`
	// +k8s:unionMember
	// +k8s:optional
	M1 *Member `json:"m1"`
	// +k8s:unionMember(memberName: "Second")
	// +k8s:optional
	M2 *Member `json:"m2"`
	// +k8s:unionMember(union: "union1")
	// +k8s:optional
	U1 *Member `json:"u1"`
	// +k8s:unionMember(union: "union1")
	// +k8s:optional
	U2 *Member `json:"u2"`
}

// AtMostOne has one of what it may have, or none.
type AtMostOne struct {
	Kind string `json:"kind"`

	// +k8s:zeroOrOneOfMember
	// +k8s:optional
	M1 *Member `json:"m1"`
	// +k8s:zeroOrOneOfMember
	// +k8s:optional
	M2 *Member `json:"m2"`
	// +k8s:zeroOrOneOfMember(union: "other", memberName: "First")
	// +k8s:optional
	O1 *Member `json:"o1"`
	// +k8s:zeroOrOneOfMember(union: "other", memberName: "Second")
	// +k8s:optional
	O2 *Member `json:"o2"`
}
