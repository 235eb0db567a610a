// Writes the greeting of a started gateway, with the addresses of its pages, upstreams without a service, and how to send a first request.

import type { Settings } from '../config/settings.ts';
import type { Log } from '../observe/log/log.ts';
import { type OperationCount, operationCountText } from '../serving/route-rows.ts';
import { ACCOUNT_SCOPES } from '../shared/contracts/scopes.ts';
import type { FromContract } from '../upstream/targets/addresses.ts';
import type { OpenFiles } from './open-files.ts';

/** Facts about a started gateway. */
export interface StartedGateway {
  readonly port: number;
  /** The port of the plaintext listener; undefined if there is none beside the TLS listener. */
  readonly plainPort: number | undefined;
  readonly isTls: boolean;
  readonly adminPort: number;
  readonly operations: OperationCount;
  /** Upstreams whose contracts answer for them. */
  readonly fromContract: readonly FromContract[];
  readonly firstSteps: FirstSteps;
  readonly openFiles: OpenFiles;
  readonly log: Pick<Log, 'logger'>;
}

/** The steps for a first request that a start prints; empty if the gateway has an organization besides the demo organization. */
export interface FirstSteps {
  /** A key of the demo organization. */
  readonly demoKey?: string;
  /** A tier for the first organization. */
  readonly firstTier?: string;
  /** Whether the gateway has the account page, which needs live keys with the scopes of the gateway's own contract. */
  readonly hasAccount?: boolean;
}

/** Returns the text of a start for a person. @param warning a sentence; undefined if there is none, or if the log has it */
export function greetingOf(
  { port, isTls, adminPort, operations, fromContract, firstSteps }: StartedGateway,
  { host, adminHost }: Settings,
  warning: string | undefined,
): string {
  const shownHost = (bound: string) => (bound === '0.0.0.0' || bound === '::' ? 'localhost' : bound);
  const url = `http${isTls ? 's' : ''}://${shownHost(host)}:${port}`;
  const adminUrl = `http://${shownHost(adminHost)}:${adminPort}`;
  const lines = [
    `gateway        ${url}   ${operationCountText(operations)}`,
    `documentation  ${url}/docs`,
    `console        ${adminUrl}/`,
    `health         ${adminUrl}/readyz`,
  ];
  if (fromContract.length > 0) {
    const names = fromContract.map(([name, modes]) => `${name} (${modes.join(' and ')})`).join(', ');
    const advice = fromContract.some(([, modes]) => modes.includes('live')) ? '; not for production' : '';
    lines.push(`examples       ${names}: answered from the contract, without a service${advice}`);
  }
  if (warning !== undefined) lines.push(`warning        ${warning}`);
  return `${[...lines, ...textOf(firstSteps, url)].join('\n')}\n`;
}

function textOf({ demoKey, firstTier, hasAccount = false }: FirstSteps, url: string): string[] {
  const scopes = ["'*'", ...(hasAccount ? ACCOUNT_SCOPES : [])].join(' ');
  if (demoKey !== undefined) {
    return [
      '',
      'The gateway forwards to a sandbox with demo data. Send a first request (the key works for 24 hours):',
      '',
      `  curl '${url}/v1/customers?limit=3' -H 'Authorization: Bearer ${demoKey}' -w '\\n'`,
      '',
      // The key is in the fragment of the URL. A browser does not send the fragment, so no server logs the key.
      'Or send it from the documentation, which this link opens with the key:',
      '',
      `  ${url}/docs#key=${demoKey}`,
      '',
      ...(hasAccount ? accountText(scopes, url) : []),
    ];
  }
  if (firstTier === undefined) return [];
  return [
    '',
    'It has no organization yet, so it accepts no key. Create an organization, and a key, which is shown once:',
    '',
    `  bin/gateway orgs create --id org_acme --name Acme --tier ${firstTier}`,
    `  bin/gateway keys create --org org_acme --mode live --scopes ${scopes}`,
    '',
  ];
}

function accountText(scopes: string, url: string): string[] {
  return [
    `${url}/docs/account shows limits, use and keys of an organization. It takes a live key:`,
    '',
    `  bin/gateway keys create --org org_demo --mode live --name 'Account page' --scopes ${scopes}`,
    '',
  ];
}
