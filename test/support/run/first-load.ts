// Node compiles a file once and keeps the result, for all processes that load it later. In a new clone all processes of the tests would
// load the gateway at once, and each would compile it: 2 CPU seconds each. So the first ones load it alone, one for each core.

import { closeSync, existsSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { flushCompileCache, getCompileCacheDir } from 'node:module';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 50;
/** Then the others begin all the same. */
const WAIT_MS_MAX = 30_000;

const keptMark = (list: string) => `${list}.kept`;

/**
 * Whether there is compiled code for this process. Node keeps it apart for each set of V8 flags: what bin/gateway has kept is of no use.
 */
function hasKeptCode(): boolean {
  const directory = getCompileCacheDir();
  return directory === undefined || (existsSync(directory) && readdirSync(directory).length > 0);
}

const noteKept = (list: string) => writeFileSync(keptMark(list), '');

function takesFirstPlace(list: string): boolean {
  return Array.from({ length: availableParallelism() }, (_, place) => `${list}.place-${place}`).some((mark) => {
    try {
      closeSync(openSync(mark, 'wx'));
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * Waits for the first processes, unless this is one of them. Returns a function to call when a test file has ended, by which the gateway
 * has been loaded and used.
 */
export async function awaitTurn(list: string): Promise<() => void> {
  const isKept = () => existsSync(keptMark(list));
  const endsAt = performance.now() + WAIT_MS_MAX;
  if (hasKeptCode()) noteKept(list);
  if (!isKept() && !takesFirstPlace(list)) while (!isKept() && performance.now() < endsAt) await sleep(POLL_MS);
  return () => {
    if (isKept()) return;
    flushCompileCache();
    noteKept(list);
  };
}
