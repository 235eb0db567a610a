// Addresses without a service behind them, which name the sandbox, the contract of an upstream, or the gateway itself.

import type { Mode } from '../../exchange/caller.ts';

/** The configuration appends the name of the upstream: `examples:<name>`. */
const EXAMPLES = 'examples:';
/** Addresses of the operations of the gateway's own contract, and of the operations of browser sessions. */
const OWN = 'gateway:';
const SESSIONS = 'session:';

const SANDBOX = 'sandbox:';

interface Addresses {
  readonly live: readonly string[];
  readonly test?: readonly string[] | undefined;
}

/** Whether the address is a service of the sandbox: `sandbox:<service>`. */
export function isOnSandbox(address: string): boolean {
  return address.startsWith(SANDBOX);
}

/** Returns the service of a sandbox address. */
export function sandboxServiceOf(address: string): string {
  return address.slice(SANDBOX.length);
}

/** Whether the gateway answers for this address from the contract of its upstream. */
export function answersFromContract(address: string): boolean {
  return address.startsWith(EXAMPLES);
}

/** Whether the gateway itself executes the operations of this address. */
export function isGatewayItself(address: string): boolean {
  return address === OWN || address === SESSIONS;
}

/** Whether requests for this address stay in the process. */
export function hasNoConnection(address: string): boolean {
  return answersFromContract(address) || isGatewayItself(address);
}

/** Returns the upstream whose contract answers for an address. */
export function upstreamOfExamples(address: string): string {
  return address.slice(EXAMPLES.length);
}

/** Returns the modes in which the contract of an upstream answers for it. */
export function modesFromContract({ live, test = [] }: Addresses): Mode[] {
  return [
    ...(live.some(answersFromContract) ? (['live'] as const) : []),
    ...(test.some(answersFromContract) ? (['test'] as const) : []),
  ];
}

/** An upstream, and the modes in which the gateway answers for it from its contract. */
export type FromContract = readonly [upstream: string, modes: readonly Mode[]];

/** Returns the upstreams for which the gateway answers from their contracts. */
export function upstreamsFromContract(upstreams: Readonly<Record<string, Addresses>>): FromContract[] {
  const all = Object.entries(upstreams).map(([name, addresses]) => [name, modesFromContract(addresses)] as const);
  return all.filter(([, modes]) => modes.length > 0);
}

/** Whether no address leads to a real service. */
export function isSimulated({ live, test = [] }: Addresses): boolean {
  return [...live, ...test].every((address) => isOnSandbox(address) || hasNoConnection(address));
}
