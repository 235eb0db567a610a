// The head of an answer: accepted forms, and forms refused because two readers could understand them differently.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AnswerHead, parseAnswerHead } from '../../../../gateway/http1/client/answer-head.ts';

const OK = 'HTTP/1.1 200 OK';

function parse(lines: readonly string[], method = 'GET'): AnswerHead {
  return parseAnswerHead(`${lines.join('\r\n')}\r\n`, method);
}

function isRefused(text: string): void {
  assert.throws(
    () => parseAnswerHead(text, 'GET'),
    { name: 'WireFault', code: 'WIRE_MALFORMED' },
    JSON.stringify(text),
  );
}

describe('a status line', () => {
  it('is understood with a reason, with an empty one, and without', () => {
    for (const line of ['HTTP/1.1 404 Not Found', 'HTTP/1.1 404 ', 'HTTP/1.1 404', 'HTTP/1.0 404 \xe9t\xe9\t.'])
      assert.equal(parse([line]).status, 404);
    assert.equal(parse(['HTTP/1.1 999 Odd']).status, 999);
  });

  it('is refused if its version is not HTTP/1.0 or HTTP/1.1', () => {
    const lines = [
      ...['http/1.1 200 OK', 'HTTP/2.0 200 OK', 'HTTP/2 200', 'HTTP/1.2 200 OK', 'HTTP/0.9 200 OK', 'HTTP/1.10 200 OK'],
      ...['HTTP/1 200 OK', 'HTTP/1,1 200 OK', 'ICY 200 OK', ' HTTP/1.1 200 OK', '\r\nHTTP/1.1 200 OK', '', '200 OK'],
      ...['HTTP/1.1  200 OK', 'HTTP/1.1\t200 OK', 'HTTP/1.1 20 OK', 'HTTP/1.1 2000 OK', 'HTTP/1.1 099 OK'],
      ...['HTTP/1.1 2x0 OK', 'HTTP/1.1 -20 OK', 'HTTP/1.1 200OK', 'HTTP/1.1 200\tOK', 'HTTP/1.1', 'HTTP/1.1 '],
      ...[
        'HTTP/1.1 200 O\0K',
        'HTTP/1.1 200 O\rK',
        'HTTP/1.1 200 O\nK',
        'HTTP/1.1 200 O\x7fK',
        'HTTP/1.1 200 O\u0100K',
      ],
    ];
    for (const line of lines) isRefused(`${line}\r\n`);
  });

  it('is refused without its line end', () => {
    for (const text of ['', OK, `${OK}\n`, `${OK}\r`, `${OK}\r\n\n`, `${OK}\r\n\r\n`]) isRefused(text);
  });
});

