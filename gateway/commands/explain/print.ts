// Prints an exchange for people: the verdict, then one block per stage.

import type { ExchangeReport, StageReport } from '../../explain/report.ts';
import { durationText } from '../../shared/duration-text.ts';
import type { CommandContext } from '../context.ts';
import { printLine } from '../print.ts';

const STAGE_WIDTH = 'authenticate'.length;
const OUTCOME_WIDTH = 'not reached'.length;
const DURATION_WIDTH = '100.5 ms'.length;

export function printReport(
  context: Pick<CommandContext, 'write'>,
  { request_id, time, verdict, stages }: Omit<ExchangeReport, 'record'>,
): void {
  printLine(context, `${request_id}${time === undefined ? '' : `, ${time}`}`);
  printLine(context, verdict);
  printLine(context, '');
  for (const stage of stages) for (const line of linesOf(stage)) printLine(context, line);
}

function linesOf({ stage, outcome, told, duration_ms: durationMs }: StageReport): string[] {
  const duration = durationMs === undefined ? '' : durationText(durationMs);
  const head = `${stage.padEnd(STAGE_WIDTH)}  ${outcome.padEnd(OUTCOME_WIDTH)}  ${duration.padStart(DURATION_WIDTH)}`;
  const indent = ' '.repeat(head.length);
  const [first = '', ...more] = told;
  return [`${head}  ${first}`.trimEnd(), ...more.map((line) => `${indent}  ${line}`)];
}
