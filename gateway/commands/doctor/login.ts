// Tries the credential of each upstream with one request that needs it and only reads. A refused credential is a failed login at the
// upstream. A mail server that accepts the login is also asked whether it could reload its configuration, because a configuration with an
// error is not applied.

import type { Secrets } from '../../config/secrets.ts';
import type { Configuration } from '../../configuration.ts';
import { isServerOfEntry } from '../../shared/contracts/upstreams.ts';
import {
  type CredentialHeader,
  credentialProblem,
  parseCredential,
} from '../../upstream/credentials/credential-kinds.ts';
import type { CredentialSettings } from '../../upstream/settings.ts';
import { isSimulated } from '../../upstream/targets/addresses.ts';
import { type Finding, fail, type NamedCheck, ok, warn } from '../finding.ts';
import {
  type Backend,
  type BackendAnswer,
  type BackendRequest,
  createBackend,
  statusOf,
} from '../upstreams/backend.ts';
import { isRefused } from '../upstreams/exercise.ts';
import { trialCaller } from '../upstreams/open.ts';
import { requestsFor } from '../upstreams/plan.ts';
import { reloadFindings } from '../upstreams/stalwart/table.ts';
import { tlsOf } from './upstreams.ts';

/** The deadline of the answer. It is shorter than the deadline of the whole check, whose finding would not name the login. */
const ANSWER_MAX_MS = 2500;

const NOT_TRIED =
  'The login was not tried: no operation needs it that only reads and takes no id. Public operations and the health check succeed without it.';

/** Returns a check for each real service with a credential, at its first address. */
export function loginChecks(configuration: Configuration, secrets: Pick<Secrets, 'read'>): NamedCheck[] {
  return Object.entries(configuration.config.upstreams).flatMap(([upstream, entry]) => {
    const { credential } = entry;
    if (credential === undefined || isSimulated(entry) || isServerOfEntry(upstream)) return [];
    const name = `login ${upstream}`;
    return [[name, () => tryLogin(configuration, secrets, { name, upstream, credential })]];
  });
}

interface Login {
  readonly name: string;
  readonly upstream: string;
  readonly credential: CredentialSettings;
}

async function tryLogin(
  configuration: Configuration,
  secrets: Pick<Secrets, 'read'>,
  { name, upstream, credential }: Login,
): Promise<Finding[]> {
  const text = secrets.read(credential.secret)?.replace(/\r?\n$/, '');
  // Another check reports a missing credential.
  if (text === undefined) return [];
  const parsed = parseCredential(text, credential);
  if (parsed === undefined) {
    const problem = credentialProblem(text, credential);
    return [fail(name, `The secrets entry "${credential.secret}" cannot be used: ${problem}`, 'Correct it.')];
  }
  const asked = provingRequestOf(configuration, upstream);
  if (asked === undefined)
    return [warn(name, NOT_TRIED, 'Call an operation that needs it, and see "bin/gateway status".')];
  const backend = backendOf(configuration, secrets, upstream, parsed.header);
  try {
    const login = findingOf(name, credential, await backend.send(asked));
    const { [upstream]: entry } = configuration.config.upstreams;
    if (login.verdict !== 'ok' || entry === undefined) return [login];
    return [login, ...(await reloadFindings(entry, `reload ${upstream}`, { backend, entry: asked.entry }))];
  } finally {
    backend.close();
  }
}

/** Returns a request that changes nothing, needs no id, and is accepted only with the credential. */
function provingRequestOf({ contracts }: Configuration, upstream: string): BackendRequest | undefined {
  const { operations, schemas } = contracts;
  const reading = operations.filter(({ operation }) => operation.upstream === upstream && operation.method === 'GET');
  const listing = reading.filter(({ operation }) => operation.provesCredential && !operation.path.includes('{'));
  for (const entry of listing) {
    const [asked] = requestsFor(entry, schemas, new Map());
    if (asked !== undefined) return asked;
  }
  return undefined;
}

function backendOf(
  configuration: Configuration,
  secrets: Pick<Secrets, 'read'>,
  upstream: string,
  header: CredentialHeader,
): Backend {
  const entry = configuration.config.upstreams[upstream] as Configuration['config']['upstreams'][string];
  const [origin = ''] = entry.live;
  return createBackend({
    origin,
    entry: { ...entry, timeoutMs: Math.min(entry.timeoutMs, ANSWER_MAX_MS) },
    tls: tlsOf(configuration, upstream, secrets),
    caller: trialCaller(configuration, 'live', 'org_doctor'),
    scheme: 'https',
    assertion: () => undefined,
    credential: () => header,
  });
}

function findingOf(name: string, { secret }: CredentialSettings, answered: BackendAnswer): Finding {
  const { asked, status, problem } = answered;
  const what = `One request, GET ${asked.entry.operation.path},`;
  if (problem !== undefined)
    return warn(name, `${what} got no answer (${problem}), so the login was not tried.`, 'See why there is no answer.');
  if (isRefused(answered)) {
    const counts = status === 401 ? ' This was a failed login, which the service may count.' : '';
    const says = `${what} was refused with ${status}: the credential does not log in, or lacks a permission.${counts}`;
    return fail(name, says, `Correct the secrets entry "${secret}", or the account at the service.`);
  }
  if (statusOf(answered) < 400) return ok(name, `${what} was answered with ${status}: the login works.`);
  return warn(name, `${what} was answered with ${status}, which does not show that the login works.`, 'See why.');
}
