// Compares the answer to an operation with the answer to a path that no service has. If they are the same, the service does not have the
// operation. Pure.

import { type BackendAnswer, type BackendRequest, statusOf } from './backend.ts';

const UNKNOWN_PATH = '/gateway-tries-a-path-that-does-not-exist';

export function atUnknownPath(asked: BackendRequest): BackendRequest {
  return { ...asked, method: 'GET', path: UNKNOWN_PATH, search: '', body: undefined, bytes: undefined };
}

/**
 * Whether the service answers an operation as it answers the unknown path. A record that is absent may have the same answer, so operations
 * with parameters in their path say nothing.
 */
export function isLikeUnknownPath(answered: BackendAnswer, elsewhere: BackendAnswer): boolean {
  const { operation } = answered.asked.entry;
  if (operation.path.includes('{') || elsewhere.problem !== undefined) return false;
  return statusOf(answered) === 404 && elsewhere.status === answered.status && wordsOf(answered) === wordsOf(elsewhere);
}

/** Returns the body without the parts that differ between requests, which are the path, times and ids. */
function wordsOf({ asked: { entry, path, search }, body }: BackendAnswer): string {
  const { operation } = entry;
  const own = path ?? operation.upstreamPrefix + operation.path.slice(operation.publicPrefix.length);
  return body
    .toString('utf8')
    .replaceAll(own + search, '')
    .replaceAll(own, '')
    .replace(/[0-9a-f-]+/gi, (run) => (/[0-9]/.test(run) ? '0' : run));
}