describe('field lines', () => {
  it('have lower-case names, and values without the spaces and tabs around them', () => {
    const { headers } = parse([
      OK,
      'Content-Type:\t text/plain; charset="a b" \t',
      'X-Empty:',
      'X-Blank: \t ',
      'x:y:z',
    ]);
    assert.deepEqual(
      { ...headers },
      { 'content-type': 'text/plain; charset="a b"', 'x-empty': '', 'x-blank': '', x: 'y:z' },
    );
  });

  it('may be none', () => {
    assert.deepEqual({ ...parse([OK]).headers }, {});
  });

  it('have every character in their name that a token may have', () => {
    const name = "!#$%&'*+-.^_`|~09AZaz";
    assert.equal(parse([OK, `${name}: v`]).headers[name.toLowerCase()], 'v');
  });

  it('that came several times make a list, in their order', () => {
    const { headers } = parse([OK, 'Vary: a', 'vary: b', 'Link: one', 'VARY: c, d', 'vary:']);
    assert.deepEqual({ ...headers }, { vary: ['a', 'b', 'c, d', ''], link: 'one' });
  });

  it('keep every byte of their value above ASCII', () => {
    const bytes = Array.from({ length: 128 }, (_, i) => String.fromCharCode(i + 128)).join('');
    assert.equal(parse([OK, `x: ${bytes}.`]).headers.x, `${bytes}.`);
  });

  it('keep such a byte at either end, too, also where Unicode calls it a space', () => {
    // `à` in UTF-8 ends with it.
    const value = Buffer.from('\xa0voil\u00e0').toString('latin1');
    assert.equal(parse([OK, `x: ${value} `]).headers.x, value);
    assert.equal(parse([OK, 'x:\xa0']).headers.x, '\xa0');
  });

  it('may have names that objects inherit', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'];
    const { headers } = parse([OK, ...names.map((name) => `${name}: v`)]);
    for (const name of names) assert.equal(headers[name.toLowerCase()], 'v', name);
    assert.deepEqual(
      Object.keys(headers),
      names.map((name) => name.toLowerCase()),
    );
    assert.equal(({} as Record<string, unknown>).v, undefined);
  });

  it('have no value by a name that did not come', () => {
    const { headers } = parse([OK, 'x: y']);
    for (const name of ['__proto__', 'constructor', 'toString', 'hasownproperty', 'status'])
      assert.equal(headers[name], undefined, name);
  });

  it('are refused where two readers could differ', () => {
    const lines = [
      ...[
        'name : v',
        ' name: v',
        '\tname: v',
        'na me: v',
        'name\t: v',
        ': v',
        ':',
        'name',
        'n\xe9: v',
        'n(: v',
        'n": v',
      ],
      ...['a: 1\n b: 2', 'a: 1\nb: 2', 'a: 1\rb: 2', 'a: 1\r', 'a: \0', 'a: b\x01c', 'a: \x7f', 'a: \x1b[0m', 'a\0: b'],
      ...['a: 1\r\n folded', 'a: 1\r\n\tfolded', 'a: 1\r\n ', 'a: 1\r\n\r\nb: 2', 'a: \u0100', 'HTTP/1.1 200 OK'],
    ];
    for (const line of lines) {
      isRefused(`${OK}\r\n${line}\r\n`);
      isRefused(`${OK}\r\nfirst: 1\r\n${line}\r\nlast: 2\r\n`);
    }
  });

  it('are refused when the last one is not whole', () => {
    for (const end of ['a: 1', 'a: 1\n', 'a: 1\r', 'a', 'a:']) isRefused(`${OK}\r\n${end}`);
  });

  it('are refused within a time that grows with their length alone', () => {
    isRefused(`${OK}\r\n${'a'.repeat(16_000)}\r\n`);
    isRefused(`${OK}\r\n${'a:b\r\n'.repeat(3200)}\n`);
    isRefused(`${OK}\r\na:${' '.repeat(16_000)}\0\r\n`);
  });
});

describe('how a body ends', () => {
  const framing = (lines: readonly string[], method = 'GET') => parse(lines, method).framing;

  it('is framed by its length', () => {
    assert.equal(framing([OK, 'Content-Length: 0']), 0);
    assert.equal(framing([OK, 'Content-Length:  42 ']), 42);
    assert.equal(framing([OK, 'Content-Length: \t 5\t ']), 5);
    assert.equal(framing([OK, 'Content-Length: 0042']), 42);
    assert.equal(framing([OK, 'Content-Length: 999999999999999']), 999_999_999_999_999);
  });

  it('is framed by its chunks, in any spelling', () => {
    assert.equal(framing([OK, 'Transfer-Encoding: chunked']), 'chunked');
    assert.equal(framing([OK, 'TRANSFER-ENCODING: Chunked\t']), 'chunked');
  });

  it('is the end of the connection if no length is announced', () => {
    assert.equal(framing([OK]), 'close');
    assert.equal(framing(['HTTP/1.0 200 OK', 'Content-Type: text/plain']), 'close');
  });

  it('is not known with two lengths, even with equal ones', () => {
    for (const lines of [['5', '5'], ['5', '6'], ['5, 5'], ['5,6'], ['', '5']])
      isRefused([OK, ...lines.map((value) => `Content-Length: ${value}`), ''].join('\r\n'));
  });

  it('is not known with a length that is not just digits', () => {
    const values = ['', '-1', '+5', '5.0', '0x5', '1e3', '5 5', '5;', 'five', '\xa05', '5\xa0', '\xb2', '1'.repeat(16)];
    for (const value of values) isRefused(`${OK}\r\nContent-Length: ${value}\r\n`);
  });

  it('is not known with both a length and chunks', () => {
    isRefused(`${OK}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n`);
    isRefused(`${OK}\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n`);
  });

  it('is not known with another transfer coding than chunked', () => {
    const values = [
      'gzip',
      'gzip, chunked',
      'chunked, gzip',
      'chunked, chunked',
      'identity',
      '',
      'xchunked',
      'chunked;a',
    ];
    for (const value of [...values, '"chunked"', 'chunked,', '\xa0chunked', 'chunked\xa0'])
      isRefused(`${OK}\r\nTransfer-Encoding: ${value}\r\n`);
    isRefused(`${OK}\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n`);
    isRefused(`${OK}\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n`);
  });

  it('is not known with chunks in HTTP/1.0', () => {
    isRefused('HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n');
  });

  it('is at once if there is no body', () => {
    const framings = [[], ['Content-Length: 5'], ['Transfer-Encoding: chunked']];
    for (const lines of framings) {
      assert.equal(framing([OK, ...lines], 'HEAD'), 0);
      for (const status of [100, 103, 204, 304]) assert.equal(framing([`HTTP/1.1 ${status} x`, ...lines]), 0);
    }
    assert.equal(framing(['HTTP/1.1 205 Reset', 'Content-Length: 5']), 5);
    assert.equal(framing([OK, 'Content-Length: 5'], 'head'), 5);
  });

  it('may be followed by the bytes that a 204 announces, so that its connection is not used again', () => {
    const isPersistent = (...lines: string[]) => parse(['HTTP/1.1 204 No Content', ...lines], 'GET').isPersistent;
    assert.deepEqual([isPersistent(), isPersistent('Content-Length: 0')], [true, true]);
    assert.deepEqual([isPersistent('Content-Length: 5'), isPersistent('Transfer-Encoding: chunked')], [false, false]);
  });

  it('is not known by a bad length either where there is no body', () => {
    for (const line of ['Content-Length: x', 'Transfer-Encoding: gzip'])
      assert.throws(() => parse([OK, line], 'HEAD'), { code: 'WIRE_MALFORMED' });
  });
});

