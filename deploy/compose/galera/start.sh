#!/bin/sh
# Starts a node as its image does. Only once, at its very first start, does the first node found the
# cluster; later it looks for the others, as they do.
set -eu
if [ "${LOCKMARK_FOUNDS:-no}" = yes ] && [ ! -e /var/lib/mysql/grastate.dat ]; then
  set -- "$@" --wsrep-new-cluster
fi
exec docker-entrypoint.sh "$@"
