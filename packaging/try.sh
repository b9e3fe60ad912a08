#!/bin/sh
# Installs the Debian package in the root it is started in, hunts a bug there, and bundles the finding.
# `cargo xtask dist --clean-root` runs it in a root with nothing but apt; `install.sh` has the commands of the container file.
set -eu
cd /root
export DEBIAN_FRONTEND=noninteractive
sh /tmp/install.sh
racehunter doctor

code=0
racehunter hunt --quiet --stop-on-first --message-format short /tmp/bug.c >said || code=$?
cat said
[ "$code" = 1 ] || { echo "the hunt exits with $code instead of 1" >&2; exit 1; }

# A short message ends with the id in brackets.
id=$(sed -n 's/.*\[\([0-9a-f]*\)\]$/\1/p' said | head -n 1)
racehunter bundle "$id" --output /tmp/bug.rhbundle
