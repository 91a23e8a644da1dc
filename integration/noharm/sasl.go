package noharm

import (
	"context"
	"path/filepath"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/walbridge/walbridge/integration/daemon"
	"github.com/walbridge/walbridge/integration/kafka"
	"github.com/walbridge/walbridge/integration/upload"
)

// SASL shows that a broker whose only listener wants a password uploads with no setting for that: the agent is no
// client of the broker.
func SASL(ctx context.Context, dir, version string) error {
	const user, password = "alice", "wonderland"
	agent, err := upload.Option()
	if err != nil {
		return err
	}
	login := kgo.SASL(plain.Auth{User: user, Pass: password}.AsMechanism())
	cluster, err := kafka.New(ctx, kafka.Config{
		Dir: filepath.Join(dir, "kafka"), Version: version, Heap: "384m", Options: []string{agent},
		Protocol: "SASL_PLAINTEXT", Client: []kgo.Opt{login},
	})
	if err != nil {
		return err
	}
	defer cluster.Close()
	d, err := daemon.New(ctx, daemon.Config{Dir: dir, ClusterID: cluster.ID, BrokerID: cluster.Brokers[0].ID})
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Start(ctx); err != nil {
		return err
	}
	properties := upload.Settings(d.Target(), single)
	properties["sasl.enabled.mechanisms"] = "PLAIN"
	properties["sasl.mechanism.inter.broker.protocol"] = "PLAIN"
	properties["listener.name.sasl_plaintext.plain.sasl.jaas.config"] =
		`org.apache.kafka.common.security.plain.PlainLoginModule required ` +
			`username="` + user + `" password="` + password + `" user_` + user + `="` + password + `";`
	cluster.Brokers[0].Properties = properties
	if err := cluster.Start(ctx); err != nil {
		return err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.Addresses()...), login, kgo.DefaultProduceTopic(single))
	if err != nil {
		return err
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	if _, err := admin.CreateTopic(ctx, partitions, 1, nil, single); err != nil {
		return err
	}
	for range 100 {
		if err := client.ProduceSync(ctx, kgo.StringRecord("behind a password")).FirstErr(); err != nil {
			return err
		}
	}
	if err := upload.AwaitEnd(ctx, d, admin, of(single), nil); err != nil {
		return err
	}
	_, err = upload.Verify(ctx, dir, cluster, cluster.Brokers[0], d, []string{single})
	return err
}
