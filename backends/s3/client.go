package s3

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

const (
	// maxConnections bounds the connections of a bucket, and idleConnections those that are kept: as many as a lane's
	// writes, a burst of reads and their hedges take together. Go would keep two.
	maxConnections  = 1024
	idleConnections = 256

	// idleTimeout lies below that of the servers, so that a request does not meet a connection that is being closed.
	idleTimeout = 15 * time.Second

	// The deadline of an attempt is the rule; these are for what has none.
	dialTimeout     = 2 * time.Second
	responseTimeout = 10 * time.Second

	// anyRegion is what a server other than Amazon's is told where nothing else is said.
	anyRegion = "us-east-1"

	defaultWarmConnections = 4
)

// newBucket loads the configuration, which needs no network for what a URL or the environment says, and starts what
// runs in the background.
func newBucket(ctx context.Context, o Options) (*Bucket, error) {
	o.WarmConnections = cmp.Or(o.WarmConnections, defaultWarmConnections)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if err := o.validate(); err != nil {
		return nil, err
	}
	cfg, err := loadConfig(ctx, o)
	if err != nil {
		return nil, err
	}
	b := &Bucket{options: o, config: cfg, http: newHTTPClient(cfg), clock: newClock()}
	_, b.express = zoneID(o.Bucket)
	b.base = newKeeper("credentials", fetchFrom(cfg.Credentials), o.Logger)
	b.credentials = b.base
	b.client = s3.NewFromConfig(cfg, b.clientOptions)
	if b.express {
		b.credentials = newKeeper("session of the directory bucket", b.createSession, o.Logger)
	}
	b.start()
	return b, nil
}

// start starts what runs in the background until Close.
func (b *Bucket) start() {
	ctx, cancel := context.WithCancel(context.Background())
	b.stop = cancel
	b.background.Go(func() { b.base.run(ctx) })
	if b.express {
		b.background.Go(func() { b.credentials.run(ctx) })
	}
	if b.options.WarmConnections > 0 {
		b.background.Go(func() { b.keepWarm(ctx) })
	}
}

func loadConfig(ctx context.Context, o Options) (aws.Config, error) {
	client := awshttp.NewBuildableClient().WithTransportOptions(tune).WithDialerOptions(func(d *net.Dialer) {
		d.Timeout = dialTimeout
	})
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(o.Region), config.WithSharedConfigProfile(o.Profile),
		config.WithHTTPClient(client))
	if err != nil {
		return aws.Config{}, err
	}
	if cfg.Region == "" && o.Endpoint != "" {
		cfg.Region = anyRegion
	}
	if cfg.Region == "" {
		return aws.Config{}, errors.New("no region: add ?region=… to the zone's URL, or set AWS_REGION")
	}
	if o.RoleARN != "" {
		cfg.Credentials = stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg), o.RoleARN,
			func(role *stscreds.AssumeRoleOptions) {
				role.RoleSessionName = "walbridge"
				if o.ExternalID != "" {
					role.ExternalID = &o.ExternalID
				}
			})
	}
	return cfg, nil
}

func tune(t *http.Transport) {
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true) // one request's loss must not hold up others on its connection
	t.MaxIdleConns = 0
	t.MaxIdleConnsPerHost = idleConnections
	t.MaxConnsPerHost = maxConnections
	t.IdleConnTimeout = idleTimeout
	t.TLSHandshakeTimeout = dialTimeout
	t.ResponseHeaderTimeout = responseTimeout
	t.DisableCompression = true
	t.WriteBufferSize = 64 << 10 // a frame in fewer system calls
	t.ReadBufferSize = 64 << 10
}

// newHTTPClient takes the transport out of the configuration, which may have added a CA bundle to it, so that Close can
// close its connections. Redirects are not followed: they say that the region is wrong.
func newHTTPClient(cfg aws.Config) *http.Client {
	return &http.Client{
		Transport:     cfg.HTTPClient.(*awshttp.BuildableClient).GetTransport(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (b *Bucket) clientOptions(o *s3.Options) {
	o.HTTPClient = b.http
	o.Credentials = b.base
	o.ExpressCredentials = (*sessionProvider)(b)
	o.HTTPSignerV4 = b.clock
	o.DisableClockSkewCorrection = true // the clock does it
	o.Retryer = aws.NopRetryer{}
	o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	o.ContinueHeaderThresholdBytes = -1 // Expect: 100-continue costs a round trip
	o.DisableLogOutputChecksumValidationSkipped = true
	if b.options.Endpoint != "" {
		o.BaseEndpoint = &b.options.Endpoint
		o.UsePathStyle = true
	}
}

// fetchFrom makes the chain's credentials a keeper's: its cache would return the old ones until they have all but
// expired.
func fetchFrom(p aws.CredentialsProvider) func(context.Context) (grant, error) {
	return func(ctx context.Context) (grant, error) {
		if cache, ok := p.(interface{ Invalidate() }); ok {
			cache.Invalidate()
		}
		c, err := p.Retrieve(ctx)
		if err != nil {
			return grant{}, err
		}
		g := grant{Credentials: c}
		if c.CanExpire {
			// By a clock that is wrong they may have expired already. Whether they have is the store's to say.
			g.lifetime = max(time.Until(c.Expires), time.Minute)
		}
		return g, nil
	}
}
