import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import type { WorkerQuestion } from '../../../gateway/workers/messages.ts';
import { createQuestions } from '../../../gateway/workers/questions.ts';
import { standStill } from '../../support/stand-still.ts';

const ANSWER_MS = 100;
const question = { kind: 'anything' } as unknown as WorkerQuestion;

it('an answer that came while the process stood still counts', async (t) => {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  const questions = createQuestions(ANSWER_MS, (id) => port2.postMessage(id));
  port1.on('message', (id: number) => questions.takeReply({ kind: 'answer', id, given: { value: 'here' } }));
  const answer = questions.ask(question);
  standStill(2 * ANSWER_MS);
  assert.equal(await answer, 'here');
});

it('a question ends without an answer, with a refusal, and with the worker', async () => {
  const silent = createQuestions(1, () => undefined);
  await assert.rejects(silent.ask(question), /no answer in time/);
  const refusing = createQuestions(60_000, (id) => setImmediate(() => refusing.takeReply({ kind: 'answer', id })));
  await assert.rejects(refusing.ask(question), /could not be answered/);
  const ending = createQuestions(60_000, () => undefined);
  const asked = ending.ask(question);
  ending.giveUp();
  await assert.rejects(asked, /the other process has ended/);
});
