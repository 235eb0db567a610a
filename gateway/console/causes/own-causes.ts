// Finds causes in the gateway itself from the status of its files, certificates, workers, load, issuers and alert receivers. Pure.

import { missingTierText } from '../../shared/missing-tier.ts';
import { type FoundCause, failureCause, type StatusForCauses, warningCause } from './cause.ts';
import { workerCauses } from './worker-causes.ts';

type MissingTier = NonNullable<StatusForCauses['missing_tiers']>[number];

/** The number of failures of an order from which on they are a warning, as for the alert GatewayCertificateOrderFails. */
const FAILURES_WARNED = 3;

export function ownCauses(status: StatusForCauses): FoundCause[] {
  return [
    ...lifecycleCauses(status),
    ...configurationCauses(status),
    ...(status.missing_tiers ?? []).map(missingTierCause),
    ...issuerCauses(status),
    ...overloadCauses(status),
    ...(status.workers ?? []).flatMap(workerCauses),
    ...(status.certificates ?? []).flatMap(certificateCauses),
    ...receiverCauses(status),
  ];
}

const LIFECYCLES: Readonly<Record<string, string>> = {
  starting: 'It is not ready yet: /readyz answers 503.',
  ending:
    'It was told to end. /readyz answers 503, so that balancers send it nothing more; until timeouts.drainDelayMs is over, it still answers what comes.',
  draining:
    'It was told to end. It takes no new connections, finishes the requests in progress within timeouts.drainMs, and then ends.',
};

function lifecycleCauses({ lifecycle }: StatusForCauses): FoundCause[] {
  if (lifecycle === undefined || lifecycle === 'serving') return [];
  return [warningCause({ topic: 'lifecycle' }, `The gateway is ${lifecycle}.`, LIFECYCLES[lifecycle] ?? '')];
}

function configurationCauses({ configuration }: StatusForCauses): FoundCause[] {
  const failure = configuration?.last_failure;
  if (!failure) return [];
  const [first = '', ...others] = failure.mistakes;
  const more = others.length > 0 ? `, and ${others.length} more` : '';
  const which = `${firstSentence(first)}${more}.${suggestionIn(first)}`;
  const links = { since: failure.at, runbook: 'GatewayConfigurationRefused', details: '#/system' };
  const stays = 'The previous configuration stays in force';
  return [
    failure.needs_restart === true
      ? warningCause(
          { topic: 'configuration', detail: 'restart' },
          `The configuration files wait for a restart: ${which}`,
          `${stays}, also for their other changes.`,
          links,
        )
      : failureCause(
          { topic: 'configuration' },
          `The configuration files have mistakes: ${which}`,
          `${stays}; the next start fails.`,
          links,
        ),
  ];
}

function missingTierCause({ tier, organizations, in_place: inPlace }: MissingTier): FoundCause {
  const text = missingTierText(tier, inPlace);
  const consequence = `${organizations === 1 ? '1 organization is' : `${organizations} organizations are`} on it.`;
  return warningCause({ topic: 'tier', name: tier }, `${text[0]?.toUpperCase()}${text.slice(1)}.`, consequence, {
    details: '#/organizations',
  });
}

/** Returns the first sentence, with the file name in place of the path. The details contain the whole text. */
function firstSentence(mistake: string): string {
  const [first = ''] = mistake.split(/\.(?:\s|$)/);
  return first.replace(/^\S*\//, '');
}

/** Returns the remedy of a mistake, if it is the name that was probably meant. */
function suggestionIn(mistake: string): string {
  const [suggestion] = /Did you mean "[^"]*"\?/.exec(mistake) ?? [];
  return suggestion === undefined ? '' : ` ${suggestion}`;
}

function issuerCauses({ issuers = {} }: StatusForCauses): FoundCause[] {
  return Object.entries(issuers).flatMap(([name, { failure, read_at: since }]) =>
    failure === undefined
      ? []
      : [
          warningCause(
            { topic: 'issuer', name },
            `The keys of the issuer ${name} cannot be read: ${failure}.`,
            'Tokens are checked with the keys that were read last.',
            { since, details: '#/system' },
          ),
        ],
  );
}

function overloadCauses({ overload }: StatusForCauses): FoundCause[] {
  if (overload?.loop_overloaded)
    return [
      failureCause(
        { topic: 'loop' },
        'The event loop is overloaded.',
        'Requests of unknown callers get 503 gateway_overloaded.',
        {
          runbook: 'GatewayEventLoopLate',
          details: '#/requests?code=gateway_overloaded',
        },
      ),
    ];
  if (!overload?.shedding) return [];
  return [
    failureCause(
      { topic: 'shedding' },
      'The gateway is overloaded.',
      'A part of the requests gets 503 gateway_overloaded.',
      {
        runbook: 'GatewayShedding',
        details: '#/requests?code=gateway_overloaded',
      },
    ),
  ];
}

function certificateCauses({
  names = [],
  file,
  state,
  days_left: days,
  expires_at: until,
  last_failure: failure,
}: NonNullable<StatusForCauses['certificates']>[number]): FoundCause[] {
  const name = names[0] ?? '?';
  const about = { topic: 'certificate', name } as const;
  const more = { until: until ?? undefined, details: '#/system' };
  const at = until ? `, at ${until}` : '';
  const why = failure ? ` ${failure.reason}` : '';
  // The gateway renews no files.
  const renew = file === undefined ? '' : ` Write the renewed one to ${file}.`;
  if (state === 'missing') {
    const consequence = `Clients cannot connect.${why}`;
    const runbook = 'GatewayCertificateMissing';
    return [failureCause(about, `There is no certificate for ${name} yet.`, consequence, { ...more, runbook })];
  }
  const runbook = 'GatewayCertificateExpires';
  const consequence = 'Clients refuse the connection.';
  if (state === 'expired')
    return [
      failureCause(about, `The certificate for ${name} has expired${at}.`, `${consequence}${why}${renew}`, {
        ...more,
        runbook,
      }),
    ];
  if (state === 'expiring') {
    const left = !days ? 'within a day' : days === 1 ? 'in one day' : `in ${days} days`;
    const then = `Clients then refuse the connection.${why}${renew}`;
    return [warningCause(about, `The certificate for ${name} expires ${left}${at}.`, then, { ...more, runbook })];
  }
  if (file !== undefined && failure) {
    const stays = `The former one stays in use: ${failure.reason}`;
    const refused = { ...more, since: failure.at, runbook: 'GatewayCertificateRefused' };
    return [warningCause(about, `The new certificate for ${name} in ${file} cannot be used.`, stays, refused)];
  }
  if ((failure?.failures ?? 0) < FAILURES_WARNED) return [];
  const orderFails = { ...more, runbook: 'GatewayCertificateOrderFails' };
  return [warningCause(about, `The certificate for ${name} is not renewed.`, failure?.reason ?? '', orderFails)];
}

/** Returns a cause for each failing receiver, so that the other receivers get a message about it. */
function receiverCauses({ alerts }: StatusForCauses): FoundCause[] {
  return Object.entries(alerts?.receivers ?? {}).flatMap(([name, { state, reason, failing_since: since }]) =>
    state !== 'failing'
      ? []
      : [
          warningCause(
            { topic: 'receiver', name },
            `Alerts do not reach the receiver ${name}: ${reason}.`,
            'They are sent again until they do.',
            { since: since ?? undefined, details: '#/alerts' },
          ),
        ],
  );
}
