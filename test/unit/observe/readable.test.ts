import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createReadable } from '../../../gateway/observe/log/readable.ts';

const ESCAPE = String.fromCharCode(27);

function readableOf(pieces: readonly string[], colours = false): string {
  const written: string[] = [];
  const add = createReadable({ write: (text) => void written.push(text), colours, clock: (ms) => `at ${ms}` });
  for (const piece of pieces) add(piece);
  return written.join('');
}

const exchange = {
  level: 30,
  time: 5,
  request_id: 'req_1',
  method: 'GET',
  stage: 'forward',
  status: 200,
  route: '/v1/customers',
  organization: 'org_demo',
  duration_ms: 4.251,
  upstream_status: 200,
  msg: 'exchange',
};
const json = (line: object) => `${JSON.stringify(line)}\n`;

describe('a readable log line', () => {
  it('of an answered request has status, route, duration, organization and id', () => {
    assert.equal(readableOf([json(exchange)]), 'at 5 200 GET    /v1/customers 4.3 ms org_demo req_1\n');
  });

  it('of a refusal has its code and stage, and the status of the upstream if it differs', () => {
    const refused = { ...exchange, status: 502, code: 'upstream_error', upstream_status: 500 };
    assert.equal(
      readableOf([json(refused)]),
      'at 5 502 GET    /v1/customers upstream_error at forward upstream 500 4.3 ms org_demo req_1\n',
    );
  });

  it('of a path without an operation has the path as the log has it', () => {
    const { route: _, ...rest } = exchange;
    const refused = { ...rest, status: 404, stage: 'match', code: 'route_not_found', path: '/v1/customer/{…}' };
    assert.match(readableOf([json(refused)]), /404 GET {4}\/v1\/customer\/\{…\} route_not_found at match /);
  });

  it('of something else has level, message and all other members', () => {
    const line = { level: 40, time: 7, upstream: 'mail', latch: { since: 1 }, msg: 'the login is refused' };
    assert.equal(readableOf([json(line)]), 'at 7 warn  the login is refused upstream=mail latch={"since":1}\n');
  });

  it('is written once, however the line is divided, and with each line of a batch', () => {
    const text = json(exchange) + json({ level: 30, time: 1, msg: 'draining' });
    const whole = readableOf([text]);
    assert.equal(whole.split('\n').length, 3);
    for (let at = 0; at <= text.length; at++) assert.equal(readableOf([text.slice(0, at), text.slice(at)]), whole);
  });

  it('has colours only where they are wanted', () => {
    assert.ok(readableOf([json(exchange)], true).includes(`${ESCAPE}[32m200${ESCAPE}[0m`));
    assert.ok(!readableOf([json(exchange)]).includes(ESCAPE));
  });

  for (const [what, text] of [
    ['an escape sequence', `${ESCAPE}[2J`],
    ['a control character of the upper half', '\u009b2J'],
    ['a line end', 'a\nb'],
    ['a change of direction', 'a\u202eb'],
    ['a lone surrogate', 'a\ud800b'],
  ] as const)
    it(`shows ${what} in a value or a name instead of obeying it`, () => {
      for (const line of [
        { ...exchange, route: text },
        { level: 30, time: 1, msg: text, [text]: text },
      ]) {
        const written = readableOf([json(line)]);
        assert.doesNotMatch(written.slice(0, -1), /[\p{Cc}\p{Cf}\p{Cs}]/u);
        assert.match(written, /\\u[0-9a-f]{4}/);
      }
    });

  it('passes text that is no JSON, without its control characters', () => {
    assert.equal(readableOf([`boom ${ESCAPE}[1m\n`, '12\n']), 'boom \\u001b[1m\n12\n');
  });
});
