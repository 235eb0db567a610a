// Makes texts that match a regular expression, by choosing among its alternatives, characters and repetitions. Look-around is skipped, so
// the caller must test the texts.

import { endOfAtom, endOfGroupHead, quantifierAt } from '../scalars/pattern-shape.ts';

type Node =
  | { readonly kind: 'characters'; readonly from: readonly string[] }
  | { readonly kind: 'choice'; readonly options: readonly Node[][]; readonly group: string | undefined }
  | { readonly kind: 'repeat'; readonly node: Node; readonly min: number; readonly max: number }
  | { readonly kind: 'reference'; readonly group: string };

/** Decides between alternatives, and how often more than the least a part is repeated. */
interface Variant {
  readonly seed: number;
  readonly extra: number;
}

const LENGTH_MAX = 2000;
/** Characters that classes are tried with, the plainest first. */
const POOL = [
  ...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/ @+,;=~!#$%&\'()*?[]{}|\\^`<>"\t\né日Ж',
];
const EXTRAS = [3, 0, 1, 2, 5, 7, 11, 15, 31, 63];
const SEEDS = 24;
const STEPS = [1, 7, 11, 17, 29];

/** Yields texts of about `minLength` characters or more, the most plausible first. Yields none for an expression that it cannot parse. */
export function* textsFor(source: string, minLength: number): Generator<string> {
  const { options, isWhole } = parseChoice(source, 0);
  if (!isWhole) return;
  const root: Node = { kind: 'choice', options, group: undefined };
  for (let seed = 0; seed < SEEDS; seed++) {
    for (const extra of [...EXTRAS, minLength].filter((_, index) => seed === 0 || index < 6)) {
      const text = textOf(root, { seed, extra }, new Map());
      if (text !== undefined) yield text;
    }
  }
}

interface ParsedPattern {
  readonly options: Node[][];
  readonly end: number;
  /** Whether the end of the source was reached, rather than a closing parenthesis. */
  readonly isWhole: boolean;
}

/** Parses alternatives up to the closing parenthesis or the end. Groups are numbered from `groups.count`. */
function parseChoice(source: string, start: number, groups = { count: 0 }): ParsedPattern {
  const options: Node[][] = [[]];
  let at = start;
  while (at < source.length && source[at] !== ')') {
    if (source[at] === '|') {
      options.push([]);
      at++;
      continue;
    }
    const { node, end } = parseAtom(source, at, groups);
    const { min, max, length } = quantifierAt(source, end);
    at = end + length;
    if (node !== undefined) options.at(-1)?.push(min === 1 && max === 1 ? node : { kind: 'repeat', node, min, max });
  }
  return { options, end: at, isWhole: at === source.length };
}

/** The node is undefined for an assertion, which matches no character. */
function parseAtom(source: string, at: number, groups: { count: number }): { node: Node | undefined; end: number } {
  const character = source[at] as string;
  if (character === '(') {
    const head = source.slice(at, endOfGroupHead(source, at));
    const name = /<(\w+)>/.exec(head)?.[1];
    const group = head === '(' || name !== undefined ? (name ?? String(groups.count + 1)) : undefined;
    if (group !== undefined) groups.count++;
    const { options, end } = parseChoice(source, at + head.length, groups);
    const isAround = /^\(\?<?[=!]/.test(head);
    return { node: isAround ? undefined : { kind: 'choice', options, group }, end: end + 1 };
  }
  if (character === '^' || character === '$') return { node: undefined, end: at + 1 };
  const reference = /^\\(?:([1-9]\d?)|k<(\w+)>)/.exec(source.slice(at));
  if (reference)
    return {
      node: { kind: 'reference', group: (reference[1] ?? reference[2]) as string },
      end: at + reference[0].length,
    };
  const end = endOfCharacter(source, at);
  const atom = source.slice(at, end);
  if (/^\\[bB]$/.test(atom)) return { node: undefined, end };
  return { node: { kind: 'characters', from: charactersOf(atom) }, end };
}

function endOfCharacter(source: string, at: number): number {
  const escaped = /^\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|[pP]\{[^}]*\}|c[A-Z])/i.exec(source.slice(at))?.[0];
  if (escaped !== undefined) return at + escaped.length;
  const point = source.codePointAt(at) as number;
  return point > 0xffff ? at + 2 : endOfAtom(source, at);
}

function charactersOf(atom: string): string[] {
  if (!/^[\\[.]/.test(atom)) return [atom];
  const test = toRegExp(atom);
  // The ends of ranges and single characters of a class are candidates, too.
  const own = atom.startsWith('[') ? [...atom.slice(1, -1)] : [];
  const spelled = [...atom.matchAll(/\\u\{?([0-9a-f]{4,6})\}?|\\x([0-9a-f]{2})/gi)].map(([, long, short]) =>
    String.fromCodePoint(Number.parseInt((long ?? short) as string, 16)),
  );
  return [...new Set([...POOL, ...own, ...spelled])].filter((character) => test?.test(character) === true);
}

function toRegExp(atom: string): RegExp | undefined {
  for (const flags of ['su', 's']) {
    try {
      return new RegExp(`^(?:${atom})$`, flags);
    } catch {}
  }
  return undefined;
}

/** Returns the text; undefined if a part has no character that is known here, or if the text becomes too long. */
function textOf(node: Node, variant: Variant, groups: Map<string, string>, position = 0): string | undefined {
  switch (node.kind) {
    case 'characters':
      // Later variants mix the kinds of characters, because look-ahead may require this.
      return node.from[(variant.seed + position * (STEPS[variant.seed % STEPS.length] as number)) % node.from.length];
    case 'reference':
      return groups.get(node.group) ?? '';
    case 'choice': {
      const parts = node.options[variant.seed % node.options.length] as Node[];
      const text = joined(parts, variant, groups, position);
      if (node.group !== undefined && text !== undefined) groups.set(node.group, text);
      return text;
    }
    case 'repeat': {
      const count = Math.min(node.max, node.min + variant.extra);
      if (count > LENGTH_MAX) return undefined;
      return joined(
        Array.from({ length: count }, () => node.node),
        variant,
        groups,
        position,
      );
    }
  }
}

function joined(
  parts: readonly Node[],
  variant: Variant,
  groups: Map<string, string>,
  position: number,
): string | undefined {
  let text = '';
  for (const part of parts) {
    const more = textOf(part, variant, groups, position + text.length);
    if (more === undefined || text.length > LENGTH_MAX) return undefined;
    text += more;
  }
  return text;
}
