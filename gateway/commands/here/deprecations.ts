// Reads the callers of deprecated operations from the stores of this machine.

import type { Actions } from '../../administration/actions.ts';
import { openUseStore } from '../../versions/deprecated-calls.ts';
import { deprecationsOf } from '../../versions/deprecation.ts';
import { noticesOf } from '../../versions/notices.ts';
import { affectedBy, jsonOf } from '../../versions/report.ts';
import { dayOf } from '../../versions/store.ts';
import type { MachineContext } from '../context.ts';
import { knownHere } from './deps.ts';

export function deprecationsHere(context: MachineContext): Actions['deprecations'] {
  async function affectedSince(sinceMs: number) {
    const { config, contracts } = await knownHere(context);
    const { gateway } = config;
    const operations = contracts.operations.map(({ operation }) => operation);
    const deprecations = deprecationsOf(operations, gateway, gateway.publicUrl).ofOperations.values();
    const { store } = await context.keyStore();
    return affectedBy(await usesSince(context, sinceMs), deprecations, await store.organizations.list());
  }

  return {
    uses: async (sinceMs) => (await affectedSince(sinceMs)).map(jsonOf),
    async notices(sinceMs) {
      const { config } = await knownHere(context);
      return noticesOf(await affectedSince(sinceMs), dayOf(sinceMs), config.gateway.publicUrl);
    },
  };
}

async function usesSince(context: MachineContext, sinceMs: number) {
  const store = await openUseStore({ ...context.settings(), now: context.now });
  try {
    return await store.list(dayOf(sinceMs));
  } catch {
    return context.fail('The store of deprecated calls cannot be reached.');
  } finally {
    await store.close();
  }
}
