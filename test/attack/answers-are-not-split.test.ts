// Response splitting and related attacks: an attacker who controls a part of an upstream's answer ends a line early, adds lines in the name
// of the gateway, or frames the answer so that two readers end it in different places. The defence is an allow list, written anew under
// names of our own, a body that is framed anew, and a refusal of everything that the parser has doubts about.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { type Answer, openConnection } from '../support/connection.ts';
import { assertRefusal } from '../support/errors.ts';
import { answerCases, type HostileAnswer } from './cases/answers.cases.ts';
import { get } from './cases/case.ts';
import { besiege } from './cases/run.ts';

const besieged = await besiege();
after(() => besieged.close());

/** Lines of every answer, for any answer of the upstream: present exactly once, with these values. */
const always: Readonly<Record<string, RegExp>> = {
  'X-Content-Type-Options': /^nosniff$/,
  'Content-Security-Policy': /^default-src 'none'; frame-ancestors 'none'$/,
  'Referrer-Policy': /^no-referrer$/,
  'X-Request-Id': /^req_[0-9A-HJKMNP-TV-Z]{26}$/,
  'RateLimit-Policy': /^"organization";q=100000;w=60$/,
  RateLimit: /^"organization";r=\d+;t=\d+$/,
  'X-RateLimit-Limit': /^100000$/,
  'X-RateLimit-Remaining': /^\d+$/,
  'X-RateLimit-Reset': /^\d+$/,
  'Content-Type': /^application\/json$/,
  'Cache-Control': /^private, no-store$/,
  Date: /^\w{3}, .* GMT$/,
  Connection: /^keep-alive$/,
  'Keep-Alive': /^timeout=65$/,
};

const framing = new Set(['Content-Length', 'Transfer-Encoding']);

/** The lines that are there because of this answer. The others have to be there, once each. */
function beyondThose(lines: Answer['lines'], expected: readonly string[]): string[] {
  const texts = lines.map(([name, value]) => `${name}: ${value}`);
  const others = lines.filter(([name], at) => !expected.includes(texts[at] as string) && !framing.has(name));
  assert.deepEqual(
    others.map(([name]) => name).filter((name) => Object.hasOwn(always, name)),
    Object.keys(always).filter((name) => !expected.some((line) => line.startsWith(`${name}: `))),
  );
  for (const [name, value] of others) assert.match(value, always[name] ?? /^$/, name);
  return texts
    .filter((line) => expected.includes(line))
    .concat(others.flatMap(([name]) => (Object.hasOwn(always, name) ? [] : name)));
}

async function play({ answered, client, lines = [], body = '{}' }: HostileAnswer): Promise<void> {
  const { gateway, upstream, key } = besieged;
  upstream.answers(answered);
  const connection = await openConnection(gateway.port);
  try {
    const request = get('/v1/things').replace('KEY', key.key);
    connection.send(request);
    const answer = await connection.answer();
    assert.ok(answer);
    const code = answer.headers['x-error-code'];
    assert.equal(code === undefined ? String(answer.status) : `${answer.status} ${code}`, client);
    if (code !== undefined) assertRefusal(answer, code);
    else {
      assert.equal(answer.body.toString('latin1'), body);
      assert.deepEqual(beyondThose(answer.lines, lines), lines);
    }
    assert.equal(connection.rest().length, 0, 'and nothing behind it');
    upstream.answers('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 6\r\n\r\n"next"');
    connection.send(request);
    assert.equal((await connection.answer())?.body.toString(), '"next"', 'the next answer is for the next request');
  } finally {
    connection.destroy();
  }
}

describe('an upstream', () => {
  for (const hostile of answerCases) it(hostile.name, () => play(hostile));
});
