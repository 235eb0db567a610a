// Matches the questions of one process to another, the primary or a worker, with their answers.

import { startDeadline } from '../shared/deadline.ts';
import type { ProcessReply } from './messages.ts';

/** @param answerMs the time after which a question rejects. An answer that arrived while this process was stopped is still accepted */
export function createQuestions<Question>(answerMs: number, send: (id: number, question: Question) => void) {
  const open = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  return {
    /** Asks the other process. @param withinMs replaces `answerMs` */
    async ask(question: Question, withinMs = answerMs): Promise<unknown> {
      last += 1;
      const id = last;
      const reply = Promise.withResolvers<unknown>();
      const deadline = startDeadline(withinMs, () => reply.reject(new Error('no answer in time')));
      open.set(id, reply);
      send(id, question);
      try {
        return await reply.promise;
      } finally {
        deadline.stop();
        open.delete(id);
      }
    },
    takeReply({ id, given }: ProcessReply): void {
      if (given === undefined) open.get(id)?.reject(new Error('it could not be answered'));
      else open.get(id)?.resolve(given.value);
    },
    giveUp(): void {
      for (const { reject } of open.values()) reject(new Error('the other process has ended'));
    },
  };
}

/** Answers a question of the other process. Never rejects. */
export async function replyTo(id: number, answer: () => Promise<unknown>): Promise<ProcessReply> {
  try {
    return { kind: 'answer', id, given: { value: await answer() } };
  } catch {
    return { kind: 'answer', id };
  }
}
