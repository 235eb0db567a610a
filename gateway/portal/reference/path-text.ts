// Paths as text of a page.

import { escapeHtml } from '../html.ts';

/** A long path may break after each slash. Takes text, gives HTML. */
export function breakable(path: string): string {
  return escapeHtml(path).replaceAll('/', '/<wbr>');
}
