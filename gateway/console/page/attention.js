// Pure: sentences about everything that needs an operator's attention.

const SOON_DAYS = 14;
const AWAY = ['failing', 'away'];

/** Failures come before warnings. */
export function attentionOf({ status, versions, organizations, history }) {
  if (status === null) return [bad('No worker reports its state.')];
  const found = [
    ...ofConfiguration(status.configuration),
    ...ofStores(status),
    ...Object.entries(status.upstreams ?? {}).flatMap(ofUpstream),
    ...ofOverload(status.overload),
    ...ofWorkers(status.workers ?? []),
    ...(status.certificates ?? []).flatMap(ofCertificate),
    ...ofOrganizations(organizations),
    ...ofErrors(history),
    ...(versions?.operations ?? []).flatMap(ofVersion),
  ];
  if (status.lifecycle !== undefined && status.lifecycle !== 'serving')
    found.unshift(warn(`The gateway is ${status.lifecycle}: it will soon accept no new requests.`));
  return [...found.filter(({ kind }) => kind === 'bad'), ...found.filter(({ kind }) => kind !== 'bad')];
}

const bad = (text) => ({ kind: 'bad', text });
const warn = (text) => ({ kind: 'warn', text });

function ofConfiguration(configuration) {
  const failure = configuration?.last_failure;
  if (!failure) return [];
  const [first, ...others] = failure.mistakes;
  const more = others.length > 0 ? ` And ${others.length} more, listed under Configuration.` : '';
  return [bad(`The files of the configuration have mistakes; the previous one stays active. ${first ?? ''}${more}`)];
}

function ofStores(status) {
  const stores = {
    'The key store': status.keys?.store,
    'The store of the limits': status.limits?.state,
    'The store of idempotent answers': status.idempotency?.state,
    'The store of deprecated uses': status.deprecated_uses?.state,
  };
  return Object.entries(stores).flatMap(([name, state]) =>
    AWAY.includes(state) ? [bad(`${name} cannot be reached.`)] : [],
  );
}

function ofUpstream([name, { targets = [], breaker = {}, credential, shedding }]) {
  const out = targets.filter(({ state }) => state === 'ejected' || state === 'unhealthy');
  const found = out.map(({ address, state, mode }) =>
    (out.length === targets.filter((target) => target.mode === mode).length ? bad : warn)(
      `Upstream ${name}: target ${address} (${mode}) is ${state === 'ejected' ? 'ejected, because requests to it failed' : 'unhealthy by its health checks'}.`,
    ),
  );
  for (const { address, state, mode, last_error: error } of targets) {
    if (state === 'trial')
      found.push(warn(`Upstream ${name}: target ${address} (${mode}) failed and is being tried again.`));
    if (state === 'failing')
      found.push(bad(`Upstream ${name}: target ${address} (${mode}) is failing${error ? `: ${error}` : ''}.`));
  }
  for (const [mode, state] of Object.entries(breaker)) {
    if (state === 'open')
      found.push(bad(`Upstream ${name} (${mode}): the circuit breaker is open, requests are refused.`));
    if (state === 'half_open') found.push(warn(`Upstream ${name} (${mode}): the circuit breaker is half open.`));
  }
  if (credential === 'latched')
    found.push(
      bad(`Upstream ${name} refused the gateway's credential: nothing is sent to it until the secret changes.`),
    );
  if (shedding === true) found.push(bad(`Upstream ${name}: it is overloaded, and requests are refused.`));
  return found;
}

function ofOverload(overload) {
  if (overload?.loop_overloaded) return [bad('The event loop is overloaded, and requests are refused.')];
  return overload?.shedding ? [bad('The gateway is overloaded, and requests are refused.')] : [];
}

function ofWorkers(workers) {
  const missing = workers.filter(({ state }) => state === 'waiting' || state === 'silent');
  return missing.map(({ worker, state }) =>
    bad(
      state === 'waiting' ? `Worker ${worker} died and waits for its next start.` : `Worker ${worker} does not answer.`,
    ),
  );
}

function ofCertificate({ names = [], days_left: days }) {
  if (days === undefined || days >= SOON_DAYS) return [];
  const name = names[0] ?? '?';
  if (days < 0) return [bad(`The certificate for ${name} has expired.`)];
  return [warn(`The certificate for ${name} expires in ${days === 1 ? 'one day' : `${days} days`}.`)];
}

function ofOrganizations(organizations) {
  const refused = new Set(organizations.filter((one) => one.refused > 0).map(({ organization }) => organization));
  if (refused.size === 0) return [];
  const who = refused.size === 1 ? `Organization ${[...refused][0]} was` : `${refused.size} organizations were`;
  return [warn(`${who} refused for a limit in the last 15 minutes.`)];
}

/** Warns from three errors on that are at least one percent of the requests. */
function ofErrors({ all }) {
  const { requests, server_errors: errors } = all.minute;
  if (errors < 3 || errors * 100 < requests) return [];
  return [
    bad(`${((100 * errors) / requests).toFixed(0)} % of the requests in the last minute were answered with 5xx.`),
  ];
}

function ofVersion({ operation, state, calls, organizations }) {
  if (calls === 0) return [];
  const who = organizations === 1 ? 'one organization' : `${organizations} organizations`;
  return [warn(`${operation} is ${state} and still called, by ${who}.`)];
}
