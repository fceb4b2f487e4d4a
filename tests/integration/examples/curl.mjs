// The parts of curl that the READMEs of the examples use, for machines without curl. Fails on other options.
import { request } from 'node:http';

const args = process.argv.slice(2);
const headers = {};
const data = [];
let url;
let method;
let head = false;
const known = {
  '-s': () => {},
  '-si': () => {
    head = true;
  },
  '-X': () => {
    method = args.shift();
  },
  '-H': () => {
    const [, name, value] = /^([^:]+): *(.*)$/.exec(args.shift());
    headers[name] = value;
  },
  '-d': () => data.push(args.shift()),
  '--data-urlencode': () => {
    const [, name, value] = /^([^=]+)=(.*)$/.exec(args.shift());
    data.push(`${name}=${encodeURIComponent(value)}`);
  },
};
while (args.length > 0) {
  const arg = args.shift();
  if (arg.startsWith('http://')) url = arg;
  else if (arg in known) known[arg]();
  else throw new Error(`curl.mjs does not know ${arg}`);
}
const body = data.join('&');
if (body !== '') {
  headers['Content-Length'] = Buffer.byteLength(body);
  headers['Content-Type'] ??= 'application/x-www-form-urlencoded';
}
request(url, { method: method ?? (body === '' ? 'GET' : 'POST'), headers }, (response) => {
  if (head) {
    const { rawHeaders, statusCode, statusMessage } = response;
    console.log(`HTTP/1.1 ${statusCode} ${statusMessage}`);
    for (let i = 0; i < rawHeaders.length; i += 2) console.log(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
    console.log();
  }
  response.pipe(process.stdout);
}).end(body);
