// The questions of the primary to one worker, each matched with its answer.

import { startDeadline } from '../shared/deadline.ts';
import type { WorkerQuestion } from './messages.ts';

/** @param answerMs a question without an answer within this time rejects; answers that came while the process stood still count */
export function createQuestions(answerMs: number, send: (id: number, question: WorkerQuestion) => void) {
  const open = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  return {
    async ask(question: WorkerQuestion): Promise<unknown> {
      last += 1;
      const id = last;
      const reply = Promise.withResolvers<unknown>();
      const deadline = startDeadline(answerMs, () => reply.reject(new Error('no answer in time')));
      open.set(id, reply);
      send(id, question);
      try {
        return await reply.promise;
      } finally {
        deadline.stop();
        open.delete(id);
      }
    },
    answered(id: number, given: { readonly value?: unknown } | undefined): void {
      if (given === undefined) open.get(id)?.reject(new Error('it could not be answered'));
      else open.get(id)?.resolve(given.value);
    },
    giveUp(): void {
      for (const { reject } of open.values()) reject(new Error('the worker has ended'));
    },
  };
}
