// Who the administrator is: whoever a file beside the database names, which the gateway writes from the credential it
// is given. It is read again at every login, so a new password holds at once.
import { readFileSync } from 'node:fs';
import type { Administrator } from './accounts.ts';

/**
 * The file holds `user:password`, perhaps with a line end. Without it, or with anything else in it, nobody is
 * administrator.
 */
export function createAdministrator(path: string): () => Administrator | undefined {
  return function administrator() {
    const text = readText(path).replace(/\r?\n$/, '');
    const colon = text.indexOf(':');
    return colon < 1 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
  };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
