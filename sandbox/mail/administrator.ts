// Reads the administrator from a file beside the database. The gateway writes it from its credential. It is read at every
// login, so a new password takes effect at once.
import { readFileSync } from 'node:fs';
import type { Administrator } from './accounts.ts';

/**
 * The file holds `user:password`, with or without a line end. Without a file of this form there is no
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
