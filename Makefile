# Walbridge. Bare `make` prints what it can do.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo test check bench e2e fuzz build agent kafka package vuln generate baseline tools clean

GO_VERSION  := 1.26
BUF_VERSION := 1.75.0
KAFKA       := 4.4.0
CACHE       := $(CURDIR)/.cache
BIN         := $(CACHE)/bin
JARS        := java-shim/agent/target/walbridge-agent.jar java-shim/verify/target/walbridge-verify.jar
export PATH := $(BIN):$(CACHE)/npm/node_modules/.bin:$(PATH)

# What CI runs brokers of: the oldest and the newest; WALBRIDGE_VERSIONS=all is every one that has a pom.
KAFKAS      := $(sort $(patsubst integration/kafka/%/pom.xml,%,$(wildcard integration/kafka/*/pom.xml)))
TESTED      := $(if $(filter all,$(WALBRIDGE_VERSIONS)),$(KAFKAS),$(firstword $(KAFKAS)) $(KAFKA))

# The scenarios that e2e knows by name.
SCENARIOS := $(shell sed -n 's/^\t{"\([a-z0-9-]*\)", .*/\1/p' integration/e2e/scenarios.go)
WITHOUT_BROKER := daemon hostile package

# Two heavy jobs at once is what a small machine carries.
GOTEST := go test -p 2

help: ## print this
	@echo "make <target>:"
	@sed -n 's/^\([a-z0-9]*\):.*## \(.*\)/  \1 \2/p' Makefile | awk '{n = $$1; $$1 = ""; printf "  %-9s%s\n", n, $$0}'
	@echo "Variables: ONLY=<name> for bench, e2e and fuzz; FUZZTIME=30s; ZONES=s3 or gcs for demo; KAFKA=4.0.2 for e2e;"
	@echo "  WALBRIDGE_VERSIONS=all for test: every supported Kafka, JDK and javaagent, not only the oldest and the newest."

demo: ## run a stock Kafka broker with Walbridge, lose a zone, and check every byte
	$(if $(filter-out s3 gcs,$(ZONES)),$(error ZONES=$(ZONES): must be s3 or gcs))
	@tools/need go java javac mvn
	@tools/stage build $(MAKE) --no-print-directory build
	@tools/stage agent $(MAKE) --no-print-directory agent
	@tools/stage kafka integration/kafka/install $(KAFKA)
	@$(if $(filter s3,$(ZONES)),tools/stage versitygw integration/versitygw/install)
	@go build -o bin/demo ./integration/demo
	@bin/demo $(if $(ZONES),-zones $(ZONES)) $(DEMO)

test: ## run every test: Go with -race, Java, end to end
	@tools/need go gcc java javac mvn npm curl dpkg-deb
	@tools/stage tools $(MAKE) --no-print-directory tools
	@tools/stage versitygw integration/versitygw/install
	@tools/stage s3mock integration/s3mock/install
	@tools/stage unit $(GOTEST) -race $$(go list ./... | grep -v /integration)
	@tools/stage java tools/mvn -ntp verify
	@tools/stage kafka $(MAKE) --no-print-directory kafka
	@tools/stage build $(MAKE) --no-print-directory build
	@tools/stage end-to-end go test -count=1 -timeout 30m -v ./integration/...

check: ## what must hold before a test runs: format, vet, lint, generated code, compatibility
	@tools/need go npm
	@tools/stage tools $(MAKE) --no-print-directory tools
	@tools/stage format bash -c 'out=$$(gofmt -l $$(git ls-files "*.go")) && [ -z "$$out" ] || { echo "not gofmt-ed: $$out"; exit 1; }'
	@tools/stage tidy go mod tidy -diff
	@tools/stage vet go vet ./...
	@tools/stage staticcheck staticcheck ./...
	@tools/stage buf bash -c 'buf lint && buf format -d --exit-code && buf breaking --against proto/baseline.json'
	@tools/stage generated tools/generated-fresh
	@tools/stage vuln tools/vuln

bench: ## measure against a baseline in the same run; ONLY=core, s3, gcs or broker
	@tools/need go
	@$(if $(filter-out broker,$(ONLY)),,$(MAKE) --no-print-directory agent kafka)
	@go build -o bin/bench ./bench
	@bin/bench $(if $(ONLY),-only $(ONLY))

e2e: ## run the end-to-end tests; ONLY=<scenario of integration/e2e> or a regular expression of test names
	@tools/need go $(if $(filter $(WITHOUT_BROKER),$(ONLY)),,java javac mvn)
	@$(if $(filter $(SCENARIOS),$(ONLY)),,tools/matches '$(ONLY)' $(SCENARIOS))
	@$(MAKE) --no-print-directory build $(if $(filter $(WITHOUT_BROKER),$(ONLY)),,agent kafka) $(if $(filter package,$(ONLY)),agent tools)
	@$(if $(filter stock-versions hook-proof,$(ONLY)),integration/kafka/install $(KAFKAS))
	@$(if $(filter $(SCENARIOS),$(ONLY)),KAFKA=$(KAFKA) go run ./integration/e2e -only '$(ONLY)', \
	  KAFKA=$(KAFKA) go test -count=1 -timeout 30m -v ./integration/... $(if $(ONLY),-run '$(ONLY)'))

fuzz: ## fuzz everything that parses, FUZZTIME each (default 30s); ONLY=<FuzzTarget>
	@tools/need go
	@tools/fuzz '$(or $(FUZZTIME),30s)' '$(ONLY)'

build: ## build the daemon into bin/
	@tools/need go
	@go build -o bin/walbridge ./cmd/walbridge

agent: $(JARS) ## build walbridge-agent.jar, without its tests

# Only where a source is newer: the tests' brokers run from these, and a document's test may run this meanwhile.
SOURCES := java-shim/pom.xml $(wildcard java-shim/*/pom.xml) $(shell find java-shim/*/src/main proto/walbridge -type f)
$(JARS) &: $(filter-out %.go,$(SOURCES))
	@tools/need java javac mvn
	@tools/mvn -q package -DskipTests
	@touch $(JARS)

kafka: ## fetch the stock brokers that the tests use
	@integration/kafka/install $(TESTED)

package: tools ## build deb, rpm and tar for amd64 and arm64 into dist/
	@$(MAKE) --no-print-directory agent
	@tools/package dist amd64 arm64

vuln: tools ## look for known vulnerabilities in what the daemon uses
	@tools/vuln

generate: tools ## generate the Go code of the .proto files
	@buf generate

baseline: tools ## accept the .proto files as the new baseline; takes an ADR
	@buf build --exclude-source-info -o proto/baseline.json

tools: $(BIN)/staticcheck $(CACHE)/npm/node_modules/.bin/buf ## build the pinned tools into .cache/

# Two builds at a time would be two of staticcheck's size; `tool` is every tool that tools/go.mod names.
$(BIN)/staticcheck: tools/go.mod tools/go.sum
	@tools/need go
	@mkdir -p $(BIN)
	@go build -C tools -o $(BIN) tool
	@touch $@

$(CACHE)/npm/node_modules/.bin/buf: Makefile
	@tools/need npm
	@npm install --silent --no-save --no-package-lock --prefix $(CACHE)/npm @bufbuild/buf@$(BUF_VERSION)
	@touch $@

clean: ## remove what was built, but not the caches
	@rm -rf bin dist java-shim/*/target
