package fetch

import (
	"container/list"

	"github.com/walbridge/walbridge/server/frame"
)

// cache keeps the frames that were used last. The caller serializes its use.
type cache struct {
	max, bytes int64
	byExtent   map[frame.Extent]*list.Element
	recent     *list.List // of cached, the last used first
}

type cached struct {
	extent frame.Extent
	frame  *frame.Frame
}

func newCache(limit int64) *cache {
	return &cache{max: limit, byExtent: map[frame.Extent]*list.Element{}, recent: list.New()}
}

// get returns nil where there is no frame of x.
func (c *cache) get(x frame.Extent) *frame.Frame {
	e := c.byExtent[x]
	if e == nil {
		return nil
	}
	c.recent.MoveToFront(e)
	return e.Value.(cached).frame
}

// put keeps f, unless it takes more than the whole cache, and drops those that were not used for longest.
func (c *cache) put(x frame.Extent, f *frame.Frame) {
	if cost(f) > c.max || c.byExtent[x] != nil {
		return
	}
	c.byExtent[x] = c.recent.PushFront(cached{x, f})
	for c.bytes += cost(f); c.bytes > c.max; {
		last := c.recent.Remove(c.recent.Back()).(cached)
		delete(c.byExtent, last.extent)
		c.bytes -= cost(last.frame)
	}
}

// cost is about how much memory f takes: its bytes, and the decoded index, which takes some three times its encoding.
func cost(f *frame.Frame) int64 { return f.Size() + 3*int64(f.Header.IndexLength) }
