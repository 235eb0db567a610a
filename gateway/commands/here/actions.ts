// The actions on this machine, on its stores, or through the gateway that runs here.

import type { Actions } from '../../administration/actions.ts';
import type { CommandContext, MachineContext } from '../context.ts';

type Open<Concern extends keyof Actions> = (context: MachineContext) => Promise<Actions[Concern]>;

const OPENINGS: { readonly [Concern in keyof Actions]: Open<Concern> } = {
  organizations: async (context) => (await import('./organizations.ts')).organizationsHere(context),
  keys: async (context) => (await import('./keys.ts')).keysHere(context),
  audit: async (context) => (await import('./audit.ts')).auditHere(context),
  limits: async (context) => (await import('./limits.ts')).limitsHere(context),
  usage: async (context) => (await import('./usage.ts')).usageHere(context),
  requests: async (context) => (await import('./requests.ts')).requestsHere(context),
  deprecations: async (context) => (await import('./deprecations.ts')).deprecationsHere(context),
  upstreams: async (context) => (await import('./running-gateway.ts')).upstreamsHere(context),
  alerts: async (context) => (await import('./running-gateway.ts')).alertsHere(context),
};

export function onThisMachine(machine: MachineContext): CommandContext {
  return { ...machine, actions: (concern) => OPENINGS[concern](machine) };
}
