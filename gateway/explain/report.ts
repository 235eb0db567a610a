// Makes a report from the log line of an exchange, with the verdict in one sentence, and the facts about each stage. Pure.

import type { StageOutcome } from '../catalogue/capability.ts';
import { REFUSALS } from '../catalogue/errors.ts';
import { onlyViolation } from '../shared/contracts/violation-text.ts';
import { hasFailed, wasRefused } from '../shared/failed-requests.ts';
import { durationText } from '../shared/text.ts';
import { STAGES, type StageName, UNREHEARSED_STAGES } from '../stages.ts';
import { durationsOf, type LogLine } from './log-line.ts';
import { type NextSteps, nextStepsOf } from './next-steps.ts';
import type { PresentCause } from './present-cause.ts';
import { type StageText, stageText } from './stage-text.ts';

export interface StageReport {
  readonly stage: StageName;
  readonly outcome: StageOutcome;
  /** The known facts, one in each line. */
  readonly told: readonly string[];
  /** Absent if the line has no times. */
  readonly duration_ms?: number;
}

export interface ExchangeReport {
  readonly request_id: unknown;
  readonly client_request_id?: unknown;
  readonly time: string | undefined;
  /** One sentence with the outcome. */
  readonly verdict: string;
  readonly stages: readonly StageReport[];
}

/** The report with the members that only operators see. */
export interface OperatorReport extends ExchangeReport {
  readonly record: LogLine;
  /** Whether the gateway refused the request before it reached the service. */
  readonly refused: boolean;
  /** Absent if the request was answered. */
  readonly next?: NextSteps;
}

/**
 * Creates a function that reports an exchange. It also reports exchanges without a stage, such as requests through a tunnel and connections
 * that ended before a request. The argument `failed` says whether the service failed, because the members for clients may not show it.
 */
export function createExchangeReport(textOf: StageText): (line: LogLine, failed: boolean) => ExchangeReport {
  return (line, failed) => {
    const last = STAGES.indexOf(line.stage as StageName);
    const durations = durationsOf(line);
    const stages = STAGES.map((stage, index): StageReport => {
      const outcome = stageOutcomeOf(line, index, last);
      const durationMs = outcome === 'not reached' ? undefined : durations[stage];
      return {
        stage,
        outcome,
        told: outcome === 'not reached' ? [] : textOf(stage, line, outcome),
        ...(durationMs === undefined ? {} : { duration_ms: durationMs }),
      };
    });
    const { request_id, client_request_id, time } = line;
    return {
      request_id,
      ...(client_request_id === undefined ? {} : { client_request_id }),
      time: typeof time === 'number' ? new Date(time).toISOString() : undefined,
      verdict: verdictOf(line, failed),
      stages,
    };
  };
}

const reportOf = createExchangeReport(stageText);

/** Reports an exchange to operators. @param causes the current causes of the gateway, if they are known */
export function exchangeReport(line: LogLine, causes: readonly PresentCause[] = []): OperatorReport {
  const next = nextStepsOf(line, causes);
  return {
    ...reportOf(line, hasFailed(line)),
    ...(next !== undefined && { next }),
    refused: wasRefused(line),
    record: line,
  };
}

function stageOutcomeOf({ code, replayed, tunnel, rehearsed }: LogLine, index: number, last: number): StageOutcome {
  if (index > last) return 'not reached';
  if (rehearsed === true && (STAGES[index] as StageName) in UNREHEARSED_STAGES) return 'not tried';
  if (index < last || (rehearsed === true && code === undefined)) return 'passed';
  // A request through a tunnel passes `admit` only.
  if (tunnel !== undefined) return code === undefined ? 'answered' : 'refused';
  if (replayed === true) return 'answered';
  if (code !== undefined) return 'refused';
  return 'answered';
}

function verdictOf(line: LogLine, failed: boolean): string {
  const { method, route, stage, status, code, tunnel, replayed, rehearsed } = line;
  const what = `${method} ${route ?? (tunnel === undefined ? '(no operation)' : `through the tunnel ${tunnel}`)}`;
  const after = typeof line.duration_ms === 'number' ? ` after ${durationText(line.duration_ms)}` : '';
  if (rehearsed === true) return `${what} ${rehearsedVerdict(line)}`;
  if (replayed === true) return `${what} was answered with ${status}${after}: the stored answer to an earlier request.`;
  if (status === 499) return `${what}: the client left${after}, ${whenItLeft(line)}.`;
  const broken = line.answer_violations === undefined ? '' : ', but the answer breaks its contract';
  if (code === undefined) return `${what} was answered with ${status}${after}${broken}.`;
  if (failed) return `${what} failed with ${status} ${code}${after}.${whyFailed(line)}`;
  return `${what} was refused by ${stage} with ${status} ${code}${after}.${whyRefused(line)}`;
}

/**
 * Returns the cause of a suspension, the only violation, or the sentence about the code. Several violations are in the facts of the stage.
 */
function whyRefused({ code, violations, cause }: LogLine): string {
  // Clients are not told the cause.
  if (code === 'upstream_auth_failed' && cause !== undefined) return ` Nothing was sent: ${cause}.`;
  const only = code === 'validation_failed' ? onlyViolation(violations) : undefined;
  return only === undefined ? sentenceFor(code) : ` ${only.where}: ${only.reason}.`;
}

function whenItLeft({ bytes_out: bytesOut, stream }: LogLine): string {
  if (stream !== undefined) return 'which ended the stream';
  return Number(bytesOut) > 0 ? 'before the whole answer was sent' : 'before it was answered';
}

function rehearsedVerdict(line: LogLine): string {
  const { stage, status, code, tunnel, target } = line;
  if (code !== undefined) return `would be refused by ${stage} with ${status} ${code}.${whyRefused(line)}`;
  if (target !== undefined) return `would be sent to ${target}.`;
  return tunnel === undefined ? 'would be answered by the gateway itself.' : 'would be passed on as it is.';
}

/** Says why the service alone is not to blame for a timeout, because it got only the time that the queue had left. */
function whyFailed(line: LogLine): string {
  const { code, queued_ms: queuedMs } = line;
  if (code !== 'upstream_timeout' || typeof queuedMs !== 'number') return sentenceFor(code);
  const leftMs = (durationsOf(line).forward ?? 0) - queuedMs;
  const left = leftMs > 0 ? `within the ${durationText(leftMs)} that were left` : 'in the time that was left';
  return ` It waited ${durationText(queuedMs)} for its turn, and the service did not respond ${left}.`;
}

function sentenceFor(code: unknown): string {
  const name = String(code);
  return Object.hasOwn(REFUSALS, name) ? ` ${REFUSALS[name as keyof typeof REFUSALS].message}` : '';
}
