// Bytes become the same answer for any cuts, and bytes that are no answer are refused.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { AnswerReader } from '../../../../gateway/http1/client/answer-reader.ts';
import { LIMIT_RUNS } from '../../limits/scenarios.ts';
import { bytes, bytewise, cut, cuts, readAnswer, validAnswers } from './answers.ts';

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
/** The lines that a reader accepts between the status line and the empty line, and between the last chunk and the empty line. */
const HEAD_BYTES_MAX = 16_384;

function read(text: string, method?: string) {
  return readAnswer([bytes(text)], method);
}

/** The outcome of the same bytes in one piece and byte by byte, which has to be one. */
function outcomeOf(text: string): string {
  const whole = read(text).outcome;
  assert.equal(readAnswer(bytewise(bytes(text))).outcome, whole, JSON.stringify(text.slice(0, 200)));
  return whole;
}

describe('an answer', () => {
  it('is its head, its body, and its end', () => {
    const { head, ...rest } = read('HTTP/1.1 201 Made\r\nContent-Length: 4\r\nKeep-Alive: timeout=9\r\n\r\nbody');
    assert.deepEqual(rest, { body: 'body', outcome: 'end', hasSurplus: false });
    assert.deepEqual(head, {
      status: 201,
      headers: { 'content-length': '4', 'keep-alive': 'timeout=9' },
      framing: 4,
      isPersistent: true,
      idleSeconds: 9,
    });
  });

  it('may be over with its head', () => {
    assert.equal(outcomeOf('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'), 'end');
    assert.equal(outcomeOf('HTTP/1.1 204 No Content\r\n\r\n'), 'end');
    assert.equal(outcomeOf('HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n'), 'end');
  });

  it('to HEAD has no body, for any head', () => {
    for (const field of ['', 'content-length: 9\r\n', 'transfer-encoding: chunked\r\n']) {
      const { body, outcome, hasSurplus } = read(`HTTP/1.1 200 OK\r\n${field}\r\n`, 'HEAD');
      assert.deepEqual([body, outcome, hasSurplus], ['', 'end', false]);
    }
  });

  it('ends with the connection where no framing is given', () => {
    const { body, outcome } = read('HTTP/1.1 200 OK\r\n\r\nsome body\r\n\r\n');
    assert.deepEqual([body, outcome], ['some body\r\n\r\n', 'closed']);
    assert.equal(outcomeOf('HTTP/1.0 200 OK\r\n\r\n'), 'closed');
  });

  it('is not whole when the connection ends anywhere before that', () => {
    const counted = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody';
    const chunked = `${CHUNKED}4;x\r\nbody\r\n0\r\na: b\r\n\r\n`;
    for (const text of [counted, chunked]) {
      for (let length = 0; length < text.length; length++) assert.equal(read(text.slice(0, length)).outcome, 'waits');
      assert.equal(read(text).outcome, 'end');
    }
  });

  it('comes after a hundred interim ones at most, counted for each request', () => {
    const interim = 'HTTP/1.1 103 Early Hints\r\n\r\n';
    const final = 'HTTP/1.1 204 No Content\r\n\r\n';
    assert.equal(outcomeOf(interim.repeat(100) + final), 'end');
    assert.equal(outcomeOf(interim.repeat(101) + final), 'WIRE_MALFORMED');
    const reader = new AnswerReader();
    for (let i = 0; i < 3; i++) {
      reader.begin('GET');
      reader.feed(bytes(interim.repeat(60) + final));
      assert.equal(reader.next(), 'head');
      assert.equal(reader.next(), 'end');
    }
  });

  it('comes after interim ones, which are not passed on', () => {
    const interim = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\ncontent-length: 5\r\n\r\n';
    const { head, body, outcome } = read(`${interim}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody`);
    assert.deepEqual([head?.status, head?.headers, body, outcome], [200, { 'content-length': '4' }, 'body', 'end']);
  });

  it('is no change to another protocol', () => {
    assert.equal(outcomeOf('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n'), 'WIRE_MALFORMED');
  });

  it('leaves bytes after its end, which are reported and belong to no request', () => {
    for (const text of [
      'HTTP/1.1 204 x\r\n\r\n',
      'HTTP/1.1 200 x\r\ncontent-length: 1\r\n\r\nb',
      `${CHUNKED}0\r\n\r\n`,
    ]) {
      const { outcome, body, hasSurplus } = read(`${text}HTTP/1.1 200 OK\r\n\r\n`);
      assert.deepEqual([outcome, body.length <= 1, hasSurplus], ['end', true, true]);
    }
  });

  it('is followed by the next one, of which it leaves nothing behind', () => {
    const reader = new AnswerReader();
    const first = readAnswer([bytes(`${CHUNKED}2\r\nab\r\n0\r\nx: y\r\n\r\n`)], 'GET', reader);
    const second = readAnswer(bytewise(bytes('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\ncd')), 'GET', reader);
    const third = readAnswer([bytes('HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n')], 'HEAD', reader);
    assert.deepEqual([first.body, second.body, third.body], ['ab', 'cd', '']);
    for (const { outcome, hasSurplus } of [first, second, third])
      assert.deepEqual([outcome, hasSurplus], ['end', false]);
    reader.begin('GET');
    assert.equal(reader.head, undefined);
  });
});

