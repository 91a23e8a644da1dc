package quorum

// late is what a zone still does for callers that have left, and the bytes it holds for that. It is a value.
type late struct {
	ops   int
	bytes int64
}

// lateLimit bounds a late.
type lateLimit struct {
	ops   int
	bytes int64
}

// add returns l with one operation more, which holds n bytes.
func (l late) add(n int64) late { return late{ops: l.ops + 1, bytes: l.bytes + n} }

// remove returns l without an operation that held n bytes.
func (l late) remove(n int64) late { return late{ops: l.ops - 1, bytes: l.bytes - n} }

// takes tells if the zone may be given one operation more.
func (l late) takes(limit lateLimit) bool { return l.ops < limit.ops }

// holds tells if n bytes more stay within the limit.
func (l late) holds(n int64, limit lateLimit) bool { return l.bytes+n <= limit.bytes }
