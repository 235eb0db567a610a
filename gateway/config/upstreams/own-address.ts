// Refuses the gateway's own listeners as the address of a service. Each request would come back to the gateway.

import type { Mistake } from '../../shared/mistakes.ts';
import type { Source } from '../../shared/yaml-source.ts';
import { type Environment, PORT_DEFAULTS } from '../settings.ts';
import type { UpstreamEntry } from './upstreams-file.ts';

const THIS_MACHINE = /^(localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/;
const ANY_OR_LOCAL = /^(localhost|127(\.\d+){3}|0\.0\.0\.0|::1?|)$/;

export function checkOwnAddresses(
  upstreams: Readonly<Record<string, UpstreamEntry>>,
  source: Source,
  environment: Environment,
  mistakes: Mistake[],
): void {
  for (const [name, { live = [], test = [] }] of Object.entries(upstreams)) {
    for (const [mode, addresses] of Object.entries({ live, test })) {
      const own = addresses.flatMap((address) => listenerAt(address, environment) ?? [])[0];
      if (own === undefined) continue;
      const reason = `the gateway itself listens at this address (${own}), so each request would come back to it.`;
      mistakes.push(source.mistakeAt(['upstreams', name, mode], reason, `Write that of the service, or set ${own}.`));
    }
  }
}

/** Returns the variable with the port of the own listener at an address; undefined for another server. */
function listenerAt(address: string, environment: Environment): string | undefined {
  const url = URL.parse(address);
  if (url === null || !THIS_MACHINE.test(url.hostname)) return undefined;
  const listeners = { PORT: environment.HOST, ADMIN_PORT: environment.ADMIN_HOST };
  return Object.entries(listeners).find(
    ([port, host = '']) =>
      ANY_OR_LOCAL.test(host) && url.port === (environment[port] || String(PORT_DEFAULTS[port as 'PORT'])),
  )?.[0];
}
