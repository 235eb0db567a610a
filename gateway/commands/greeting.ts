// The greeting of a started gateway: its addresses, upstreams without a service, and on the sandbox a request to try.

import type { Settings } from '../config/load.ts';

/** Facts about a started gateway. */
export interface Started {
  readonly port: number;
  /** Port of the plaintext listener beside the TLS listener, if there is one. */
  readonly plainPort: number | undefined;
  readonly isTls: boolean;
  readonly adminPort: number;
  readonly operations: number;
  /** Upstreams that are answered for from their contracts. */
  readonly fromContract: readonly string[];
  readonly demoKey: string | undefined;
}

export function greetingOf(
  { port, isTls, adminPort, operations, fromContract, demoKey }: Started,
  { host, adminHost }: Settings,
): string {
  const shown = (bound: string) => (bound === '0.0.0.0' || bound === '::' ? 'localhost' : bound);
  const url = `http${isTls ? 's' : ''}://${shown(host)}:${port}`;
  const lines = [
    `gateway   ${url}   ${operations} operations`,
    `operators http://${shown(adminHost)}:${adminPort}/status`,
  ];
  if (fromContract.length > 0) {
    lines.push(
      `examples  ${fromContract.join(', ')}: answered from the contract, without a service; not for production`,
    );
  }
  if (demoKey !== undefined) {
    lines.push(
      '',
      'Everything behind it is a sandbox with demo data. Try it (the key works for 24 hours):',
      '',
      `  curl '${url}/v1/customers?limit=3' -H 'Authorization: Bearer ${demoKey}'`,
      '',
    );
  }
  return `${lines.join('\n')}\n`;
}
