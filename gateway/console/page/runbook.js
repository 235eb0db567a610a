// A section of the pages for operators, in Markdown, as paragraphs, numbered steps, lists, commands to copy and links.

import { addressOf } from './addresses.js';
import { read } from './api.js';
import { attentionLine } from './attention.js';
import { commandLine, element, emptyCard, link, linkTo, place } from './elements.js';

/** The name of an alert, as words: `GatewayKeyStoreAway` is about a key store that is away, `GatewayDown` about the gateway. */
const inWords = (title) =>
  title.replace(/^Gateway(?=[A-Z].*[A-Z])/, '').replace(/(?<=^\w*[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** Lists all sections. The sections about a current cause come first. */
async function showIndex(attention) {
  const { sections } = await read('runbook');
  const isNeeded = (title) => attention.some(({ runbook }) => runbook === title);
  const rowOf = ({ title, begin }) =>
    element('li', {}, linkTo('runbook', title, inWords(title)), ': ', ...piecesIn(begin));
  const [needed, others] = [true, false].map((is) => sections.filter(({ title }) => isNeeded(title) === is));
  const listOf = (name, rows) =>
    rows.length === 0
      ? []
      : [element('h3', {}, name), element('div', { class: 'card prose' }, element('ul', {}, ...rows.map(rowOf)))];
  place('runbook').replaceChildren(
    element('h2', {}, 'Runbooks'),
    ...listOf('For what needs attention now', needed),
    ...listOf('All', others),
  );
}

/**
 * @param title of the section; empty: the index
 * @param attention what needs attention now: the causes that led here stand above the steps
 */
export async function showRunbook(title, attention) {
  if (title === '') return showIndex(attention);
  const found = await read(`runbook/${encodeURIComponent(title)}`);
  const box = place('runbook');
  if (found === undefined) return box.replaceChildren(emptyCard(`The pages for operators have no section ${title}.`));
  const name = inWords(found.title);
  const kind = name === found.title ? ['Runbook'] : ['Runbook of the alert ', element('code', {}, found.title)];
  box.replaceChildren(
    element('p', { class: 'soft' }, link(addressOf('runbook'), 'Runbooks'), ' / ', ...kind),
    element('h2', {}, name),
    ...causesIn(attention, found.title),
    element('div', { class: 'card prose' }, ...blocksIn(found.text)),
  );
}

function causesIn(attention, title) {
  const causes = attention
    .filter(({ runbook }) => runbook === title)
    .map((cause) => attentionLine({ ...cause, runbook: undefined }));
  return causes.length === 0 ? [] : [element('ul', { class: 'attention' }, ...causes)];
}

function blocksIn(text) {
  return text.split(/\n{2,}/).flatMap((block) => {
    const [, code] = /^```\w*\n(.*)\n```$/s.exec(block) ?? [];
    if (code !== undefined) return [commandLine(code)];
    if (!/^- /.test(block)) return [element('p', {}, ...piecesIn(block))];
    const items = block.split(/^- /m).filter((item) => item.trim() !== '');
    if (items.every((item) => STEP.test(item))) return stepsIn(items);
    return [
      element('ul', {}, ...items.map((item) => element('li', {}, ...piecesIn(item.trim()), ...commandsIn(item)))),
    ];
  });
}

/** Returns the steps of a section. Each sentence is a step. */
const STEP = /^(Look|Look closer|Do): (.*)$/s;

function stepsIn(items) {
  return items.flatMap((item) => {
    const [, what, text] = STEP.exec(item.trim());
    const steps = text.split(/(?<=[.?]) (?=[A-Z`[])/);
    const list = element(
      'ol',
      {},
      ...steps.map((step) => element('li', {}, ...piecesIn(capitalized(step)), ...commandsIn(step))),
    );
    return [element('h3', {}, what), list];
  });
}

const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Returns the complete commands within a text, each with a button that copies it. */
function commandsIn(text) {
  const codes = [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code);
  return codes
    .filter((code) => /^(bin\/gateway|redis-cli|curl|kubectl|docker) /.test(code) && !code.includes('…'))
    .map((line) => commandLine(line));
}

/** Returns the elements of a text with code in backquotes, bold text, and links. Links within the page lead to other sections. */
export function piecesIn(text) {
  return text
    .split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/)
    .filter((piece) => piece !== '')
    .map((piece) => {
      if (piece.startsWith('`')) return element('code', {}, piece.slice(1, -1));
      if (piece.startsWith('**')) return element('strong', {}, piece.slice(2, -2));
      const [, label, target] = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(piece) ?? [];
      if (label === undefined) return piece;
      return target.startsWith('#') ? linkTo('runbook', target.slice(1), inWords(label)) : label;
    });
}
