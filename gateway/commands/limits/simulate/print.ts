// Prints a simulation, completely as JSON for programs, or its main results as tables for people.

import type { CommandContext } from '../../context.ts';
import { countText, printLine, printTable, printText, shortTime, timeOrNull } from '../../print.ts';
import type { LinesRead } from './read-logs.ts';
import type { SimulationResult } from './replay.ts';
import type { OrganizationTally, Outcomes, Tally } from './tally.ts';

/** Organizations in the table. */
const SHOWN_MAX = 20;

interface SimulationReport {
  /** File with the candidate limits. */
  readonly candidate: string;
  readonly logs: readonly string[];
  readonly read: LinesRead;
  readonly result: SimulationResult;
}

export function simulationToJson({ candidate, logs, read, result }: SimulationReport) {
  const organizations = byDifference(result.organizations);
  return {
    candidate,
    logs,
    lines: { read: read.lines, unused: read.unused, late: result.late },
    from: timeOrNull(result.fromMs),
    to: timeOrNull(result.toMs),
    unknown_operations: Object.fromEntries(result.unknownOperations),
    total: tallyToJson(result.total),
    tiers: [...result.tiers].map(([tier, tally]) => ({ tier, ...tallyToJson(tally) })),
    limits: [...result.limits].map(([limit, tally]) => ({ limit, ...tally })),
    organizations: organizations.map(({ organization = null, tier, ...tally }) => ({
      organization,
      tier,
      newly_refused: isNewlyRefused(tally),
      ...tallyToJson(tally),
    })),
  };
}

function tallyToJson(tally: Tally) {
  return {
    requests: tally.requests,
    recorded: { refused: tally.recordedRefused },
    present: outcomesToJson(tally.present),
    candidate: outcomesToJson(tally.candidate),
    difference: differenceOf(tally),
  };
}

function outcomesToJson({ refused, shadowRefused, worstMinute }: Outcomes) {
  const worst = worstMinute && { at: timeOrNull(worstMinute.atMs), refused: worstMinute.refused };
  return { refused, shadow_refused: shadowRefused, worst_minute: worst ?? null };
}

export function printSimulation(
  writer: Pick<CommandContext, 'write'>,
  { candidate, read, result }: SimulationReport,
): void {
  const { total, organizations, limits } = result;
  const span = `${shortTime(result.fromMs)} to ${shortTime(result.toMs)}`;
  const amount = `${countText(total.requests, 'request')} of ${countText(organizations.length, 'organization')}`;
  printLine(writer, `Replayed ${amount}, ${span}.`);
  for (const note of notesOf(read, result)) printLine(writer, note);

  const worse = byDifference(organizations).filter((one) => differenceOf(one) > 0);
  printText(writer, `\nRefused more often under ${candidate}:`);
  printTable(
    writer,
    ['organization', 'tier', ...COLUMN_HEADS],
    worse
      .slice(0, SHOWN_MAX)
      .map(({ organization, tier, ...tally }) => [organization ?? '(anonymous)', tier, ...cellsOf(tally)]),
  );
  if (worse.length > SHOWN_MAX) printLine(writer, `… and ${worse.length - SHOWN_MAX} more; --json names them all.`);
  const newly = organizations.filter(isNewlyRefused).length;
  printLine(writer, `Of them, ${newly} would be refused requests for the first time.`);

  printLine(writer, '');
  const rows = [...result.tiers].map(([tier, tally]) => [tier, ...cellsOf(tally)]);
  printTable(writer, ['tier', ...COLUMN_HEADS], [...rows, ['all', ...cellsOf(total)]]);
  if (limits.size === 0) return;
  printText(writer, '\nRequests that did not fit, by limit, enforced or not:');
  printTable(
    writer,
    ['limit', 'present', 'candidate'],
    [...limits].map(([limit, tally]) => [limit, String(tally.present), String(tally.candidate)]),
  );
}

const COLUMN_HEADS = ['requests', 'recorded', 'present', 'candidate', 'difference', 'shadow', 'worst minute'];

/**
 * Returns the cells of a row: the refusals in the log, by the current rules and by the candidate, then the candidate's shadow refusals and
 * worst minute.
 */
function cellsOf(tally: Tally): string[] {
  const { present, candidate } = tally;
  const worst = candidate.worstMinute;
  const difference = differenceOf(tally);
  return [
    String(tally.requests),
    String(tally.recordedRefused),
    String(present.refused),
    String(candidate.refused),
    difference > 0 ? `+${difference}` : String(difference),
    String(candidate.shadowRefused),
    worst === undefined ? '' : `${shortTime(worst.atMs)} (${worst.refused})`,
  ];
}

function notesOf({ unused }: LinesRead, { late, unknownOperations }: SimulationResult): string[] {
  const notes: string[] = [];
  const left = unused.unreadable + unused.other + unused.before_limits;
  if (left > 0) {
    const why = `${unused.before_limits} of requests that ended before the limits, ${unused.other} about other things, ${unused.unreadable} not written by a gateway`;
    notes.push(`Not used: ${countText(left, 'line')} (${why}).`);
  }
  if (late > 0) notes.push(`Far out of order, and therefore replayed too late: ${countText(late, 'request')}.`);
  if (unknownOperations.size > 0) {
    const names = [...unknownOperations.keys()].slice(0, SHOWN_MAX).join(', ');
    notes.push(`In no contract, and therefore replayed with cost 1 and no extra limit: ${names}.`);
  }
  return notes;
}

function differenceOf({ present, candidate }: Tally): number {
  return candidate.refused - present.refused;
}

function isNewlyRefused({ present, candidate }: Tally): boolean {
  return present.refused === 0 && candidate.refused > 0;
}

function byDifference(organizations: readonly OrganizationTally[]): OrganizationTally[] {
  return organizations.toSorted((one, other) => differenceOf(other) - differenceOf(one));
}
