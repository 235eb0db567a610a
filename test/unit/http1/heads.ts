// Requests made by chance from a seed: usual ones, changed where parsers disagree.

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const methods = ['GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const otherMethods = ['get', 'TRACE', 'CONNECT', 'QUERY', 'PRI', 'SOURCE', 'GETT', 'POST ', ''];
const targets = [
  '/',
  '/v1/things',
  '/v1/things/a%20b?x=1&y=[2]',
  '//host/path',
  '/a;b=c?d#e',
  '/%',
  '/?',
  '/a?b?c',
  '/~_.!$&',
];
const otherTargets = ['*', 'http://a/b', 'a', '', '/a b', '/\x7f', '/\xe4', '/"', '/\t', '/a\0', '?x'];
const versions = [
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.0',
  'HTTP/2.0',
  'http/1.1',
  'HTTP/1.1 ',
  'HTTP/01.1',
];
const ends = ['\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r\r\n', '\r\n '];
const usualLines = [
  'Host: a',
  'host:api.test:8080',
  'Authorization: Bearer x',
  'Accept: */*',
  'Accept-Encoding: gzip, br',
  'User-Agent:  a \t',
  'Content-Type: application/json',
  'Connection: keep-alive',
  'Connection: close',
  'CONNECTION:Close',
  'Keep-Alive: timeout=5',
  'X-Empty:',
  'X-Spaces: \t \t',
  'X-High: \xe4\xf6\xff',
  'Cookie: a=b',
  'Range: bytes=0-1',
  'Trailer: X-A',
  'TE: trailers',
  "!#$%&'*+-.^_`|~: a",
  '0: 1',
  `X-Long: ${'a'.repeat(300)}`,
];
const otherLines = [
  'Host: a\r\nHost: b',
  'Connection: keep-alive, close',
  'Connection: upgrade',
  'Connection: close\r\nConnection: keep-alive',
  'Connection:',
  'Connection: keep-alive,',
  'Proxy-Connection: close',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: identity',
  'Transfer-Encoding:',
  'transfer-encoding : chunked',
  'Expect: 100-continue',
  'Upgrade: websocket\r\nConnection: upgrade',
  'Upgrade: h2c',
  'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
  ' X: folded',
  '\tX: folded',
  'X: a\r\n b',
  'X : a',
  'X\t: a',
  ': a',
  'X',
  '',
  'X: a\0b',
  'X: a\x01b',
  'X: a\x7fb',
  'X: a\rb',
  'X: a\nb',
  'X\xe4: a',
  'X(: a',
  'X@y: a',
  'X: a\x0b',
  'X: a\x85',
  'Content-Length: 1\r\nContent-Length: 1',
  'Content-Length: 1\r\nTransfer-Encoding: chunked',
];
const lengths = [
  '0',
  '1',
  '5',
  '12',
  '17',
  '05',
  '+5',
  '-1',
  '5 ',
  ' 5',
  '\t5\t',
  '5, 5',
  '5;',
  '0x5',
  '1e1',
  '',
  '99999999999999999999',
  '999999999999999',
  '4294967296',
  '5\x0b',
];
const strays = [
  '',
  '\r',
  '\n',
  ' ',
  '\t',
  ':',
  ';',
  ',',
  '0',
  'f',
  '\0',
  '\x0b',
  '\x85',
  '\xa0',
  '\xff',
  '\x7f',
  '"',
  '\r\n',
  '\r\n\r\n',
  '\n\n',
  '%',
  '/',
  '?',
  '#',
];
const bodies = [
  '',
  '',
  '{}',
  '{"name":"a"}',
  'hello',
  'a'.repeat(17),
  '0\r\n\r\n',
  '5\r\nhello\r\n0\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: b\r\n\r\n',
];

/** Bytes as Latin-1 text that are a request, nearly one, or a few. */
export function makeRequest(random: () => number): string {
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  const seldom = (odds: number) => random() < odds;
  const isOdd = seldom(0.6);
  const odd = (odds: number) => isOdd && seldom(odds);
  const body = pick(bodies);
  const lines = seldom(0.97) ? ['Host: api.test'] : [];
  for (let count = Math.floor(random() * 5); count > 0; count -= 1)
    lines.push(pick(odd(0.25) ? otherLines : usualLines));
  if (body !== '' || seldom(0.2)) lines.push(`Content-Length: ${odd(0.3) ? pick(lengths) : body.length}`);
  if (odd(0.02)) for (let count = 0; count < 120; count += 1) lines.push(`X-${count}: a`);
  lines.sort(() => random() - 0.5);
  const end = () => (odd(0.05) ? pick(ends) : '\r\n');
  const target = pick(odd(0.1) ? otherTargets : targets);
  const before = odd(0.03) ? pick(strays) : '';
  const method = pick(odd(0.05) ? otherMethods : methods);
  const version = odd(0.2) ? pick(versions) : 'HTTP/1.1';
  let text = `${before}${method} ${target} ${version}${end()}`;
  for (const line of lines) text += `${line}${end()}`;
  text += `${end()}${body}`;
  while (odd(0.4)) {
    const at = Math.floor(random() * text.length);
    text = text.slice(0, at) + pick(strays) + text.slice(at + Math.floor(random() * 3));
  }
  if (odd(0.1)) text = text.slice(0, Math.floor(random() * text.length));
  if (seldom(0.03)) text += pick(bodies);
  return text;
}
