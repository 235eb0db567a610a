// Repeats a question to the gateway while a view is shown, and reports when it is not answered.

import { Unauthorized } from './api.js';

let paused = false;
/** Questions that wait for the end of the pause. */
const waiting = new Set();

/** Begins or ends a pause. During a pause a view keeps its contents. A view that is opened during the pause asks once. */
export function setPaused(next) {
  paused = next;
  if (paused) return;
  const turns = [...waiting];
  waiting.clear();
  for (const turn of turns) void turn();
}

/**
 * @param ask resolves with the answer
 * @param everyMs time between an answer and the next question
 * @param tell `answer(value)`, `lost()` for each question without an answer, `refused()` when a token is needed, after which it stops
 * @returns a function that stops asking
 */
export function follow(ask, everyMs, tell) {
  let stopped = false;
  let timer;

  async function turn() {
    try {
      const value = await ask();
      if (!stopped) tell.answer(value);
    } catch (error) {
      if (stopped) return;
      if (error instanceof Unauthorized) {
        stopped = true;
        tell.refused();
        return;
      }
      tell.lost();
    }
    if (!stopped) timer = setTimeout(again, everyMs);
  }

  function again() {
    if (paused) waiting.add(turn);
    else void turn();
  }

  void turn();
  return () => {
    stopped = true;
    clearTimeout(timer);
    waiting.delete(turn);
  };
}
