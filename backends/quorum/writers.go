package quorum

import "sync"

// writers are a Bucket's writers by name, each from its Create until no goroutine works for it.
type writers struct {
	mu     sync.Mutex
	byName map[string]*writer
}

// add adds w, unless there is a writer of that name: two creators in one process must not split the zones so that
// neither has a quorum.
func (ws *writers) add(w *writer) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.byName[w.name] != nil {
		return false
	}
	if ws.byName == nil {
		ws.byName = make(map[string]*writer)
	}
	ws.byName[w.name] = w
	return true
}

func (ws *writers) remove(w *writer) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.byName[w.name] == w {
		delete(ws.byName, w.name)
	}
}

// get returns the writer of name, or nil.
func (ws *writers) get(name string) *writer {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.byName[name]
}
