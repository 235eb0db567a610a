// Writes paths as text of a page.

import { escapeHtml } from '../html.ts';

/** Returns a path as HTML that may break after each slash. */
export function breakable(path: string): string {
  return escapeHtml(path).replaceAll('/', '/<wbr>');
}
