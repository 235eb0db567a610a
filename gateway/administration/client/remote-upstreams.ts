// The actions on upstreams, by the contract of a remote gateway. They reject with ServerProblem.

import type { UpstreamReport } from '../../console/causes/cause.ts';
import { CREDENTIAL_STATES, type CredentialState } from '../../shared/contracts/upstreams.ts';
import type { Actions } from '../actions.ts';
import type { UpstreamView } from '../upstream-states.ts';
import type { AdministrationClient } from './client.ts';
import { requireMembers, rowsIn } from './records.ts';
import { orAbsent } from './remote-lists.ts';

export function remoteUpstreams({ server, ask }: AdministrationClient): Actions['upstreams'] {
  return {
    async states() {
      const views = rowsIn<UpstreamView>(server, await ask('GET', '/upstreams'), 'data', {
        name: 'string',
        state: 'string',
      });
      const upstreams = views.map((view): [string, UpstreamReport] => {
        const members = view as unknown as Parameters<typeof rowsIn>[1];
        rowsIn(server, members, 'targets', { address: 'string', mode: 'string', state: 'string' });
        return [view.name, reportOf(view)];
      });
      return { lifecycle: null, upstreams: Object.fromEntries(upstreams) };
    },

    async retry(name) {
      const asking = ask('POST', `/upstreams/${encodeURIComponent(name)}/retry`);
      const members = await orAbsent(asking, `There is no upstream ${name}`);
      requireMembers(server, members, { retried: 'boolean' });
      return members.retried as boolean;
    },
  };
}

/** Returns the report from which a gateway made this view. */
function reportOf({ state, targets }: UpstreamView): UpstreamReport {
  const states = Object.keys(CREDENTIAL_STATES) as CredentialState[];
  const credential = states.find((one) => CREDENTIAL_STATES[one].upstreamState === state);
  return {
    targets: targets.map((target) => ({ ...target, state: target.state === 'up' ? 'healthy' : target.state })),
    ...(state === 'breaker_open' && { breaker: { '': 'open' } }),
    ...(credential !== undefined && { credential }),
  };
}
