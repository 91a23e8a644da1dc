package server

import "sync"

// frameBytes is the longest HTTP/2 frame that gRPC sends: what nearly all that a copy consists of comes in.
const frameBytes = 16 << 10

// buffers are what gRPC receives into. Its own pool clears every buffer before it overwrites it, which costs a daemon
// that mostly receives more than the copy into the frame.
type buffers struct{ frames sync.Pool }

// Get implements mem.BufferPool.
func (b *buffers) Get(length int) *[]byte {
	if length > frameBytes || length < frameBytes/2 { // Short frames hold no more than they need.
		p := make([]byte, length)
		return &p
	}
	p, ok := b.frames.Get().(*[]byte)
	if !ok {
		p = new([]byte)
		*p = make([]byte, frameBytes)
	}
	*p = (*p)[:length]
	return p
}

// Put implements mem.BufferPool.
func (b *buffers) Put(p *[]byte) {
	if cap(*p) == frameBytes {
		b.frames.Put(p)
	}
}
