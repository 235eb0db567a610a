// Makes the table of docs/mail.md, which says for each step whether it holds at a mail server, with the line to change. Pure.

import { allowanceOf } from '../../../auth/address-ranges.ts';
import type { UpstreamEntry } from '../../../config/upstreams/upstreams-file.ts';
import { isRecord } from '../../../shared/is-record.ts';
import { at, type Reply, type StalwartFacts, setting, settingNames } from './facts.ts';

type StepVerdict = 'holds' | 'does not hold' | 'cannot be seen';

export interface StepRow {
  readonly step: string;
  readonly verdict: StepVerdict;
  /** One sentence, or two. */
  readonly says: string;
  /** The setting to write, and its place; undefined if the step is done. */
  readonly change?: string;
}

export interface ExpectedSteps {
  readonly entry: Pick<UpstreamEntry, 'tunnels' | 'maxInFlight'>;
  /** The addresses at which clients reach the tunnels. */
  readonly publicOrigins: readonly string[];
  /** The user name of the gateway, and its entry of the secrets. */
  readonly user: string;
  readonly secret: string;
}

type Row = (facts: StalwartFacts, expected: ExpectedSteps) => Omit<StepRow, 'step'>;

const DAY_SECONDS = 86_400;
/** The defaults of release 0.15. */
const FAILURES_MAX = 100;
const IN_FLIGHT_MAX = 4;

/** Returns the rows, in the order of the steps. */
export function stepRows(facts: StalwartFacts, expected: ExpectedSteps): StepRow[] {
  const rows: readonly (readonly [string, Row])[] = [
    ['login', login],
    ['version', version],
    ['permissions', permissions],
    ['allow list', allowList],
    ['failed logins', failedLogins],
    ['forwarded addresses', forwardedAddresses],
    ['http.url', publicUrl],
    ['jwks', keySet],
    ['limits', limits],
    ['reload', reload],
  ];
  return rows.map(([step, row]) => ({ step, ...row(facts, expected) }));
}

const holds = (says: string) => ({ verdict: 'holds', says }) as const;
const failing = (says: string, change: string) => ({ verdict: 'does not hold', says, change }) as const;
const unseen = (says: string, change: string) => ({ verdict: 'cannot be seen', says, change }) as const;

const login: Row = ({ login: { status, value, problem }, localAddress = '<address>' }, { user, secret }) => {
  if (problem !== undefined) {
    const ban = `DELETE /api/settings/server.blocked-ip.${localAddress}, then GET /api/reload/server.blocked-ip`;
    const says = `There is no answer (${problem}). A mail server that has banned this address drops its connections.`;
    return failing(says, `The address under live. If this machine is banned, on that of the mail server: ${ban}`);
  }
  if (status === 200 && isRecord(at(value, 'data'))) return holds(`The mail server takes the login of "${user}".`);
  const change = `SECRETS_DIR/${secret}: ${user}:<password>`;
  if (status === 401)
    return failing('The login is refused (401). This was one failed login of a hundred a day.', change);
  if (status === 402) return failing(`"${user}" has a second factor (402).`, 'An account without a second factor.');
  if (status === 403 && at(value, 'detail') === 'Forbidden')
    return failing(
      'The mail server has banned the address of this machine (403).',
      `server.blocked-ip.${localAddress}`,
    );
  if (status === 403) return holds(`The mail server takes the login of "${user}"; a permission is lacking.`);
  return failing(
    `The administration answers ${status}.`,
    'The address under live: it has to be that of the mail server.',
  );
};

const version: Row = ({ login: { status, value, problem }, settings }) => {
  if (problem !== undefined) return unseen('There is no answer.', 'Mend the login first.');
  if (status === 404)
    return failing(
      'There is no /api/principal: this is release 0.16 or later.',
      'A mail server of release 0.12 to 0.15.',
    );
  const hasOldNames = settingNames(settings).some((name) => name.startsWith('server.http.'));
  if (hasOldNames) return failing('Its settings have the names of a release before 0.12.', 'Release 0.12 to 0.15.');
  if (status === 200 || [401, 402, 403].includes(status))
    return holds('It answers as releases 0.12 to 0.15 do. It does not say which of them it is.');
  return unseen(
    `The administration answers ${status} (${String(at(value, 'title') ?? 'no title')}).`,
    'Mend the login.',
  );
};

