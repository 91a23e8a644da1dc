package load

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// mode is a way to produce.
type mode struct {
	name    string
	options func(codec string) []kgo.Opt
	run     func(context.Context, *producer) error
}

var (
	plain = mode{
		name: "plain",
		options: func(string) []kgo.Opt {
			return []kgo.Opt{kgo.DisableIdempotentWrite(), kgo.RequiredAcks(kgo.LeaderAck())}
		},
		run: untilDone,
	}
	idempotent = mode{
		name:    "idempotent",
		options: func(string) []kgo.Opt { return nil },
		run:     untilDone,
	}
	transactional = mode{
		name: "transactional",
		options: func(codec string) []kgo.Opt {
			return []kgo.Opt{kgo.TransactionalID("walbridge-load-" + codec), kgo.TransactionTimeout(patience)}
		},
		run: inTransactions,
	}
)

func untilDone(ctx context.Context, p *producer) error {
	for p.left > 0 {
		if err := p.some(ctx); err != nil {
			return err
		}
	}
	return nil
}

// inTransactions aborts one transaction in four, the first one included, once its records are in the log.
func inTransactions(ctx context.Context, p *producer) error {
	for n := 0; p.left > 0; n++ {
		if err := p.client.BeginTransaction(); err != nil {
			return fmt.Errorf("begin a transaction: %w", err)
		}
		commit := kgo.TransactionEndTry(n%4 != 0)
		ended := p.some(ctx)
		end, cancel := context.WithTimeoutCause(ctx, patience, errors.New("transaction did not end in time"))
		err := p.client.EndTransaction(end, commit && ended == nil)
		cancel()
		if err = errors.Join(ended, err); err != nil {
			return err
		}
	}
	return nil
}