describe('a connection', () => {
  const persists = (lines: readonly string[], method = 'GET') =>
    parse([...lines, 'Content-Length: 0'], method).isPersistent;
  const OLD = 'HTTP/1.0 200 OK';

  it('may carry another request in HTTP/1.1 without Connection: close', () => {
    assert.ok(persists([OK]));
    assert.ok(persists([OK, 'Connection: keep-alive']));
    assert.ok(persists([OK, 'Connection: closed, x-close, "close"']));
    for (const value of ['close', 'Close', 'keep-alive, close', 'x,CLOSE ,y', 'close,'])
      assert.ok(!persists([OK, `Connection: ${value}`]), value);
    assert.ok(!persists([OK, 'Connection: keep-alive', 'Connection: close']));
  });

  it('may carry another request in HTTP/1.0 only with keep-alive', () => {
    assert.ok(!persists([OLD]));
    assert.ok(!persists([OLD, 'Connection: upgrade']));
    assert.ok(persists([OLD, 'Connection: Keep-Alive']));
    assert.ok(persists([OLD, 'Connection: x', 'Connection: keep-alive']));
    assert.ok(!persists([OLD, 'Connection: keep-alive, close']));
  });

  it('may not carry another request when it ends the body', () => {
    assert.ok(!parse([OK]).isPersistent);
    assert.ok(!parse([OLD, 'Connection: keep-alive']).isPersistent);
  });

  it('may carry another request after an answer that has no body and no length', () => {
    assert.ok(parse([OK], 'HEAD').isPersistent);
    assert.ok(parse(['HTTP/1.1 204 No Content']).isPersistent);
    assert.ok(parse(['HTTP/1.1 304 Not Modified']).isPersistent);
  });
});

describe('for how long an idle connection is kept', () => {
  const seconds = (...lines: string[]) => parse([OK, ...lines.map((value) => `Keep-Alive: ${value}`)]).idleSeconds;

  it('is announced by the other side', () => {
    assert.equal(seconds('timeout=5'), 5);
    assert.equal(seconds('timeout=5, max=100'), 5);
    assert.equal(seconds('max=100,TIMEOUT=600'), 600);
    assert.equal(seconds('timeout=0'), 0);
  });

  it('is not known from anything else', () => {
    const others = ['', 'max=100', 'timeout', 'timeout=', 'timeout=-1', 'timeout=1.5', 'xtimeout=5', 'timeout=1234567'];
    for (const value of others) assert.equal(seconds(value), undefined, value);
    assert.equal(seconds('timeout=5', 'timeout=6'), undefined);
    assert.equal(seconds(), undefined);
  });
});
