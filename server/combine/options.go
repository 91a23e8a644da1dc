package combine

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/walbridge/walbridge/backends"
	"github.com/walbridge/walbridge/server/frame"
)

// Options say how a Combiner works. The zero value of a field is its default.
type Options struct {
	// Identity goes into every frame. Required.
	Identity frame.Identity
	// Objects is where the lanes take open objects from. Required.
	Objects Source
	// Caps are those of the bucket that the objects are in. Required.
	Caps backends.Caps

	// Lanes is how many frames are written at once. Default 4.
	Lanes int
	// Linger is how long the first copy of a frame waits for others to share it. Default 0: whatever is queued goes as
	// soon as a lane is free.
	Linger time.Duration
	// MaxFrameBytes is the size at which a frame goes without lingering on, and which only a single larger copy
	// exceeds. Default 4 MiB; at most what one append takes.
	MaxFrameBytes int64
	// MaxCopyBytes is the most bytes that the sections of one copy have together. Default 64 MiB.
	MaxCopyBytes int64
	// MaxQueued is the most copies that wait for a lane; more fail with ErrFull. Their bytes are the caller's to bound.
	// Default 4096.
	MaxQueued int
	// Rotation says when an object is left for a new one.
	Rotation Rotation

	// AttemptTimeout bounds one append, so that another attempt is possible. Default 3 seconds; less where the copies of
	// the frame have less time.
	AttemptTimeout time.Duration
	// FrameTimeout bounds all attempts to write one frame, also where its copies have more time. Default 30 seconds.
	FrameTimeout time.Duration
	// CloseTimeout bounds the closing of an object, which happens in the background. Default 5 seconds.
	CloseTimeout time.Duration

	// Logger gets what no caller is told. Default: nothing is logged.
	Logger *slog.Logger
	// Registerer gets the walbridge_combine_* metrics. Default: none.
	Registerer prometheus.Registerer
}

// Rotation says when a lane leaves its object for a new one: when the first limit is reached. The zero value of a field
// is its default.
type Rotation struct {
	// Appends is how many frames an object takes. Default 1; at most what the bucket's objects take.
	Appends int
	// Bytes is the length from which on an object takes no more frames. Default 64 MiB.
	Bytes int64
	// Age is how long an object is kept by its lane, used or not. Default 1 minute.
	Age time.Duration
}

func (o Options) withDefaults() Options {
	def(&o.Lanes, 4)
	def(&o.MaxFrameBytes, 4<<20)
	o.MaxFrameBytes = min(o.MaxFrameBytes, o.Caps.MaxAppend)
	def(&o.MaxCopyBytes, 64<<20)
	def(&o.MaxQueued, 4096)
	def(&o.Rotation.Appends, 1)
	o.Rotation.Appends = min(o.Rotation.Appends, o.Caps.Appends)
	def(&o.Rotation.Bytes, 64<<20)
	def(&o.Rotation.Age, time.Minute)
	def(&o.AttemptTimeout, 3*time.Second)
	def(&o.FrameTimeout, 30*time.Second)
	def(&o.CloseTimeout, 5*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func def[V int | int64 | time.Duration](v *V, d V) {
	if *v == 0 {
		*v = d
	}
}
