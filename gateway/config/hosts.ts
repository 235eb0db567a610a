// The shape of `hosts` in gateway.yaml: names under which parts of what is served can be had on their own, on the same listener.

import { z } from 'zod';
import type { Mistake } from '../config-errors.ts';
import type { Source } from '../source.ts';

export const site = z.enum(['api', 'mail', 'jmap', 'panel']);

const hostName = z
  .string()
  .regex(
    /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/,
    'must be a host name in lower case, without port and without a dot at its end',
  );

/** Empty: every host name is served, and there is no panel. Otherwise only these, and the host of publicUrl. */
export const hosts = z.strictObject({
  /** Default: the host of publicUrl. */
  api: hostName.optional(),
  /** Default, like the next: where the API is. */
  mail: hostName.optional(),
  jmap: hostName.optional(),
  /** Default: nowhere. */
  panel: hostName.optional(),
});

export type Hosts = z.output<typeof hosts>;
export type HostName = z.output<typeof site>;

/** The panel's paths are everybody's paths, so it cannot share a name. Pushes mistakes. */
export function checkHosts(all: Hosts, publicUrl: string, source: Source, mistakes: Mistake[]): void {
  const { panel } = all;
  const others = (['api', 'mail', 'jmap'] as const).map((of) => hostOfSite(of, all, publicUrl));
  if (panel === undefined || !others.includes(panel)) return;
  const reason = `"${panel}" is the name of something else already, and the panel needs all paths of its host.`;
  mistakes.push(source.mistakeAt(['hosts', 'panel'], reason, 'Give the panel a host name that nothing else has.'));
}

/** The host name a site is found under; undefined: nowhere. */
export function hostOfSite(of: HostName, all: Hosts, publicUrl: string): string | undefined {
  return of === 'panel' ? all.panel : (all[of] ?? all.api ?? new URL(publicUrl).hostname);
}
