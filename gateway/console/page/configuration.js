// The configuration in force on one instance: what changed with the last reload, line by line, and the text of its files.

import { addressOf, instanceIn } from './addresses.js';
import { read } from './api.js';
import { element, emptyCard, link, place, refill, signed } from './elements.js';
import { ago, count, timeElement } from './format.js';
import { versionCell, versionsIn } from './instance-versions.js';
import { lastReload, mistakesOf } from './last-reload.js';

const LINE_KINDS = { '+': 'added', '-': 'removed', '@': 'place' };

/** The shown configuration: route, instance, version, and the start of that version. */
let shown;
let isReading = false;

export async function showConfiguration(route, feed) {
  const box = place('configuration-view');
  const found = await read('configuration', { instance: instanceIn(route) });
  shown = found && { route, ...found };
  if (found === undefined) {
    box.replaceChildren(emptyCard('This instance does not show its configuration.'));
    return;
  }
  const { version, since, before, changes, files, instance } = found;
  box.replaceChildren(
    element(
      'p',
      {},
      `Version ${version} has been in force since `,
      timeElement(since),
      ', ',
      element('span', { id: 'configuration-ago' }, ago(since)),
      '.',
      element('span', { id: 'configuration-of' }, ` Instance ${instance}.`),
    ),
    element('div', { id: 'configuration-now' }),
    ...chosenChange(route, found),
    element('h3', {}, before === null ? 'Changes' : `Changes from version ${before.version}`),
    ...(before === null ? [emptyCard('This process started with the version in force.')] : changes.map(changeOf)),
    element('h3', {}, `${count(files.length)} files`),
    ...files.filter(({ text }) => text !== null).map(fileOf),
    element(
      'details',
      { class: 'card' },
      element('summary', {}, 'Contracts and other files'),
      element(
        'ul',
        {},
        ...files.filter(({ text }) => text === null).map(({ file }) => element('li', {}, element('code', {}, file))),
      ),
    ),
  );
  if (feed !== undefined) showState(feed);
}

/** Returns the change that the address names, which a link of the audit log leads to; nothing if the view shows it anyway. */
function chosenChange({ params }, { latest = [] }) {
  const [version, at] = [params.get('version'), Date.parse(params.get('at') ?? '')];
  if (version === null || (latest[0]?.version === version && isAt(at, latest[0]))) return [];
  const found = latest.find((change) => change.version === version && isAt(at, change));
  if (found === undefined) {
    const text = `This process does not have the lines of the change to version ${version}: it started later, or made many changes since.`;
    return [emptyCard(text)];
  }
  const heading = element(
    'h3',
    {},
    `Change to version ${version}, `,
    timeElement(found.since),
    `, from ${found.before}`,
  );
  return [heading, ...found.changes.map(changeOf)];
}

/** The entry of the audit log is written within seconds of the change. A version may come in force several times. */
const isAt = (ms, { since }) => Number.isNaN(ms) || Math.abs(ms - Date.parse(since)) < 10_000;

/** Shows another version as soon as it is in force. Files that were open stay open. */
export async function renew(feed) {
  if (shown === undefined || isReading) return;
  showState(feed);
  const { status } = feed.statuses.find(({ instance }) => instance === shown.instance) ?? {};
  const { version } = status?.configuration ?? {};
  if (version === undefined || version === shown.version) return;
  isReading = true;
  const open = summariesOf('details[open]');
  await showConfiguration(shown.route, feed).catch(() => undefined);
  isReading = false;
  for (const one of document.querySelectorAll('#configuration-view details'))
    one.open = open.includes(one.firstElementChild.textContent);
}

const summariesOf = (which) =>
  [...document.querySelectorAll(`#configuration-view ${which}`)].map((one) => one.firstElementChild.textContent);

/** Shows a refused change, and the instances that have another version. The version in force shows neither. */
function showState(feed) {
  const box = place('configuration-now');
  if (box === null) return;
  place('configuration-ago').textContent = ago(shown.since);
  place('configuration-of').hidden = feed.instances.length < 2;
  const versions = versionsIn(feed);
  const next = element(
    'div',
    {},
    ...refusalsIn(feed),
    ...(versions.some(({ differs }) => differs) ? [differencesOf(versions)] : []),
  );
  refill(box, next);
}

/** Shows mistakes that several instances have found only once, because most instances read the same files. */
function refusalsIn({ statuses }) {
  const refused = statuses.flatMap(({ instance, status }) => {
    const failure = status?.configuration?.last_failure;
    return failure ? [{ instance, failure }] : [];
  });
  return [...Map.groupBy(refused, ({ failure }) => failure.mistakes.join('\n')).values()].map((same) => {
    const [{ failure }] = same;
    const where = statuses.length > 1 ? ` on ${same.map(({ instance }) => instance).join(' and ')}` : '';
    return element(
      'div',
      { class: 'card' },
      element('p', {}, `A later change${where}: `, lastReload(failure)),
      ...mistakesOf(failure),
    );
  });
}

function differencesOf(versions) {
  const items = versions.map((row) =>
    element(
      'li',
      {},
      link(addressOf('configuration', { instance: row.instance }), row.instance),
      ' ',
      versionCell(row),
    ),
  );
  return element(
    'div',
    { class: 'card' },
    element('p', {}, signed('warn', 'The instances have different configurations in force.')),
    element('ul', {}, ...items),
  );
}

function changeOf({ file, kind, lines }) {
  const name = element('p', {}, element('code', {}, file), kind === 'changed' ? '' : ` was ${kind}`);
  if (lines === null)
    return element(
      'div',
      { class: 'card change' },
      name,
      element('p', { class: 'soft' }, 'It is too large, or differs too much, to show line by line.'),
    );
  const parts = lines.map((line) =>
    element('span', { class: `line ${LINE_KINDS[line[0]] ?? ''}`.trim() }, `${line}\n`),
  );
  return element('div', { class: 'card change' }, name, element('pre', { tabindex: '0' }, ...parts));
}

function fileOf({ file, text }) {
  return element(
    'details',
    { class: 'card file' },
    element('summary', {}, file),
    element('pre', { tabindex: '0' }, text),
  );
}
