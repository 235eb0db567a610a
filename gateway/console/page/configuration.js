// The configuration in force: what changed with the last reload, line by line, and the text of its files.

import { read } from './api.js';
import { element, place } from './elements.js';
import { ago, count, timeElement } from './format.js';

const kinds = { '+': 'added', '-': 'removed', '@': 'place' };

export async function showConfiguration() {
  const found = await read('configuration');
  if (found === undefined) return;
  const { version, since, before, changes, files } = found;
  place('configuration-view').replaceChildren(
    element('p', {}, `Version ${version} is in force since `, timeElement(since), `, ${ago(since)}.`),
    element('h3', {}, before === null ? 'Changes' : `What it changed of version ${before.version}`),
    ...(before === null
      ? [element('p', { class: 'card empty' }, 'It has not changed since this process started.')]
      : changes.map(changeOf)),
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
  const parts = lines.map((line) => element('span', { class: `line ${kinds[line[0]] ?? ''}`.trim() }, `${line}\n`));
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