describe('a chunked body', () => {
  it('is the content of its chunks, without extensions and trailers', () => {
    const { body, outcome } = read(`${CHUNKED}3;a="b"\r\na\r\n\r\n000A;x\r\n0123456789\r\n00;y\r\nx: y\r\n\r\n`);
    assert.deepEqual([body, outcome], ['a\r\n0123456789', 'end']);
  });

  it('may say more about each chunk', () => {
    for (const extension of ['', ';a', ';a=b', ';a=b;c', ';a="b;\\" c"']) {
      const text = `${CHUNKED}5${extension}\r\nhello\r\n0${extension}\r\n\r\n`;
      assert.equal(outcomeOf(text), 'end', extension);
      assert.equal(read(text).body, 'hello', extension);
    }
  });

  it('has sizes in hexadecimal, and nothing else', () => {
    const sizes = [
      '',
      '-1',
      '+1',
      '0x1',
      'g',
      '1 1',
      ' 1',
      '1,',
      '1\0',
      '1;\0',
      '1;\n',
      '1\n',
      '\r1',
      '1_0',
      '1;a\r',
      '1 ',
      '1\t',
      '1 ;a',
      '1; a',
      '1;',
      '1;a=',
      '1;a="b',
      '1;a"b"',
      '1;a b',
      '1;\xe9',
      '1;a,b=c',
    ];
    for (const size of sizes) assert.equal(outcomeOf(`${CHUNKED}${size}\r\nb\r\n0\r\n\r\n`), 'WIRE_MALFORMED', size);
    assert.equal(outcomeOf(`${CHUNKED}${'0'.repeat(12)}1\r\nb\r\n0\r\n\r\n`), 'WIRE_MALFORMED');
    assert.equal(outcomeOf(`${CHUNKED}${'f'.repeat(13)}\r\nb`), 'WIRE_MALFORMED');
    assert.equal(outcomeOf(`${CHUNKED}${'f'.repeat(12)}\r\nb`), 'waits');
  });

  it('has nothing between the end of a chunk and its line end', () => {
    for (const end of ['x\r\n', '\n\r\n', '\r\r\n', ' \r\n', 'xxxx'])
      assert.equal(outcomeOf(`${CHUNKED}1\r\nb${end}0\r\n\r\n`), 'WIRE_MALFORMED', JSON.stringify(end));
  });

  it('has trailers that are fields, which two readers would end at the same place', () => {
    const others = ['x', 'no field', ' x: y', 'x : y', 'x: \0', '\n', 'x: y\nz: a', 'x\ny: z', '\rx: y', ': x'];
    for (const trailer of [...others, 'HTTP/1.1 200 OK'])
      assert.equal(outcomeOf(`${CHUNKED}0\r\n${trailer}\r\n\r\n`), 'WIRE_MALFORMED', JSON.stringify(trailer));
    const text = `${CHUNKED}5\r\nhello\r\n0\r\nx:\r\ny: \xe9\t\r\nx: z\r\n\r\n`;
    assert.deepEqual([outcomeOf(text), read(text).body], ['end', 'hello']);
  });
});

