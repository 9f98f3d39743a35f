# Tools are pinned and run straight from their modules: nothing to install.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOTESTSUM   := gotest.tools/gotestsum@v1.13.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
VERSION     := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS     := -s -w -X main.release=$(VERSION)
# The same source, Go and C compiler give the same bytes wherever they are built.
# What Git says is left out: it differs between a checkout and a tarball.
REPRODUCIBLE := -trimpath -buildvcs=false

.PHONY: build test lint fmt bench homes tokens-gigabyte tokens-npm fuzz crash

build: ## bin/fclog
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/fclog ./cmd/fclog

release: ## bin/fclog, the same bytes wherever it is built, with SBOM and licence texts
	go build $(REPRODUCIBLE) -ldflags '$(LDFLAGS)' -o bin/fclog ./cmd/fclog
	$(MAKE) sbom licences
	sha256sum bin/fclog bin/fclog.cdx.json bin/licences.txt

vuln: ## known vulnerabilities in what is called; needs the network for its database
	go run $(GOVULNCHECK) ./...

sbom: ## bin/fclog.cdx.json: what bin/fclog is made of, as CycloneDX
	go run ./internal/supply sbom bin/fclog bin/fclog.cdx.json

licences: ## docs/licences.md and bin/licences.txt, the licences of all modules
	mkdir -p bin
	go run ./internal/supply licences docs/licences.md bin/licences.txt

race: ## all tests under the race detector, one package after the other
	go test -race -short -p 1 -timeout 60m ./...

test: ## all tests; the last line counts passed, failed and skipped ones
	go run $(GOTESTSUM) --format pkgname -- -timeout 20m ./...

NOTEBOOK_PACKAGES := jupyter-nbconvert jupyter-client python3-ipykernel python3-pandas python3-matplotlib

install-notebooks: ## Debian's Jupyter, as root; nothing where it is there
	@test -x /usr/bin/jupyter && /usr/bin/python3 -c 'import nbconvert, ipykernel, pandas, matplotlib' 2>/dev/null || \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(NOTEBOOK_PACKAGES); }

test-notebooks: install-notebooks ## runs the notebooks
	FCLOG_NOTEBOOKS=1 go test -count=1 ./notebooks

notebooks: ## bin/notebooks/*.html, with all pictures
	FCLOG_NOTEBOOKS=1 FCLOG_NOTEBOOKS_OUT=$(CURDIR)/bin/notebooks go test -count=1 ./notebooks

SLURM_PACKAGES := slurmctld slurmd slurm-client munge

install-slurm: ## Debian's Slurm, as root; nothing where it is there
	@command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null || \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(SLURM_PACKAGES); }

test-fleet: ## the job array on a Slurm of its own, a node of which is killed; the Kubernetes manifest against its schema
	@$(MAKE) install-slurm || echo 'Slurm could not be installed: its test is skipped' >&2
	FCLOG_SLURM=1 FCLOG_KUBERNETES=1 go test -count=1 -v -timeout 10m ./fleet/...

VERSITYGW := github.com/versity/versitygw/cmd/versitygw@v1.8.0

install-s3: ## an S3 server below bin, built in a minute, and Debian's rclone, as root; nothing where they are there
	@test -x bin/versitygw || GOBIN=$(CURDIR)/bin go install $(VERSITYGW)
	@command -v rclone >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends rclone; }

test-s3: install-s3 install-clickhouse ## datasets in an S3 server on loopback: pushed, pulled, merged, asked with ClickHouse
	FCLOG_S3=1 go test -count=1 -v ./fleet/objectstore

install-clickhouse: ## ClickHouse 26.7 in npm's chdb, below bin: 180 MB to load, 540 MB on disk, under 20 seconds; nothing where it is there
	@test -e bin/chdb/node_modules/chdb || npm install --silent --no-audit --no-fund --ignore-scripts --prefix bin/chdb chdb@3.4.0

test-clickhouse: install-clickhouse ## every shipped question on ClickHouse, row by row against DuckDB
	go test -count=1 -run ClickHouse ./analyze ./cmd/fclog

man: build ## bin/man/*.1
	bin/fclog __man bin/man

lint: ## formatting, vet, staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'run: make fmt'; exit 1; }
	go vet ./...
	go run $(STATICCHECK) ./...

fmt:
	gofmt -w .

bench: ## Go benchmarks of every stage: read, decode, count, write, questions, replay; docs/performance.md
	go test -run '^$$' -bench . -benchmem ./...

HOMES := bin/homes

homes: ## invented log folders of 280 MB in bin/homes, for measuring
	rm -rf $(HOMES)
	go run ./internal/homes/make -agent claude-code -bytes 280M $(HOMES)/claude-code
	go run ./internal/homes/make -agent codex -bytes 275M $(HOMES)/codex
	go run ./internal/homes/make -agent freecode -bytes 100M $(HOMES)/freecode

tokens-gigabyte: ## the token counter against tiktoken-go on 1 GB of text: half an hour
	FCLOG_TOKENS_MB=1000 go test -v -timeout 3h -run OnGeneratedText ./internal/tokens

tokens-npm: ## the token counter against npm's tiktoken, which is installed below bin
	npm install --silent --prefix bin/tiktoken tiktoken@1.0.22
	FCLOG_TIKTOKEN=$(CURDIR)/bin/tiktoken go test -count=1 -v -run NpmTiktoken ./internal/tokens

KILLS ?= 1000
crash: ## imports killed KILLS times, the table of docs/reliability.md
	FCLOG_KILLS=$(KILLS) go test ./cmd/fclog -run '^TestCrash$$' -count 1 -v -timeout 6h

FUZZTIME ?= 1m

fuzz: ## every fuzz test for FUZZTIME; the result goes into docs/fuzzing.md
	go run ./internal/fuzzing -time $(FUZZTIME) -page docs/fuzzing.md
