// A section of the pages for operators, in Markdown, as paragraphs, lists, code and links.

import { read } from './api.js';
import { element, link, place } from './elements.js';
import { addressOf } from './routes.js';

export async function showRunbook(title) {
  const found = await read(`runbook/${encodeURIComponent(title)}`);
  const box = place('runbook');
  if (found === undefined)
    return box.replaceChildren(
      element('p', { class: 'card empty' }, `The pages for operators have no section ${title} here.`),
    );
  box.replaceChildren(
    element('p', { class: 'soft' }, 'Runbook'),
    element('h2', {}, found.title),
    element('div', { class: 'card prose' }, ...blocksIn(found.text)),
  );
}

function blocksIn(text) {
  return text.split(/\n{2,}/).map((block) => {
    const [, code] = /^```\w*\n(.*)\n```$/s.exec(block) ?? [];
    if (code !== undefined) return element('pre', { tabindex: '0' }, code);
    if (!/^- /.test(block)) return element('p', {}, ...piecesIn(block));
    const items = block.split(/^- /m).filter((item) => item.trim() !== '');
    return element('ul', {}, ...items.map((item) => element('li', {}, ...piecesIn(item.trim()))));
  });
}

/** Code in backquotes, bold text, and links: those within the page lead to other sections. */
export function piecesIn(text) {
  return text
    .split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/)
    .filter((piece) => piece !== '')
    .map((piece) => {
      if (piece.startsWith('`')) return element('code', {}, piece.slice(1, -1));
      if (piece.startsWith('**')) return element('strong', {}, piece.slice(2, -2));
      const [, label, target] = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(piece) ?? [];
      if (label === undefined) return piece;
      return target.startsWith('#') ? link(addressOf('runbook', {}, target.slice(1)), label) : label;
    });
}