describe('an answer that is too long', () => {
  const line = 'HTTP/1.1 200 OK\r\nx: ';
  const headOf = (length: number) => line + 'v'.repeat(length - line.length);

  it('is a head of more than 16 KiB, wherever it is cut', () => {
    const longest = bytes(`${headOf(HEAD_BYTES_MAX)}\r\n\r\nbody`);
    const tooLong = bytes(`${headOf(HEAD_BYTES_MAX + 1)}\r\n\r\nbody`);
    for (let at = HEAD_BYTES_MAX - 3; at <= longest.length; at++) {
      assert.equal(readAnswer([longest.subarray(0, at), longest.subarray(at)]).outcome, 'closed', `cut at ${at}`);
      assert.equal(readAnswer([tooLong.subarray(0, at), tooLong.subarray(at)]).outcome, 'WIRE_HEAD_TOO_LARGE');
    }
  });

  it('is not waited for', () => {
    assert.equal(read(headOf(HEAD_BYTES_MAX)).outcome, 'waits');
    assert.equal(read(headOf(HEAD_BYTES_MAX + 100)).outcome, 'WIRE_HEAD_TOO_LARGE');
    assert.equal(read('x'.repeat(HEAD_BYTES_MAX + 100)).outcome, 'WIRE_HEAD_TOO_LARGE');
  });

  it('is each head on its own', () => {
    const interim = `${headOf(HEAD_BYTES_MAX).replace('200', '100')}\r\n\r\n`;
    assert.equal(outcomeOf(`${interim}${interim}HTTP/1.1 204 x\r\n\r\n`), 'end');
  });

  it('is the line of a chunk size of more than 1 KiB', () => {
    assert.equal(outcomeOf(`${CHUNKED}1;${'x'.repeat(1022)}\r\nb\r\n0\r\n\r\n`), 'end');
    assert.equal(outcomeOf(`${CHUNKED}1;${'x'.repeat(1023)}\r\nb\r\n0\r\n\r\n`), 'WIRE_MALFORMED');
    assert.equal(read(`${CHUNKED}1;${'x'.repeat(1100)}`).outcome, 'WIRE_MALFORMED');
  });

  it('is more than 16 KiB of trailers, together', () => {
    const trailers = (count: number) => `x:${'v'.repeat(62)}\r\n`.repeat(count);
    assert.equal(outcomeOf(`${CHUNKED}0\r\n${trailers(HEAD_BYTES_MAX / 64)}\r\n`), 'end');
    assert.equal(outcomeOf(`${CHUNKED}0\r\n${trailers(HEAD_BYTES_MAX / 64)}x:\r\n\r\n`), 'WIRE_MALFORMED');
    assert.equal(read(`${CHUNKED}0\r\nx:${'v'.repeat(HEAD_BYTES_MAX)}`).outcome, 'WIRE_MALFORMED');
  });
});

describe('an answer of arbitrary bytes', () => {
  it('has the same body, wherever its bytes are cut', () => {
    const property = fc.property(validAnswers, cuts, ({ text, status, body, framing }, where) => {
      const whole = read(text);
      assert.deepEqual(
        [whole.head?.status, whole.body, whole.outcome, whole.hasSurplus],
        [status, body, framing === 'close' ? 'closed' : 'end', false],
      );
      assert.deepEqual(readAnswer(cut(bytes(text), where)), whole);
      assert.deepEqual(readAnswer(bytewise(bytes(text))), whole);
    });
    fc.assert(property, { numRuns: 100 * LIMIT_RUNS });
  });

  it('is whole or refused after a change of some bytes, and the same wherever it is cut', () => {
    const mutation = fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), put: fc.constantFrom(...mutations) });
    const mutated = fc.tuple(validAnswers, fc.array(mutation, { minLength: 1, maxLength: 4 })).map(([{ text }, all]) =>
      all.reduce((before, { at, put }) => {
        const place = Math.floor(at * before.length);
        return before.slice(0, place) + put + before.slice(place + (put.length === 2 ? 0 : 1));
      }, text),
    );
    const property = fc.property(mutated, cuts, (text, where) => {
      const whole = read(text);
      assert.deepEqual(bodyUnlessRefused(readAnswer(cut(bytes(text), where))), bodyUnlessRefused(whole));
    });
    fc.assert(property, { numRuns: 200 * LIMIT_RUNS });
  });

  it('never holds up a reader when it is not HTTP', () => {
    const noise = fc.array(
      fc.constantFrom('\r\n', '\r', '\n', '0', '5', ';', ':', ' ', 'a', CHUNKED, 'HTTP/1.1 200\r\n'),
    );
    fc.assert(
      fc.property(noise, fc.boolean(), cuts, (parts, begins, where) => {
        const text = (begins ? CHUNKED : '') + parts.join('');
        const { outcome } = readAnswer(cut(bytes(text), where));
        assert.equal(outcome, read(text).outcome);
      }),
      { numRuns: 200 * LIMIT_RUNS },
    );
  });
});

/** In place of a byte, or between two. */
const mutations = ['\r', '\n', '\0', ' ', ':', '0', 'f', ';', '\x7f', '\xff', '', '\r\n', '\n\n', '  ', '0\r'];

/** How much of a body that is refused later was read before depends on the cuts. */
function bodyUnlessRefused({ head, body, outcome, hasSurplus }: ReturnType<typeof readAnswer>): unknown {
  return outcome.startsWith('WIRE_') ? outcome : [head, body, outcome, hasSurplus];
}
