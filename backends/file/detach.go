package file

import "context"

// slots bounds how many detached calls are on their way; nil is no bound.
type slots chan struct{}

func (s slots) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil || s == nil {
		return err
	}
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s slots) release() {
	if s != nil {
		<-s
	}
}

// detach returns what call returns or, when ctx ends first, ctx's error. Then the call goes on alone, holding its slot,
// and where it succeeds late, drop is called with its value.
func detach[T any](ctx context.Context, s slots, call func() (T, error), drop func(T)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	if err := s.acquire(ctx); err != nil {
		return none, err
	}
	results := make(chan result) // unbuffered: who sends knows that it was received
	go func() {
		defer s.release()
		v, err := call()
		select {
		case results <- result{v, err}:
		case <-ctx.Done():
			if err == nil {
				drop(v)
			}
		}
	}()
	select {
	case r := <-results:
		return r.value, r.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// detachErr is detach for a call without a value.
func detachErr(ctx context.Context, s slots, call func() error) error {
	_, err := detach(ctx, s, func() (struct{}, error) { return struct{}{}, call() }, func(struct{}) {})
	return err
}
