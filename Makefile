.DEFAULT_GOAL := help
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

help: ## Show this help.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

run: ## Run the server on this computer.
	go run ./cmd/gatehouse serve

build: ## Build a static binary into bin/.
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/gatehouse ./cmd/gatehouse

test: ## Run the tests that this computer can run.
	go test ./...

test-all: ## Run every test with the race detector; a skip is a failure.
	GATEHOUSE_TEST_ALL=1 go test -race ./...

generate: ## Generate the Go code of the templates.
	go tool templ generate -path ./templates

verify: ## Fail where generate would change a file.
	go tool templ generate -path ./templates && git diff --exit-code -- templates

fmt: ## Format all Go files.
	gofmt -w $$(git ls-files '*.go')

lint: ## Vet and lint.
	go vet ./... && golangci-lint run

clients: ## Install the real MCP clients and AI apps that the end-to-end tests drive (1.5 GB).
	npm --prefix test/clients ci --ignore-scripts
	npm --prefix test/apps ci --ignore-scripts

fuzz: ## Run every fuzz target for FUZZTIME each (1m).
	test/fuzz/run.sh $(or $(FUZZTIME),1m)

bench: ## Measure against a bare MCP SDK server, interleaved.
	go run ./bench

docker: ## Build the container image.
	docker build --build-arg VERSION=$(VERSION) -t gatehouse:$(VERSION) .

.PHONY: help run build test test-all generate verify fmt lint clients fuzz bench docker
