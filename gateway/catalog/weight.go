package catalog

// sampled is how many objects are looked at to know how large they are.
const sampled = 8

// Weigh tells how many objects there are, in a namespace or with none in all, and about
// how many bytes one has as it is stored.
func (r *Resource) Weigh(namespace string) (objects, each int64) {
	from, to := "", ""
	if namespace != "" && r.Def.Namespaced { // keys are of JoinKey: a slash comes before 0
		from, to = namespace+"/", namespace+"0"
	}
	s := r.bucket.Snapshot()
	before, n := s.Between(from, to)
	looked := min(n, sampled)
	if looked == 0 {
		return 0, 0
	}
	var sum int64
	for i := range looked {
		sum += int64(s.Nth(before + i*n/looked).Value.StoredSize())
	}
	return int64(n), sum / int64(looked)
}
