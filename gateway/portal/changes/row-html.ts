// Renders one change on the page "Changes": what happened, the value before and after, the advice, and the operations.

import { escapeHtml } from '../html.ts';
import type { AddressedContract, OperationAddress } from '../reference/addresses.ts';
import { REFUSED_AS } from './advice.ts';
import type { ChangesEntry } from './entries.ts';
import { type ChangeRow, changeRows } from './rows.ts';
import type { ChangedValue } from './words.ts';

/** Where the operations and webhooks of a contract are. */
type Addresses = Pick<AddressedContract, 'operations' | 'webhooks'>;

/** What the comparison writes before the name of a webhook. */
const WEBHOOK = 'webhook ';

/** Operations that are named; the others unfold. */
const OPERATIONS_MAX = 3;

/**
 * Whether only operators of the API may use what changed. A removed operation is treated as one for clients, because the contract no longer
 * says whose it was.
 */
export function isForOperators({ operations }: ChangeRow, all: readonly OperationAddress[]): boolean {
  return operations.every(({ id }) => all.find(({ operation }) => operation.id === id)?.isForOperators === true);
}

/** Whether clients need not read a publication at all. */
export function isAllForOperators({ contract, publication: { changes } }: ChangesEntry): boolean {
  if (changes.length === 0) return contract.clientOperations === 0;
  return changeRows(changes).every((row) => isForOperators(row, contract.operations));
}

export function rowHtml(row: ChangeRow, all: Addresses): string {
  const { mark, name, rest, values, advice, reasons } = row;
  const what = name === undefined ? capitalized(rest) : `<code>${escapeHtml(name)}</code> ${escapeHtml(rest)}`;
  const parts = [
    `<p class="change-what">${what}</p>`,
    values.length === 0 ? '' : `<dl class="change-values">${values.map(valueHtml).join('')}</dl>`,
    advice.length === 0
      ? ''
      : `<p class="change-do"><strong>What to do:</strong> ${advice.map(adviceHtml).join(' ')}</p>`,
    reasons.length === 0 ? '' : `<p class="quiet-text">Why: ${escapeHtml(reasons.join(' '))}</p>`,
    operationsHtml(row, all),
  ];
  const readers = isForOperators(row, all.operations) ? ' of-operators' : '';
  return `<li class="change-item${readers}"><span class="mark-of ${mark}">${mark}</span> <div>${parts.filter(Boolean).join('\n')}</div></li>`;
}

function capitalized(text: string): string {
  return escapeHtml(text.charAt(0).toUpperCase() + text.slice(1));
}

function valueHtml({ label, before, after, exact = [] }: ChangedValue): string {
  const told = `<del>${escapeHtml(before)}</del> <span aria-hidden="true">→</span> <ins>${escapeHtml(after)}</ins>`;
  return `<div><dt>${escapeHtml(label)}</dt><dd>${told}${exact.length === 0 ? '' : exactHtml(exact)}</dd></div>`;
}

/** Returns the exact texts of the contracts, folded. */
function exactHtml(exact: readonly string[]): string {
  const lines = exact.map((one, index) => {
    const name = exact.length === 1 ? '' : index === 0 ? 'Before: ' : 'Now: ';
    return `<p>${name}<code>${escapeHtml(one)}</code></p>`;
  });
  return `<details class="exact"><summary>As the contract has it</summary>${lines.join('')}</details>`;
}

function adviceHtml(sentence: string): string {
  const link = `<a href="/docs/errors/${REFUSED_AS}"><code>${REFUSED_AS}</code></a>`;
  return escapeHtml(sentence).replace(REFUSED_AS, link);
}

/** Returns the first operations of a row, and the others folded. */
function operationsHtml({ operations: changed }: ChangeRow, { operations, webhooks }: Addresses): string {
  const links = changed.map(({ id, at }) => {
    const found = at.startsWith(WEBHOOK)
      ? webhooks.find(({ title }) => title === at.slice(WEBHOOK.length))
      : operations.find(({ operation }) => operation.id === id);
    return found === undefined
      ? `<code>${escapeHtml(at)}</code>`
      : `<a href="${found.path}">${escapeHtml(found.title)}</a>`;
  });
  const more = links.slice(OPERATIONS_MAX);
  const first = links.slice(0, OPERATIONS_MAX).join(', ');
  if (more.length === 0) return `<p class="of">${first}</p>`;
  return `<p class="of">${first}</p><details class="detail further"><summary>and ${more.length} more operations</summary>${more.join(', ')}</details>`;
}