const permissions: Row = ({ everyType, account, login }, { user }) => {
  if (everyType === undefined) return withoutLogin(login);
  const role = `PATCH /api/principal/${user}: [{"action":"addItem","field":"roles","value":"admin"}]`;
  if (everyType.status === 403) return failing(`"${user}" may not list every type of principal.`, role);
  if (everyType.status !== 200) return unseen(`A list of all types is answered with ${everyType.status}.`, role);
  if (at(account?.value, 'error') === 'notFound')
    return holds(`"${user}" is the fallback administrator, who may do all.`);
  const roles = at(account?.value, 'data', 'roles');
  if (Array.isArray(roles) && roles.includes('admin')) return holds(`"${user}" has the role admin.`);
  return unseen(`"${user}" may list every type; whether it may write is seen with --writes.`, role);
};

const allowList = ({ localAddress, settings, login }: StalwartFacts): Omit<StepRow, 'step'> => {
  if (localAddress === undefined) return unseen('There is no connection.', 'Mend the login first.');
  const at_ = `This machine reaches it from ${localAddress}`;
  if (isLoopback(localAddress)) return holds(`${at_}, which is always listed. Run this where the gateway runs.`);
  const change = `POST /api/settings: [{"type":"insert","prefix":null,"values":[["server.allowed-ip.${localAddress}",""]],"assert_empty":false}], then GET /api/reload`;
  if (settings === undefined) return withoutLogin(login);
  const names = settingNames(settings);
  if (settings.status !== 200) return { ...unreadable(settings), change };
  if (names.includes(`server.blocked-ip.${localAddress}`))
    return failing(`${at_}, which is banned.`, `${change}; and DELETE /api/settings/server.blocked-ip.${localAddress}`);
  const listed = names.flatMap((name) => /^server\.allowed-ip\.(.+)$/.exec(name)?.[1] ?? []);
  if (allowanceOf(listed)?.(localAddress) === true)
    return holds(`${at_}, which is listed. A proxy in between has to be listed too.`);
  return failing(`${at_}, which is not listed: failed logins ban it.`, change);
};

const failedLogins: Row = (facts, { entry }) => {
  const counters = new Map<string, number | undefined>();
  for (const [index, { logins, limits: of }] of entry.tunnels.entries()) {
    if (logins.paths.length === 0) continue;
    // A window begins with its first failure, so a day may touch one window more than fit into it.
    const windows = Math.ceil(DAY_SECONDS / of.failuresWindowSeconds) + 1;
    counters.set(logins.countedAs ?? `tunnel ${index}`, of.failuresTotal && of.failuresTotal * windows);
  }
  const isExempt = allowList(facts).verdict === 'holds';
  const isBounded = ![...counters.values()].includes(undefined);
  if (isExempt) {
    const rest = isBounded && counters.size > 0 ? ' limits.failuresTotal of the tunnels can be removed.' : '';
    return holds(`Failed logins do not ban the gateway: its address is listed.${rest}`);
  }
  const rate = Number.parseInt(String(setting(facts.settings, 'server.auto-ban.auth.rate') ?? FAILURES_MAX), 10);
  const most = [...counters.values()].reduce<number>((sum, of) => sum + (of ?? 0), 0);
  const change = 'upstreams.yaml: limits.failuresTotal of the tunnels, as shipped; or the allow list';
  if (!isBounded) return failing('A tunnel has no limits.failuresTotal, so failed logins ban the gateway.', change);
  if (most < rate)
    return holds(`At most ${most} failed logins a day reach it, those in flight included, and ${rate} ban an address.`);
  return failing(`${most} failed logins a day may reach it, and ${rate} ban an address.`, change);
};

const forwardedAddresses: Row = ({ settings, login }) => {
  const change = 'http.use-x-forwarded = true';
  if (settings === undefined) return withoutLogin(login);
  if (settings.status !== 200) return { ...unreadable(settings), change };
  if (setting(settings, 'http.use-x-forwarded') === 'true')
    return holds('It counts failures by the address of the client. Only the gateway may reach this port.');
  return failing('It counts the failures of all clients for the address of the gateway.', change);
};

