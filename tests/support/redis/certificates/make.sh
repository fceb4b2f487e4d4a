#!/bin/sh
# Makes the certificates anew, with OpenSSL 3: `sh make.sh`. They are valid for a hundred years, from before this was written, for
# the sake of machines whose clocks are wrong.
set -eu
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/ca.conf" <<END
[ca]
default_ca = tests
[tests]
database = $scratch/database
new_certs_dir = $scratch
rand_serial = yes
default_md = sha256
policy = anybody
[anybody]
commonName = supplied
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
[server]
basicConstraints = critical, CA:FALSE
subjectAltName = DNS:localhost, IP:127.0.0.1
END

# name, common name, and how it is signed
certificate() {
  : >"$scratch/database"
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -subj "/CN=$2" \
    -keyout "$scratch/$1.key" -out "$scratch/$1.csr"
  shift 2
  openssl ca -config "$scratch/ca.conf" -batch -notext -startdate 20200101000000Z -enddate 21200101000000Z "$@"
}
certificate ca 'Sluice tests' -selfsign -extensions authority \
  -keyfile "$scratch/ca.key" -in "$scratch/ca.csr" -out ca.crt
certificate wrong-ca 'Somebody else' -selfsign -extensions authority \
  -keyfile "$scratch/wrong-ca.key" -in "$scratch/wrong-ca.csr" -out wrong-ca.crt
certificate server localhost -cert ca.crt -extensions server \
  -keyfile "$scratch/ca.key" -in "$scratch/server.csr" -out server.crt
cp "$scratch/server.key" server.key
chmod 644 server.key
