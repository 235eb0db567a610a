// The operations on alerts, for operators, which concern causes that need attention, receivers, and silences.

import { readAttention, silenceAlerts } from '../attention.ts';
import type { Handlers } from './call.ts';

export const ALERTS: Handlers = {
  async listAlerts(deps) {
    const { causes, receivers, ...report } = await readAttention(deps);
    return {
      body: {
        ...report,
        // All of them last.
        causes: causes.map(({ state: _, until: __, ...cause }) => cause),
        receivers: Object.entries(receivers).map(([name, receiver]) => ({ name, ...receiver })),
      },
    };
  },

  async silenceAlerts(deps, call) {
    const { causes, seconds, reason = '' } = call.body as { causes: string; seconds: number; reason?: string };
    const wanted = { causes, seconds, reason, dryRun: call.dryRun };
    return { body: { causes, silent_until: await silenceAlerts(deps, await call.actor(), wanted) } };
  },
};
