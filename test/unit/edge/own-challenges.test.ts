import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnswerChallenge } from '../../../gateway/edge/own-answers/acme-challenge.ts';
import type { Admitted } from '../../../gateway/exchange/exchange.ts';

const answerChallenge = createAnswerChallenge(async (token) => (token === 'mine' ? 'mine.proof' : undefined));

async function asked(method: string, path: string) {
  const sent: unknown[] = [];
  const response = {
    writeHead: (status: number, lines: readonly string[]) => void sent.push(status, ...lines),
    end: (body?: Buffer) => void sent.push(body?.toString()),
  };
  const admitted = {
    method,
    path,
    response,
    trail: {},
    commonHeaders: ['X-Request-Id', 'req_1'],
  } as unknown as Admitted;
  return { answered: await answerChallenge(admitted), sent, status: admitted.trail.status };
}

test('a challenge of the gateway’s own is answered by it, and any other request is left alone', async () => {
  const { answered, sent, status } = await asked('GET', '/.well-known/acme-challenge/mine');
  assert.deepEqual([answered, status, sent.at(0), sent.at(-1)], [true, 200, 200, 'mine.proof']);
  assert.ok(sent.includes('X-Request-Id') && sent.includes('10'));
  assert.equal((await asked('HEAD', '/.well-known/acme-challenge/mine')).sent.at(-1), undefined);
  for (const [method, path] of [
    ['GET', '/.well-known/acme-challenge/other'],
    ['POST', '/.well-known/acme-challenge/mine'],
    ['GET', '/.well-known/acme-challenge/'],
    ['GET', '/.well-known/acme-challenge/mine/x'],
    ['GET', '/mine'],
  ] as const)
    assert.deepEqual(await asked(method, path), { answered: false, sent: [], status: undefined });
});
