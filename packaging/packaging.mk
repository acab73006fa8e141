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

# build/rpm: packages for Fedora, RHEL with EPEL and openSUSE
.PHONY: rpm
rpm:
	DYGRAPHS='$(DYGRAPHS)' DYGRAPHS_LICENCE='$(DYGRAPHS_LICENCE)' packaging/rpm.sh

# build/image: images of the static program for Kubernetes, for amd64 and arm64
.PHONY: image
image:
	packaging/image.sh
