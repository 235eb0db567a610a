// Pure: which keys of the configuration files differ between two loads, with their values before and after, as operators read it.

import type { Config } from './load.ts';

/** A change of a whole file would fill the audit log. */
const CHANGES_MAX = 20;
const VALUE_LENGTH_MAX = 80;

/** Returns lines such as `limits.yaml tiers.standard.requests: 100 → 200`. `–` stands for an absent key. */
export function changedKeys(before: Config, after: Config): string[] {
  const all = (['gateway', 'upstreams', 'limits'] as const).flatMap((name) =>
    differences(`${name}.yaml `, before.sources[name].value, after.sources[name].value),
  );
  const more = all.length - CHANGES_MAX;
  return more > 0 ? [...all.slice(0, CHANGES_MAX), `and ${more} more`] : all;
}

/** Lists are compared as a whole: what an index counts is another entry after an insertion. */
function differences(key: string, before: unknown, after: unknown): string[] {
  if (isBlock(before) && isBlock(after)) {
    const prefix = key.endsWith(' ') ? key : `${key}.`;
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => differences(prefix + name, before[name], after[name]));
  }
  const [from, to] = [textOf(before), textOf(after)];
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [`${key.trimEnd()}: ${from} → ${to}`];
}

function isBlock(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '–';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX - 1)}…` : text;
}
