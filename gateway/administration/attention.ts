// What needs attention and who is told of it, and the action that keeps alerts back for a time. Throws validation_failed,
// records_unavailable.

import type { CausesReport } from '../alerts/causes-report.ts';
import type { AlertsReport } from '../alerts/report.ts';
import { isCausePattern } from '../alerts/settings.ts';
import { GatewayError } from '../catalogue/errors.ts';
import { toFields, violationInBody } from '../contract/violations/violations.ts';
import type { ViolationCode } from '../shared/contracts/violation-codes.ts';
import type { ActionAnswer } from '../shared/questions/console-action.ts';
import type { Actor } from './actor.ts';
import type { AdministrationDeps } from './deps.ts';

export type Attention = AlertsReport & CausesReport;

type FleetDeps = Pick<AdministrationDeps, 'askFleet'>;

/** Asks the process of the console, which knows all instances. */
export async function readAttention({ askFleet }: FleetDeps): Promise<Attention> {
  const [answer] = await askFleet({ about: 'attention' });
  // A worker that cannot reach its primary gets no answer.
  if (answer === undefined) throw new GatewayError('records_unavailable');
  return answer as Attention;
}

interface SilenceWanted {
  /** Pattern of the ids of causes. */
  readonly causes: string;
  /** 0 ends the silence. */
  readonly seconds: number;
  readonly reason: string;
  readonly dryRun: boolean;
}

const SILENCE_SECONDS_MIN = 60;

/** Resolves with the end of the silence, ISO 8601; with null if there is none any more. */
export function silenceAlerts({ askFleet }: FleetDeps) {
  return async (
    { by, requestId = '' }: Actor,
    { causes: target, seconds, reason, dryRun }: SilenceWanted,
  ): Promise<string | null> => {
    if (!isCausePattern(target)) throw refused('/causes', 'pattern_mismatch', 'No cause has such an id.');
    if (seconds > 0 && seconds < SILENCE_SECONDS_MIN)
      throw refused('/seconds', 'too_small', `Must be 0, or at least ${SILENCE_SECONDS_MIN}.`);
    const action = { action: 'silence-alerts', target, seconds, reason, dryRun } as const;
    const [answer] = (await askFleet({ about: 'silence', action, requestId, by })) as readonly (
      | ActionAnswer
      | undefined
    )[];
    if (answer?.status !== 200) throw new GatewayError('records_unavailable');
    return (answer.body as { readonly after: { readonly silent_until: string | null } }).after.silent_until;
  };
}

function refused(pointer: string, code: ViolationCode, message: string): GatewayError {
  return new GatewayError('validation_failed', { fields: toFields([violationInBody(pointer, { code, message })]) });
}
