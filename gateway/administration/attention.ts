// The actions on alerts, which read the causes that need attention, and silence alerts for a time. Throws validation_failed,
// records_unavailable.

import type { AlertsReport, CausesReport } from '../alerts/report.ts';
import { isCausePattern } from '../alerts/settings.ts';
import { GatewayError } from '../catalogue/errors.ts';
import { toFields, violationInBody } from '../contract/violations/violations.ts';
import type { ViolationCode } from '../shared/contracts/violation-codes.ts';
import type { ActionAnswer } from '../shared/questions/console-action.ts';
import type { Actor } from './actor.ts';
import type { AdministrationDeps } from './deps.ts';

export type Attention = AlertsReport & CausesReport;

type FleetDeps = Pick<AdministrationDeps, 'askFleet'>;

/** Reads the causes from the process of the console, which knows all instances. */
export async function readAttention({ askFleet }: FleetDeps): Promise<Attention> {
  const [answer] = await askFleet({ about: 'attention' });
  // A worker that cannot reach its primary gets no answer.
  if (answer === undefined) throw new GatewayError('records_unavailable');
  return answer as Attention;
}

interface SilenceRequest {
  /** Pattern of the ids of causes. */
  readonly causes: string;
  /** 0 ends the silence. */
  readonly seconds: number;
  readonly reason: string;
  readonly dryRun: boolean;
}

const SILENCE_SECONDS_MIN = 60;

/** Begins or ends a silence. Resolves with its end, ISO 8601; with null if it was ended. */
export async function silenceAlerts(
  { askFleet }: FleetDeps,
  { by, requestId = '' }: Actor,
  { causes: target, seconds, reason, dryRun }: SilenceRequest,
): Promise<string | null> {
  if (!isCausePattern(target)) throw refusalOf('/causes', 'pattern_mismatch', 'No cause has such an id.');
  if (seconds > 0 && seconds < SILENCE_SECONDS_MIN)
    throw refusalOf('/seconds', 'too_small', `Must be 0, or at least ${SILENCE_SECONDS_MIN}.`);
  const action = { action: 'silence-alerts', target, seconds, reason, dryRun } as const;
  const [answer] = (await askFleet({ about: 'silence', action, requestId, by })) as readonly (
    | ActionAnswer
    | undefined
  )[];
  if (answer?.status !== 200) throw new GatewayError('records_unavailable');
  return (answer.body as { readonly after: { readonly silent_until: string | null } }).after.silent_until;
}

function refusalOf(pointer: string, code: ViolationCode, message: string): GatewayError {
  return new GatewayError('validation_failed', { fields: toFields([violationInBody(pointer, { code, message })]) });
}
