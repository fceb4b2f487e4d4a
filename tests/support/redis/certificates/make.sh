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

# name, common name
request() {
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -subj "/CN=$2" \
    -keyout "$scratch/$1.key" -out "$scratch/$1.csr"
}
# of what request, the file to write, and by whom it is signed
sign() {
  : >"$scratch/database"
  openssl ca -config "$scratch/ca.conf" -batch -notext -startdate 20200101000000Z -enddate 21200101000000Z \
    -in "$scratch/$1.csr" -out "$2" $3 -keyfile "$scratch/$4.key" -extensions "$5"
}
request ca 'Sluice tests'
request wrong-ca 'Somebody else'
request server localhost
sign ca ca.crt -selfsign ca authority
sign wrong-ca wrong-ca.crt -selfsign wrong-ca authority
sign server server.crt '-cert ca.crt' ca server
sign server wrong-server.crt '-cert wrong-ca.crt' wrong-ca server
cp "$scratch/server.key" server.key
chmod 644 server.key
