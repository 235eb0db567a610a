// The drawing and the list of the stages in README.md, and the stages that docs/explain.md says are skipped.

import { STAGE_LIST, UNREHEARSED_STAGES } from '../../gateway/stages.ts';

/** One item per stage, in their order: a list can be read as plain text, too. */
export function stageItems(): string {
  return Object.entries(STAGE_LIST)
    .map(([name, { checks, refusesWith }]) => `- **\`${name}\`**: ${checks}.\n  Refuses with ${refusesWith}.`)
    .join('\n');
}

/** The stages that `explain --request` skips, each with the reason. */
export function skippedStages(): string {
  return Object.entries(UNREHEARSED_STAGES)
    .map(([name, reason]) => `- \`${name}\`: ${reason}`)
    .join('\n');
}

/** The stages on one line; each may refuse, and every refusal has the same form. */
export function stageDrawing(): string {
  const names = Object.keys(STAGE_LIST);
  const path = `client ──> ${names.join(' ─> ')} ──> service`;
  const middles = names.map((name) => path.indexOf(` ${name} `) + 1 + Math.floor((name.length - 1) / 2));
  const [first = 0, last = 0] = [middles[0], middles.at(-1)];
  const draw = (of: (at: number) => string) => Array.from({ length: last + 1 }, (_, at) => of(at)).join('');
  const stems = draw((at) => (middles.includes(at) ? '│' : ' '));
  const bar = draw((at) =>
    at < first ? ' ' : at === first ? '└' : at === last ? '┘' : middles.includes(at) ? '┴' : '─',
  );
  const middle = Math.floor((first + last) / 2);
  const below = 'one refusal: one error object, one log line';
  const stem = `${' '.repeat(middle)}│`;
  const joined = `${bar.slice(0, middle)}${bar[middle] === '┴' ? '┼' : '┬'}${bar.slice(middle + 1)}`;
  const text = `${' '.repeat(middle - Math.floor(below.length / 2))}${below}`;
  return ['```text', path, stems, joined, stem, text, '```'].join('\n');
}