const publicUrl: Row = ({ session: { status, value, problem } }, { publicOrigins }) => {
  const [wanted = ''] = publicOrigins;
  const change = `http.url = "'${wanted}'"`;
  const apiUrl = at(value, 'apiUrl');
  if (problem !== undefined || status !== 200 || typeof apiUrl !== 'string' || !URL.canParse(apiUrl))
    return unseen(`There is no session document (${problem ?? `/jmap/session answers ${status}`}).`, change);
  const { origin } = new URL(apiUrl);
  if (publicOrigins.includes(origin)) return holds(`The session document names ${origin}.`);
  return failing(
    `The session document names ${origin}, and clients reach it at ${publicOrigins.join(' or ')}.`,
    change,
  );
};

const keySet: Row = ({ keySet: { status, value, problem } }, { entry }) => {
  const isHidden = entry.tunnels.every(
    ({ except, paths }) => except.includes('/auth/jwks.json') || !leadsToKeys(paths),
  );
  const keys = at(value, 'keys');
  const es256 = 'oauth.oidc.signature-algorithm = "es256", with a key under oauth.oidc.signature-key';
  if (problem !== undefined || (status === 200 && !Array.isArray(keys)))
    return unseen(`There is no key set (${problem ?? 'no JSON'}).`, es256);
  const isSymmetric = Array.isArray(keys) && keys.some((key) => at(key, 'kty') === 'oct');
  if (isSymmetric && isHidden)
    return holds(
      'It publishes the key that signs its tokens (kty: oct), and the gateway answers 404. Configure ES256.',
    );
  if (isSymmetric)
    return failing(
      'It publishes the key that signs its tokens (kty: oct): clients can forge them.',
      `${es256}; until then /auth/jwks.json under except of the tunnel`,
    );
  const rest = isHidden ? ' /auth/jwks.json can be removed from except of the tunnels.' : '';
  return holds(`It publishes no symmetric key.${rest}`);
};

const limits: Row = ({ session, settings }, { entry }) => {
  const core = at(session.value, 'capabilities', 'urn:ietf:params:jmap:core', 'maxConcurrentRequests');
  const own = setting(settings, 'jmap.protocol.request.max-concurrent') ?? core;
  const known = Number(own ?? IN_FLIGHT_MAX);
  const { maxInFlight } = entry;
  const change = `upstreams.yaml: maxInFlight: ${known}`;
  if (own === undefined) return unseen(`It does not show how many requests of an account it takes at once.`, change);
  if (maxInFlight === undefined || maxInFlight > known)
    return failing(`It takes ${known} requests of an account at once, and the gateway may send more.`, change);
  const rate = setting(settings, 'http.rate-limit.account') ?? '1000/1m';
  return holds(
    `It takes ${known} requests of an account at once (role admin: more) and ${rate}; maxInFlight is ${maxInFlight}.`,
  );
};

const reload: Row = ({ reload: found, login }) => {
  return found === undefined ? withoutLogin(login) : reloadStep(found);
};

/** Whether a reload of the mail server would apply changes. */
export function reloadStep(found: Reply): Omit<StepRow, 'step'> {
  if (found.status !== 200) return { ...unreadable(found), change: 'The permission settings-reload.' };
  const errors = at(found.value, 'data', 'errors');
  const names = isRecord(errors) ? Object.keys(errors) : [];
  if (names.length === 0) return holds('Its configuration has no errors, so a reload applies changes.');
  const more = names.length > 1 ? ` and ${names.length - 1} more` : '';
  return failing(
    `Its configuration has errors (${names[0]}${more}): a reload answers 200 and applies nothing.`,
    `${names[0]}, in its settings`,
  );
}

function withoutLogin({ status }: Reply): Omit<StepRow, 'step'> {
  return unseen(`Without a login it is not asked${status === 0 ? '' : ` (${status})`}.`, 'Mend the login first.');
}

function unreadable({ status, problem }: Reply) {
  const reason = status === 403 ? 'the account lacks the permission' : (problem ?? `it answers ${status}`);
  return { verdict: 'cannot be seen', says: `The settings cannot be read: ${reason}.` } as const;
}

/** Whether a tunnel with these paths leads to the key set. */
function leadsToKeys(paths: readonly string[]): boolean {
  return paths.some((path) => ['/*', '/auth/*', '/auth/jwks.json'].includes(path));
}

function isLoopback(address: string): boolean {
  return address === '127.0.0.1' || address === '::1';
}
