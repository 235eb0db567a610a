// Pages of docs/ as instructions: their blocks of code, in order.

import { readFileSync } from 'node:fs';

export interface Block {
  readonly language: string;
  readonly text: string;
  /** The sentence of the page right before it. */
  readonly lead: string;
}

export function blocksOf(page: string): Block[] {
  const text = readFileSync(new URL(`../../../${page}`, import.meta.url), 'utf8');
  const parts = text.split(/^```(\w*)\n([\s\S]*?)^```\n/m);
  return Array.from({ length: Math.floor(parts.length / 3) }, (_, at) => ({
    lead: (parts[at * 3] ?? '').trim().split('\n').at(-1) ?? '',
    language: parts[at * 3 + 1] ?? '',
    text: parts[at * 3 + 2] ?? '',
  }));
}
