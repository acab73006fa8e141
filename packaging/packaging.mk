# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Installation and releases; included by the Makefile.

DOCDIR	?= $(PREFIX)/share/doc/t410trace
# There may be blanks in names of folders
INSTALL	= PROGRAM=$(PROGRAM) GPU=$(GPU) LICENCE='$(DYGRAPHS_LICENCE)' DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' \
	SYSCONFDIR='$(SYSCONFDIR)' DOCDIR='$(DOCDIR)' packaging/install.sh

.PHONY: install uninstall
install: $(PROGRAM) $(GPU)
	$(INSTALL) install

uninstall:
	$(INSTALL) uninstall

# build/dist/t410trace-VERSION.tar.gz, the same to the byte wherever and whenever it is made of a commit
.PHONY: dist
dist:
	packaging/dist.sh

# build/deb: packages for Debian, built in a copy of the tree
.PHONY: deb
deb:
	packaging/deb.sh
