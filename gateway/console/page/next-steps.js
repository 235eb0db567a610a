// The next steps after a refused or failed request: links to its operation and organization, the rule behind a limit, and actions.

import { actionButton } from './actions.js';
import { ALL, addressOf } from './addresses.js';
import { read } from './api.js';
import { element, link, linkTo } from './elements.js';
import { count, percent } from './format.js';

const KEY_CODES = /^(api_key|token|basic_credentials|key_mode)_/;

/** Fills a list with the steps. `next` has the steps of the story. */
export async function showNextSteps(list, record, next) {
  const { code, organization } = record;
  list.append(...stepsOf(record, next).map((step) => element('li', {}, ...step)));
  if (organization === undefined) return;
  const [found, feed] = await Promise.all([
    read(`organizations/${encodeURIComponent(organization)}`),
    read('feed', { range: '15m', organization, instance: ALL }),
  ]);
  const { total } = feed?.history?.subject ?? {};
  if (total?.requests > 0)
    list.append(
      element(
        'li',
        {},
        `${organization} in the last 15 minutes: ${shareOf(total.failed, total)} failed, ${shareOf(total.refused, total)} refused, of ${count(total.requests)} requests.`,
      ),
    );
  if (code === 'rate_limited' && found !== undefined) list.prepend(...limitSteps(found, record));
}

const shareOf = (number, { requests }) => `${count(number)} (${percent(number, requests)})`;

function stepsOf(
  { code, stage, organization, key_id: key, route, method, upstream, client, path },
  { cause, runbook, client: change },
) {
  const steps = cause === undefined ? [] : [[element('strong', {}, cause)]];
  if (change !== undefined) steps.push(['For the client: ', ...withCode(change)]);
  const operation = route === undefined ? undefined : `${method} ${route}`;
  if (stage === 'forward' && upstream !== undefined)
    steps.push([linkTo('upstreams', upstream, `Look at the upstream ${upstream}`), ': its targets and failures.']);
  if (operation !== undefined)
    steps.push([linkTo('operations', operation, `Look at ${operation}`), ': who else is affected, and since when.']);
  if (stage === 'match' && operation === undefined)
    steps.push([
      link(addressOf('routes', { find: path ?? '' }), 'Look at the routes'),
      ': whether the path is served.',
    ]);
  if (KEY_CODES.test(code) && key !== undefined && organization !== undefined)
    steps.push([linkTo('organizations', organization, `Look at the key ${key}`), ': its state, scopes and addresses.']);
  if (organization === undefined && client !== undefined)
    steps.push([link(addressOf('requests', { client }), `Look at what ${client} sends`), '.']);
  steps.push([linkTo('codes', code, `Look at ${code}`), ': what it means, and who else gets it.']);
  if (runbook !== undefined) steps.push([linkTo('runbook', runbook, '→ runbook'), ': what to do.']);
  return steps;
}

/** Returns the elements of a text. Words between backticks are code. */
const withCode = (text) => text.split('`').map((part, index) => (index % 2 === 1 ? element('code', {}, part) : part));

/** Returns the rules that refused the request, with their places, and the actions on the organization. */
function limitSteps({ id, tier, tiers, limits }, { violated_policies: violated }) {
  const rules = (limits ?? []).filter(({ policy }) => violated?.includes(policy) ?? true);
  const items = rules.map(({ policy, rule, rule_at: at, limit, window_seconds: seconds, used }) =>
    element(
      'li',
      {},
      `${policy}: ${count(used)} of ${count(limit)} in ${count(seconds)} s are used now; the rule is ${rule} at `,
      element('code', {}, at ?? 'limits.yaml'),
      '.',
    ),
  );
  const buttons = [
    ...(tiers.some((one) => one !== tier) ? actionButton('change-tier', id, { tiers, tier }) : []),
    ...actionButton('reset-limits', id),
  ];
  if (buttons.length > 0) items.push(element('li', { class: 'actions' }, ...buttons));
  return items;
}
