// Reads data from the gateway and acts on it, with the token of the operator, whose role says whether the page may act. Repeats a question
// while a view is shown.

/** The key of the token in the storage of this tab, which ends with the tab. */
const TOKEN = 'admin-token';
/** The time for an answer. To collect the data of a worker may take a second. */
const PATIENCE_MS = 8000;
/** The longer time for an action, because a store may be slow, and the operator has to know the outcome. */
const ACTION_PATIENCE_MS = 15_000;

export const hasToken = () => sessionStorage.getItem(TOKEN) !== null;
export const setToken = (token) => sessionStorage.setItem(TOKEN, token);
export const forgetToken = () => sessionStorage.removeItem(TOKEN);

/** The token is missing or wrong. */
export class Unauthorized extends Error {}

/** A store cannot be reached. The message is a sentence. */
export class Unavailable extends Error {}

/** Resolves with the answer, or undefined if there is nothing at the path. Throws Unauthorized, and an error if there is no answer. */
export async function read(path, params = {}) {
  const wanted = Object.entries(params).filter(([, value]) => value != null && value !== '');
  const query = new URLSearchParams(wanted).toString();
  const answer = await fetch(`/console/${path}${query === '' ? '' : `?${query}`}`, {
    headers: authorization(),
    cache: 'no-store',
    credentials: 'omit',
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  if (answer.ok) return answer.json();
  const said = await answer.json().catch(() => undefined);
  if (answer.status === 401) throw new Unauthorized();
  if (answer.status === 404) return undefined;
  if (answer.status === 503 && said?.error) throw new Unavailable(said.error);
  throw new Error(`status ${answer.status}`);
}

/** Asks a question with a body, which changes nothing; resolves as `act` does. */
export const ask = (question, body) => send(question, body);

/**
 * Asks for an action; resolves with the answer, refusals included. The header is one that no page of another origin can send. Throws
 * Unauthorized, and an error if there is no answer.
 */
export const act = (action, body) => send(`actions/${action}`, body);

async function send(path, body) {
  const answer = await fetch(`/console/${path}`, {
    method: 'POST',
    headers: { ...authorization(), 'content-type': 'application/json', 'x-console-action': '1' },
    body: JSON.stringify(body),
    cache: 'no-store',
    credentials: 'omit',
    signal: AbortSignal.timeout(ACTION_PATIENCE_MS),
  });
  if (answer.status === 401) throw new Unauthorized();
  return { ok: answer.ok, body: await answer.json() };
}

function authorization() {
  const token = sessionStorage.getItem(TOKEN);
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

let role = 'viewer';

export const mayAct = () => role === 'admin';
export const setRole = (next) => {
  role = next;
};

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
 * Repeats a question to the gateway, and reports when it is not answered.
 *
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
