// Makes the table that shows whether each step of docs/mail.md holds at a mail server, for entries with `product: stalwart`.

import type { Secrets } from '../../../config/secrets.ts';
import type { UpstreamEntry } from '../../../config/upstreams/upstreams-file.ts';
import type { Configuration } from '../../../configuration.ts';
import { addressOfSite } from '../../../edge/admission/sites.ts';
import { parseCredential } from '../../../upstream/credentials/credential-kinds.ts';
import { type Finding, fail, ok, warn } from '../../finding.ts';
import type { Backend } from '../backend.ts';
import { type FactsOptions, reloadReply, requestsOf, stalwartFacts } from './facts.ts';
import { reloadStep, type StepRow, stepRows } from './rows.ts';

interface StepTable {
  readonly rows: readonly StepRow[];
  readonly requests: number;
  /** Whether the login works. Without a login no other request makes sense, and each may be counted as a failure. */
  readonly hasLogin: boolean;
}

interface StepTableOptions {
  readonly configuration: Configuration;
  readonly secrets: Pick<Secrets, 'read'>;
  readonly name: string;
  readonly address: string;
  readonly backend: Backend;
}

/**
 * Returns the table; undefined for an upstream that has no such table, because it is another product or the sandbox, or has no user name
 * and password.
 */
export async function stepTable(options: StepTableOptions): Promise<StepTable | undefined> {
  const { configuration, secrets, name, address, backend } = options;
  const entry = configuration.config.upstreams[name];
  const [operation] = configuration.contracts.operations.filter(({ operation }) => operation.upstream === name);
  if (entry?.product !== 'stalwart' || entry.credential?.kind !== 'basic' || operation === undefined) return undefined;
  if (!/^https?:/.test(address)) return undefined;
  const { secret } = entry.credential;
  const { user = entry.credential.user } = parseCredential(secrets.read(secret) ?? '', entry.credential)?.login ?? {};
  const facts = await stalwartFacts({ backend, origin: address, entry: operation, user });
  const { hosts, publicUrl } = configuration.config.gateway;
  const addressOf = addressOfSite(hosts, publicUrl);
  const sites = entry.tunnels.filter(({ paths }) => paths.includes('/jmap/*')).flatMap((tunnel) => tunnel.hosts);
  // The host name of JMAP comes first, because it must be written.
  const order = ['jmap', 'mail', 'api'] as const;
  const named = order.filter((site) => sites.includes(site) && (site === 'api' || hosts[site] !== undefined));
  const publicOrigins = [...new Set(named.map((site) => new URL(addressOf(site)).origin))];
  const rows = stepRows(facts, { entry, publicOrigins, user, secret });
  return { rows, requests: requestsOf(facts), hasLogin: facts.login.status === 200 || facts.login.status === 403 };
}

/** Returns the lines of the table. */
export function printedRows(rows: readonly StepRow[]): string[] {
  const width = Math.max(...rows.map(({ step }) => step.length));
  return rows.map(({ step, verdict, says, change }) =>
    [verdict.padEnd(14), step.padEnd(width), says, change && `Change: ${change}`].filter(Boolean).join('  '),
  );
}

/**
 * Checks that a mail server could reload its configuration, because a reload of a configuration with an error answers 200 and applies
 * nothing. Returns nothing for another product. Sends one request, which changes nothing.
 */
export async function reloadFindings(
  { product }: Pick<UpstreamEntry, 'product'>,
  name: string,
  options: Pick<FactsOptions, 'backend' | 'entry'>,
): Promise<Finding[]> {
  if (product !== 'stalwart') return [];
  const { verdict, says, change = '' } = reloadStep(await reloadReply(options));
  if (verdict === 'holds') return [ok(name, says)];
  const remedy = `Change: ${change.replace(/\.$/, '')}.`;
  return [verdict === 'does not hold' ? fail(name, says, remedy) : warn(name, says, remedy)];
}
