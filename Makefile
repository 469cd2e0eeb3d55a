# steward: run · test · build · bench · install. `make run` and `make test` set up all they need.

SHELL     := /bin/bash
PREFIX    ?= /usr/local
DESTDIR   ?=
CONFIG    ?= config.yaml
SHARE      = $(PREFIX)/share
RELEASE    = swift build -c release --static-swift-stdlib
BINARY     = .build/release/steward

.PHONY: help run test released build bench fuzz endurance install packages test-packages synapse sendbird-clients lint format check clean

help:
	@echo 'make run      build steward and start it with config.yaml: the built-in chat server and one bot'
	@echo 'make test     lint, build, all tests, the release program, the thread sanitizer, and the tests of bots/'
	@echo 'make released  the release program in a story on sockets, and the tests that start steward'
	@echo 'make build    the release program, .build/release/steward'
	@echo 'make bench    speed and memory, beside a stated peer'
	@echo 'make fuzz     feeds the readers made-up bytes, SECONDS=60 for each of them'
	@echo 'make endurance  ten minutes of chat with short tokens, then with cuts, restarts and kills; then 200 members'
	@echo '              whose moderation must hold, and a raid of 10,000 messages'
	@echo 'make install  the program, manual and completions into PREFIX ($(PREFIX)), its unit, and a first /etc/steward'
	@echo '              (DESTDIR for packagers)'

run: build
	$(BINARY) run --config $(CONFIG)

build: packages
	$(RELEASE) --product steward

# Runs tests; what failed among them stands at the end once more.
define tests
	@set -o pipefail; { $(1); } 2>&1 | tee .build/tests.log \
	    || { echo; echo 'What failed:'; grep -aE '✘|error:|Sanitizer' -A 2 .build/tests.log | cut -c1-300 | tail -24; exit 1; }
endef

# One test after the other: many of them are about time, and a busy machine would make them lie.
test: test-packages lint synapse sendbird-clients
	swift build --build-tests
	$(call tests,swift test --skip-build --no-parallel)
	$(MAKE) released
	swift build --build-tests --sanitize=thread --scratch-path .build/tsan
	$(call tests,TSAN_OPTIONS=halt_on_error=1 \
	    swift test --skip-build --no-parallel --sanitize=thread --scratch-path .build/tsan)
	$(MAKE) check

# What runs well as it is debugged may crash as it is released: the compiler leaves out what it takes for needless. So the
# release program plays a story, too, and is what the tests start that start steward.
released: build
	python3 Tests/Endurance/story.py
	swift build --build-tests
	$(call tests,STEWARD_PROGRAM=$(CURDIR)/$(BINARY) swift test --skip-build --no-parallel --filter '$(STARTING)')

# Suites that start steward.
STARTING = StewardTests.(ARunningSteward|BotsOnSendbird|CaseCommands|CommandsWithoutSecrets|DamagedStoreCommands|$\
           FullChatServers|KilledChatServers|OnAMatrixHomeserver|PunishmentsOnTheBuiltInServer|RightsOfAccounts|RuleCommands|$\
           UndoOnTheBuiltInServer)/

check:
	.build/debug/steward check --config config.yaml
	.build/debug/steward test --config config.yaml

lint:
	swift format lint --strict --parallel --recursive Package.swift Sources Tests

format:
	swift format format --in-place --parallel --recursive Package.swift Sources Tests

bench: packages
	swift build -c release --static-swift-stdlib --product steward
	swift build -c release --static-swift-stdlib --product Bench
	.build/release/Bench

# What is in /etc/steward already stays as it is.
install: build
	install -D -s -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/steward
	install -D -m 644 systemd/steward.1 $(DESTDIR)$(SHARE)/man/man1/steward.1
	install -d $(addprefix $(DESTDIR)$(SHARE)/,bash-completion/completions zsh/site-functions fish/vendor_completions.d)
	$(BINARY) completion bash > $(DESTDIR)$(SHARE)/bash-completion/completions/steward
	$(BINARY) completion zsh > $(DESTDIR)$(SHARE)/zsh/site-functions/_steward
	$(BINARY) completion fish > $(DESTDIR)$(SHARE)/fish/vendor_completions.d/steward.fish
	install -d $(DESTDIR)/etc/steward
	@if [ -e $(DESTDIR)/etc/steward/config.yaml ]; then echo '/etc/steward/config.yaml stays as it is'; \
	    else install -m 644 systemd/config.yaml $(DESTDIR)/etc/steward/config.yaml; fi
	@if [ -e $(DESTDIR)/etc/steward/bots ]; then echo '/etc/steward/bots stays as it is'; \
	    else cp -R bots $(DESTDIR)/etc/steward/bots && chmod -R u=rwX,go=rX $(DESTDIR)/etc/steward/bots; fi
	install -d $(DESTDIR)/lib/systemd/system $(DESTDIR)/usr/lib/sysusers.d $(DESTDIR)/usr/lib/tmpfiles.d
	sed 's|@PREFIX@|$(PREFIX)|' systemd/steward.service > $(DESTDIR)/lib/systemd/system/steward.service
	install -m 644 systemd/steward.sysusers $(DESTDIR)/usr/lib/sysusers.d/steward.conf
	install -m 644 systemd/steward.tmpfiles $(DESTDIR)/usr/lib/tmpfiles.d/steward.conf

# Made-up files, templates and texts for SECONDS each, led by what they reach in the program (libFuzzer); what breaks
# it is kept as .build/fuzz/found-*.
SECONDS ?= 60
fuzz: packages
	Tests/Fuzz/run $(SECONDS)

packages:
	@systemd/packages

test-packages:
	@systemd/packages tests

# A Matrix homeserver for the tests, into .build/synapse; where it cannot be installed, they do without.
synapse:
	@Tests/Support/Synapse/start-synapse install .build/synapse \
	    || echo 'Synapse is not installed (see above): the tests against a real Matrix homeserver are skipped'

# Clients of Sendbird's protocols that others wrote, into .build/sendbird-clients; where they cannot be installed, the tests
# do without.
sendbird-clients:
	@Tests/Support/SendbirdClients/install .build/sendbird-clients \
	    || echo "others' clients are not installed (see above): the tests with them are skipped"

clean:
	rm -rf .build

# Chats with a running steward for a while as things go wrong: tokens that live 30 s, then cuts, restarts and kills; then
# what moderation promises, in real time.
endurance: build synapse
	python3 Tests/Endurance/endurance.py refresh
	python3 Tests/Endurance/endurance.py storm
	python3 Tests/Endurance/endurance.py storm --service sendbird
	python3 Tests/Endurance/moderation.py crowd
	python3 Tests/Endurance/moderation.py raid
	python3 Tests/Endurance/moderation.py raid --usual-ceilings
	python3 Tests/Endurance/moderation.py muted
	python3 Tests/Endurance/moderation.py kills
	for what in tokens storm away crowd bots; do python3 Tests/Endurance/matrix.py $$what || exit 1; done
