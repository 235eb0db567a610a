// The actions on upstreams, through the gateway that runs on this machine.

import type { Actions } from '../../administration/actions.ts';
import type { StatusForCauses } from '../../console/cause.ts';
import { complaintOf } from '../admin-client.ts';
import type { MachineContext } from '../context.ts';
import { unknownName } from '../read.ts';
import { askRunning } from '../running-gateway.ts';

export function upstreamsHere(context: MachineContext): Actions['upstreams'] {
  const { adminClient, actor: by, fail } = context;
  return {
    async states() {
      const { lifecycle = null, upstreams = {} } = (await askRunning(context, '/status')) as StatusForCauses;
      return { lifecycle, upstreams };
    },
    async retry(name) {
      const client = adminClient();
      const answer = await client.ask('POST', `/upstreams/retry?${new URLSearchParams({ upstream: name, by })}`);
      if (answer === undefined) return fail(`No gateway answers at ${client.origin}.`);
      const { status, body } = answer;
      if (body.code === 'upstream_unknown') {
        const { config } = await context.configuration();
        return context.usage(unknownName('upstream', name, Object.keys(config.upstreams)));
      }
      if (status !== 200) return fail(complaintOf(client, answer));
      return Array.isArray(body.retried) && body.retried.length > 0;
    },
  };
}
