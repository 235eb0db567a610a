// Reads the feed of the gateway every two seconds, and reports when it does not answer.

const EVERY_MS = 2000;
/** Collecting the data of a worker may take a second. */
const PATIENCE_MS = 8000;

/**
 * @param tell `feed(answer)`, `lost(sinceMs)` for each request without an answer, `refused()` when a token is needed, after which it stops
 * @returns a function that stops reading
 */
export function follow(token, tell) {
  let stopped = false;
  let timer;
  let answeredAtMs = Date.now();

  async function ask() {
    const answer = await fetch('/console/feed', {
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
      cache: 'no-store',
      credentials: 'omit',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (answer.status === 401) {
      await answer.arrayBuffer();
      return null;
    }
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    return answer.json();
  }

  async function turn() {
    try {
      const feed = await ask();
      if (stopped) return;
      if (feed === null) {
        stopped = true;
        tell.refused();
        return;
      }
      answeredAtMs = Date.now();
      tell.feed(feed);
    } catch {
      if (!stopped) tell.lost(answeredAtMs);
    }
    if (!stopped) timer = setTimeout(turn, EVERY_MS);
  }

  void turn();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
