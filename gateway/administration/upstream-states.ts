// Makes the states of upstreams and their targets for operators, from the reports of the parts of this process. Pure.

import type { Mode } from '../exchange/caller.ts';
import { CREDENTIAL_STATES, type CredentialState } from '../shared/contracts/upstreams.ts';

export interface UpstreamView {
  readonly name: string;
  /** `ready`, or why requests fail. */
  readonly state: 'ready' | 'credential_refused' | 'unavailable' | 'breaker_open' | 'overloaded';
  readonly targets: readonly {
    /** The address in upstreams.yaml. */
    readonly address: string;
    readonly mode: Mode;
    /** `up`, or the reason why the target gets fewer requests than others. */
    readonly state: string;
  }[];
}

interface Addresses {
  readonly live: readonly string[];
  readonly test?: readonly string[] | undefined;
}

interface Targets {
  readonly targets: UpstreamView['targets'];
  readonly breaker: Readonly<Record<string, string>>;
}

interface Access {
  readonly credential?: CredentialState;
  readonly shedding: boolean;
}

/** Returns the states. An upstream that has had no request yet is ready. @param upstreams the upstreams of the configuration */
export function upstreamStates(
  upstreams: Readonly<Record<string, Addresses>>,
  targetSets: Readonly<Record<string, Targets>>,
  accesses: Readonly<Record<string, Access>>,
): UpstreamView[] {
  return Object.entries(upstreams).map(([name, addresses]) => {
    const { targets = targetsOf(addresses), breaker = {} } = targetSets[name] ?? {};
    return { name, state: stateOf({ targets, breaker }, accesses[name]), targets: targets.map(targetState) };
  });
}

function targetsOf({ live, test = [] }: Addresses): UpstreamView['targets'] {
  const statesOf = (mode: Mode, addresses: readonly string[]) =>
    addresses.map((address) => ({ address, mode, state: 'healthy' }));
  return [...statesOf('live', live), ...statesOf('test', test)];
}

function targetState({ address, mode, state }: UpstreamView['targets'][number]) {
  return { address, mode, state: state === 'healthy' ? 'up' : state };
}

/** States in which a target gets no request, or one request at a time. */
const UNUSED_TARGET_STATES = ['unhealthy', 'ejected', 'trial'];

function stateOf({ targets, breaker }: Targets, access: Access | undefined): UpstreamView['state'] {
  const suspended = access?.credential && CREDENTIAL_STATES[access.credential].upstreamState;
  if (suspended !== undefined) return suspended;
  const modes = Map.groupBy(targets, ({ mode }) => mode);
  if ([...modes.values()].some((some) => some.every(({ state }) => UNUSED_TARGET_STATES.includes(state))))
    return 'unavailable';
  if (Object.values(breaker).some((state) => state !== 'closed')) return 'breaker_open';
  return access?.shedding === true ? 'overloaded' : 'ready';
}
