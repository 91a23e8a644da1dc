package quorum

// load is what a zone is doing. It is a value.
type load struct {
	ops       int   // operations under way
	late      int   // those of them that nobody waits for any more
	lateBytes int64 // what these hold
	stuck     int   // those that the store has not answered in time
}

// loadLimit bounds a load.
type loadLimit struct {
	ops       int
	lateBytes int64
}

// admits tells if the zone may be asked for one operation more.
func (l load) admits(limit loadLimit) bool { return l.ops < limit.ops }

// holds tells if the zone may hold n bytes more for nobody.
func (l load) holds(n int64, limit loadLimit) bool { return l.lateBytes+n <= limit.lateBytes }

// begin returns l with one operation more.
func (l load) begin() load {
	l.ops++
	return l
}

// leave returns l after an operation that holds n bytes was left by its caller.
func (l load) leave(n int64) load {
	l.late++
	l.lateBytes += n
	return l
}

// stick returns l after an operation was not answered in time.
func (l load) stick() load {
	l.stuck++
	return l
}

// end returns l after an operation has ended that holds n bytes, was left or not, and was stuck or not.
func (l load) end(n int64, late, stuck bool) load {
	l.ops--
	if late {
		l.late--
		l.lateBytes -= n
	}
	if stuck {
		l.stuck--
	}
	return l
}
