// Makes the mistakes of changes that break what was published. A changed part of a contract is one mistake, although several operations may
// refer to it.

import type { Mistake } from '../../shared/mistakes.ts';
import type { ContractDocument } from '../reading/document.ts';
import type { DiffFinding } from './findings.ts';

/** A breaking change of one operation that no exception accepts. */
export interface Break {
  readonly finding: DiffFinding;
  /** The document that contains the place of the finding. */
  readonly document: ContractDocument;
  /** The published name of the operation. */
  readonly operation: string;
  /** The end of the exception that accepted the change. */
  readonly endedOn: string | undefined;
}

/** Returns the mistakes, to which `locate` of the documents adds the lines. */
export function breakMistakes(breaks: readonly Break[]): Mistake[] {
  const placed = breaks.map((one) => ({
    ...one,
    mistake: one.document.position().mistakeAt(placeIn(one.document, one.finding), '', ''),
  }));
  const groups = Map.groupBy(placed, ({ finding: { place, use, what, operation, reason }, mistake, endedOn }) => {
    const isShared = place.join() !== use.join();
    return JSON.stringify([mistake.file, mistake.place, what, endedOn, ...(isShared ? [] : [operation, reason])]);
  });
  // The line of a mistake is added to this very object later.
  return [...groups.values()].map((group) => Object.assign((group[0] as (typeof placed)[0]).mistake, wordsOf(group)));
}

/** Returns the place of a finding: the changed part, or the reference to it if it has no place of its own in another file. */
export function placeIn({ foreign = {} }: ContractDocument, { place, use }: DiffFinding): DiffFinding['place'] {
  return foreign[place.slice(0, 3).join('/')] === -1 ? use : place;
}

function wordsOf(group: readonly Break[]): Pick<Mistake, 'reason' | 'remedy' | 'decisions'> {
  const [{ finding, endedOn }] = group as [Break];
  const rules = [...new Set(group.map((one) => one.finding.rule))].join(' and ');
  const more = new Set(group.map((one) => one.finding.operation)).size - 1;
  const broken = more === 0 ? `${finding.operation} breaks` : `${finding.operation} and ${more} more break`;
  const over = endedOn === undefined ? '' : `, and the exception ended on ${endedOn}`;
  const reason = `${broken} what was published (${rules})${over}: ${finding.reason}.`;
  const all = group.map((one) => ({ operation: one.operation, rule: one.finding.rule }));
  const decisions = [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
  return { reason, remedy: remedyFor(decisions), decisions };
}

function remedyFor(decisions: NonNullable<Mistake['decisions']>): string {
  const [{ operation, rule } = { operation: '', rule: '' }, ...others] = decisions;
  const either = 'Put it back, make the change in another version, or';
  if (others.length > 0)
    return `${either} accept it for each operation: "gateway contract diff" prints the lines for upstreams.yaml.`;
  const exception = `{ operation: ${operation}, rule: ${rule}, until: <day>, reason: <why, in 10 letters or more> }`;
  return `${either} add ${exception} to the list "breaking:" beside "upstreams:" in upstreams.yaml.`;
}
